#include "backends/cpu/imports.h"

#include <cmath>
#include <cstring>

#include "backends/cpu/abi.h"
#include "backends/cpu/small_float.h"

// Compiler runtime functions that have no header.
extern "C" {
__int128 __divti3(__int128, __int128);
unsigned __int128 __udivti3(unsigned __int128, unsigned __int128);
__int128 __modti3(__int128, __int128);
unsigned __int128 __umodti3(unsigned __int128, unsigned __int128);
}

namespace hetgpu::cpu {
namespace {

// Those of the compiler runtime are not in every version of it; their calling
// convention passes 16-bit floats in the low bits of a vector register.
#if defined(__x86_64__)
using HalfRegister = float;
#else
using HalfRegister = uint16_t;
#endif

HalfRegister ToRegister(uint16_t bits) {
  HalfRegister result{};
  std::memcpy(&result, &bits, sizeof(bits));
  return result;
}

uint16_t FromRegister(HalfRegister value) {
  uint16_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

HalfRegister TruncSfHf(float value) {
  return ToRegister(DoubleToHalf(value, Round::kRn));
}

HalfRegister TruncDfHf(double value) {
  return ToRegister(DoubleToHalf(value, Round::kRn));
}

float ExtendHfSf(HalfRegister value) {
  return static_cast<float>(HalfToDouble(FromRegister(value)));
}

HalfRegister TruncSfBf(float value) {
  return ToRegister(DoubleToBfloat(value, Round::kRn));
}

HalfRegister TruncDfBf(double value) {
  return ToRegister(DoubleToBfloat(value, Round::kRn));
}

__int128 MulTi(__int128 a, __int128 b) {
  return static_cast<__int128>(static_cast<unsigned __int128>(a) *
                               static_cast<unsigned __int128>(b));
}

template <typename Function>
uintptr_t AddressOf(Function* function) {
  return reinterpret_cast<uintptr_t>(function);
}

// Overload resolution picks the C function of the name's suffix.
#define HETGPU_F32(name) AddressOf(static_cast<float (*)(float)>(::name))
#define HETGPU_F64(name) AddressOf(static_cast<double (*)(double)>(::name))

#define HETGPU_COUNT_IMPORT(name) +1
constexpr uint32_t kImportCount = 0 HETGPU_CPU_IMPORTS(HETGPU_COUNT_IMPORT);
#undef HETGPU_COUNT_IMPORT

struct Import {
  std::string_view name;
  uintptr_t address;
};

const Import* Table() {
  static const Import kTable[] = {
      {"memcpy", AddressOf(::memcpy)},
      {"memmove", AddressOf(::memmove)},
      {"memset", AddressOf(::memset)},
      {"fma",
       AddressOf(static_cast<double (*)(double, double, double)>(::fma))},
      {"fmaf", AddressOf(::fmaf)},
      {"fmod", AddressOf(static_cast<double (*)(double, double)>(::fmod))},
      {"fmodf", AddressOf(::fmodf)},
      {"exp2f", HETGPU_F32(exp2f)},
      {"exp2", HETGPU_F64(exp2)},
      {"log2f", HETGPU_F32(log2f)},
      {"sinf", HETGPU_F32(sinf)},
      {"cosf", HETGPU_F32(cosf)},
      {"tanhf", HETGPU_F32(tanhf)},
      {"sqrtf", HETGPU_F32(sqrtf)},
      {"sqrt", HETGPU_F64(sqrt)},
      {"roundevenf", HETGPU_F32(roundevenf)},
      {"roundeven", HETGPU_F64(roundeven)},
      {"truncf", HETGPU_F32(truncf)},
      {"trunc", HETGPU_F64(trunc)},
      {"floorf", HETGPU_F32(floorf)},
      {"floor", HETGPU_F64(floor)},
      {"ceilf", HETGPU_F32(ceilf)},
      {"ceil", HETGPU_F64(ceil)},
      {"rintf", HETGPU_F32(rintf)},
      {"rint", HETGPU_F64(rint)},
      {"ldexpf", AddressOf(::ldexpf)},
      {"ldexp", AddressOf(static_cast<double (*)(double, int)>(::ldexp))},
      {"__divti3", AddressOf(::__divti3)},
      {"__udivti3", AddressOf(::__udivti3)},
      {"__modti3", AddressOf(::__modti3)},
      {"__umodti3", AddressOf(::__umodti3)},
      {"__multi3", AddressOf(MulTi)},
      {"__truncsfhf2", AddressOf(TruncSfHf)},
      {"__truncdfhf2", AddressOf(TruncDfHf)},
      {"__extendhfsf2", AddressOf(ExtendHfSf)},
      {"__truncsfbf2", AddressOf(TruncSfBf)},
      {"__truncdfbf2", AddressOf(TruncDfBf)},
  };
  static_assert(sizeof(kTable) / sizeof(Import) == kImportCount);
  return kTable;
}

}  // namespace

uint32_t ImportCount() { return kImportCount; }

uintptr_t ImportAddress(uint32_t index) { return Table()[index].address; }

std::string_view ImportName(uint32_t index) { return Table()[index].name; }

}  // namespace hetgpu::cpu
