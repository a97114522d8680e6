// How far PTX's approximate functions are from the exact ones: each kernel
// sweeps the bit patterns of its type, leaves out those outside [low, high],
// and keeps the greatest absolute error, relative error and error in units in
// the last place of the result. The references are in double.
#include <cstdint>
#include <cuda_fp16.h>

struct Errors {
  double absolute;
  double relative;
  double ulp;
};

struct Sweep {
  double low;
  double high;
  uint64_t first;  // of the bit patterns
  uint64_t stride;
  uint64_t count;
  Errors* errors;
};

// The maximum of non-negative doubles: their bits are ordered as they are.
__device__ void KeepMaximum(double* place, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(place),
            static_cast<unsigned long long>(__double_as_longlong(value)));
}

// 2^exponent, for exponents of normal doubles.
__device__ double Power(int exponent) {
  return __longlong_as_double(static_cast<long long>(exponent + 1023) << 52);
}

// `digits`: of the fraction; `least`: the exponent of the least normal number.
__device__ void Compare(double result, double exact, int digits, int least,
                        Errors& errors) {
  double difference = fabs(result - exact);
  int exponent =
      static_cast<int>(__double_as_longlong(exact) >> 52 & 0x7ff) - 1023;
  if (exponent < least) exponent = least;
  errors.absolute = fmax(errors.absolute, difference);
  if (exact != 0) {
    errors.relative = fmax(errors.relative, difference / fabs(exact));
  }
  errors.ulp = fmax(errors.ulp, difference * Power(digits - exponent));
}

template <class Function>
__device__ void Run(const Sweep& sweep) {
  Errors errors = {0, 0, 0};
  uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  uint64_t thread = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (uint64_t i = thread; i < sweep.count; i += threads) {
    auto bits = static_cast<typename Function::Bits>(sweep.first +
                                                     i * sweep.stride);
    double input = Function::Value(bits);
    if (!(input >= sweep.low && input <= sweep.high)) continue;
    Compare(Function::Approximate(bits), Function::Exact(input),
            Function::kDigits, Function::kLeast, errors);
  }
  KeepMaximum(&sweep.errors->absolute, errors.absolute);
  KeepMaximum(&sweep.errors->relative, errors.relative);
  KeepMaximum(&sweep.errors->ulp, errors.ulp);
}

struct Single {
  using Bits = uint32_t;
  static constexpr int kDigits = 23;
  static constexpr int kLeast = -126;
  static __device__ double Value(Bits bits) { return __uint_as_float(bits); }
};

struct Half {
  using Bits = uint16_t;
  static constexpr int kDigits = 10;
  static constexpr int kLeast = -14;
  static __device__ double Value(Bits bits) {
    return __half2float(__ushort_as_half(bits));
  }
};

struct Brain {
  using Bits = uint16_t;
  static constexpr int kDigits = 7;
  static constexpr int kLeast = -126;
  static __device__ double Value(Bits bits) {
    return __uint_as_float(static_cast<uint32_t>(bits) << 16);
  }
};

// A kernel `name` for the one-operand `instruction` on `Type`.
#define SWEEP(name, Type, instruction, constraint, exact)             \
  struct Function_##name : Type {                                     \
    static __device__ double Approximate(Bits bits) {                 \
      Bits result;                                                    \
      asm(instruction " %0, %1;" : "=" constraint(result)             \
          : constraint(bits));                                        \
      return Value(result);                                           \
    }                                                                 \
    static __device__ double Exact(double x) { return exact; }        \
  };                                                                  \
  extern "C" __global__ void name(Sweep sweep) {                      \
    Run<Function_##name>(sweep);                                      \
  }

SWEEP(ex2_f32, Single, "ex2.approx.f32", "r", exp2(x))
SWEEP(lg2_f32, Single, "lg2.approx.f32", "r", log2(x))
SWEEP(sin_f32, Single, "sin.approx.f32", "r", sin(x))
SWEEP(cos_f32, Single, "cos.approx.f32", "r", cos(x))
SWEEP(tanh_f32, Single, "tanh.approx.f32", "r", tanh(x))
SWEEP(rsqrt_f32, Single, "rsqrt.approx.f32", "r", 1 / sqrt(x))
SWEEP(rcp_f32, Single, "rcp.approx.f32", "r", 1 / x)
SWEEP(sqrt_f32, Single, "sqrt.approx.f32", "r", sqrt(x))
SWEEP(ex2_f16, Half, "ex2.approx.f16", "h", exp2(x))
SWEEP(tanh_f16, Half, "tanh.approx.f16", "h", tanh(x))
SWEEP(ex2_bf16, Brain, "ex2.approx.ftz.bf16", "h", exp2(x))
SWEEP(tanh_bf16, Brain, "tanh.approx.bf16", "h", tanh(x))
