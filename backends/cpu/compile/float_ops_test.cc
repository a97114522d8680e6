// Float ops with exact modes, against references in wider arithmetic and the
// host's rounding modes.
#include <bit>
#include <cfenv>
#include <cmath>

#include "backends/cpu/compile/op_test.h"
#include "backends/cpu/small_float.h"

namespace hetgpu::cpu {
namespace {

using V = std::vector<Bits>;

std::string R(const std::string& text) { return "  %r = " + text; }
float F(Bits bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
double D(Bits bits) { return std::bit_cast<double>(bits); }
Bits B(float x) {
  return std::isnan(x) ? 0x7fffffffu : std::bit_cast<uint32_t>(x);
}
Bits B(double x) {
  return std::isnan(x) ? 0x7ff8000000000000u : std::bit_cast<uint64_t>(x);
}

float Flush(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
float Saturate(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

// Evaluates under a rounding mode; the operands come through volatiles, so
// that nothing is computed before the mode is set.
template <typename Fn>
auto Under(int mode, Fn fn) {
  int old = std::fegetround();
  std::fesetround(mode);
  auto result = fn();
  std::fesetround(old);
  return result;
}

struct Mode {
  const char* name;
  int host;
};
constexpr Mode kModes[] = {{"rn", FE_TONEAREST},
                           {"rz", FE_TOWARDZERO},
                           {"rm", FE_DOWNWARD},
                           {"rp", FE_UPWARD}};

std::string With(const Mode& mode, const std::string& type) {
  return " {rounding = #hetir.rounding<" + std::string(mode.name) + ">} : " +
         type;
}

template <typename T>
T Value(Bits bits) {
  if constexpr (sizeof(T) == 4) return F(bits);
  else return D(bits);
}

template <typename T>
void CheckRounded(const std::string& type) {
  for (const Mode& mode : kModes) {
    auto binary = [&](const char* op, auto fn) {
      CheckOp({R("hetir." + std::string(op) + " %a, %b" + With(mode, type)),
               {type, type}, type, [=](const V& v) {
                 volatile T a = Value<T>(v[0]), b = Value<T>(v[1]);
                 return B(Under(mode.host, [&] {
                   volatile T r = fn(a, b);
                   return T(r);
                 }));
               },
               true, nullptr, "scalar,simd"});
    };
    binary("fadd", [](volatile T& a, volatile T& b) { return a + b; });
    binary("fsub", [](volatile T& a, volatile T& b) { return a - b; });
    binary("fmul", [](volatile T& a, volatile T& b) { return a * b; });
    binary("fdiv", [](volatile T& a, volatile T& b) { return a / b; });
    CheckOp({R("hetir.fsqrt %a" + With(mode, type)), {type}, type,
             [=](const V& v) {
               volatile T a = Value<T>(v[0]);
               return B(Under(mode.host, [&] {
                 volatile T r = std::sqrt(T(a));
                 return T(r);
               }));
             },
             true, nullptr, "scalar,simd"});
    CheckOp({R("hetir.frcp %a" + With(mode, type)), {type}, type,
             [=](const V& v) {
               volatile T a = Value<T>(v[0]);
               return B(Under(mode.host, [&] {
                 volatile T one = 1;
                 volatile T r = one / a;
                 return T(r);
               }));
             },
             true, nullptr, "scalar,simd"});
    CheckOp({R("hetir.ffma %a, %b, %c" + With(mode, type)),
             {type, type, type}, type, [=](const V& v) {
               volatile T a = Value<T>(v[0]), b = Value<T>(v[1]),
                          c = Value<T>(v[2]);
               return B(Under(mode.host, [&] {
                 volatile T r = std::fma(T(a), T(b), T(c));
                 return T(r);
               }));
             },
             true, nullptr, "scalar,simd"});
  }
}

TEST(FloatOps, RoundedF32) { CheckRounded<float>("f32"); }
TEST(FloatOps, RoundedF64) { CheckRounded<double>("f64"); }

TEST(FloatOps, FtzAndSat) {
  CheckOp({R("hetir.fadd %a, %b {ftz} : f32"), {"f32", "f32"}, "f32",
           [](const V& v) {
             return B(Flush(Flush(F(v[0])) + Flush(F(v[1]))));
           }});
  CheckOp({R("hetir.fmul %a, %b {ftz, sat} : f32"), {"f32", "f32"}, "f32",
           [](const V& v) {
             return B(Saturate(Flush(Flush(F(v[0])) * Flush(F(v[1])))));
           }});
  CheckOp({R("hetir.ffma %a, %b, %c {sat} : f32"), {"f32", "f32", "f32"},
           "f32", [](const V& v) {
             return B(Saturate(std::fma(F(v[0]), F(v[1]), F(v[2]))));
           }});
}

TEST(FloatOps, Signs) {
  CheckOp({R("hetir.fneg %a : f32"), {"f32"}, "f32",
           [](const V& v) { return v[0] ^ 0x80000000u; }});
  CheckOp({R("hetir.fabs %a : f64"), {"f64"}, "f64",
           [](const V& v) { return v[0] & ~(Bits{1} << 63); }});
  CheckOp({R("hetir.fneg %a : f16"), {"f16"}, "f16",
           [](const V& v) { return v[0] ^ 0x8000u; }});
  CheckOp({R("hetir.copysign %a, %b : f32"), {"f32", "f32"}, "f32",
           [](const V& v) {
             return (v[0] & 0x80000000u) | (v[1] & 0x7fffffffu);
           }});
}

float Least(float a, float b, bool max, bool nan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (nan) return NAN;
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == max ? b : a;
  return (a < b) != max ? a : b;
}

TEST(FloatOps, MinMax) {
  for (bool max : {false, true}) {
    std::string op = max ? "hetir.fmax" : "hetir.fmin";
    for (bool nan : {false, true}) {
      CheckOp({R(op + " %a, %b" + (nan ? " {nan}" : "") + " : f32"),
               {"f32", "f32"}, "f32", [=](const V& v) {
                 return B(Least(F(v[0]), F(v[1]), max, nan));
               }});
    }
    CheckOp({R(op + " %a, %b {xorsign_abs} : f32"), {"f32", "f32"}, "f32",
             [=](const V& v) {
               float r = Least(std::fabs(F(v[0])), std::fabs(F(v[1])), max,
                               false);
               bool sign = (v[0] ^ v[1]) >> 31 & 1;
               return B(std::copysign(r, sign ? -1.0f : 1.0f));
             }});
  }
}

TEST(FloatOps, Compare) {
  struct Predicate {
    const char* name;
    bool ordered, less, equal, greater, unordered;
  };
  constexpr Predicate kAll[] = {
      {"eq", true, false, true, false, false},
      {"ne", true, true, false, true, false},
      {"lt", true, true, false, false, false},
      {"le", true, true, true, false, false},
      {"gt", true, false, false, true, false},
      {"ge", true, false, true, true, false},
      {"equ", false, false, true, false, true},
      {"neu", false, true, false, true, true},
      {"ltu", false, true, false, false, true},
      {"leu", false, true, true, false, true},
      {"gtu", false, false, false, true, true},
      {"geu", false, false, true, true, true},
      {"num", true, true, true, true, false},
      {"nan", false, false, false, false, true}};
  for (const Predicate& p : kAll) {
    CheckOp({R("hetir.fcmp " + std::string(p.name) +
               " %a, %b : f32 -> i1"),
             {"f32", "f32"}, "i1", [p](const V& v) {
               float a = F(v[0]), b = F(v[1]);
               if (std::isnan(a) || std::isnan(b)) return Bits(p.unordered);
               return Bits(a < b ? p.less : a > b ? p.greater : p.equal);
             }});
  }
}

TEST(FloatOps, Testp) {
  auto check = [](const char* name, bool (*property)(float)) {
    CheckOp({R("hetir.testp " + std::string(name) + " %a : f32 -> i1"),
             {"f32"}, "i1",
             [=](const V& v) { return Bits(property(F(v[0]))); }});
  };
  check("finite", [](float x) { return bool(std::isfinite(x)); });
  check("infinite", [](float x) { return bool(std::isinf(x)); });
  check("number", [](float x) { return !std::isnan(x); });
  check("notanumber", [](float x) { return bool(std::isnan(x)); });
  check("normal", [](float x) { return std::isnormal(x) || x == 0; });
  check("subnormal",
        [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

// f16 and bf16: sums and products are exact in f64, so that one rounding is
// left; fma has a reference of its own.
TEST(FloatOps, Small) {
  CheckOp({R("hetir.fadd %a, %b : f16"), {"f16", "f16"}, "f16",
           [](const V& v) {
             return Bits(DoubleToHalf(HalfToDouble(v[0]) + HalfToDouble(v[1]),
                                      Round::kRn));
           }});
  CheckOp({R("hetir.fmul %a, %b : bf16"), {"bf16", "bf16"}, "bf16",
           [](const V& v) {
             return Bits(DoubleToBfloat(
                 BfloatToDouble(v[0]) * BfloatToDouble(v[1]), Round::kRn));
           }});
  CheckOp({R("hetir.ffma %a, %b, %c : f16"), {"f16", "f16", "f16"}, "f16",
           [](const V& v) { return Bits(FmaHalf(v[0], v[1], v[2])); }});
  CheckOp({R("hetir.ffma %a, %b, %c : bf16"), {"bf16", "bf16", "bf16"},
           "bf16",
           [](const V& v) { return Bits(FmaBfloat(v[0], v[1], v[2])); }});
}

std::string Cvt(const std::string& attributes, const std::string& from,
                const std::string& to) {
  return R("hetir.cvt %a {" + attributes + "} : " + from + " -> " + to);
}

TEST(Conversions, ToSmallFloats) {
  constexpr Round kRounds[] = {Round::kRn, Round::kRz, Round::kRm,
                               Round::kRp};
  for (int i = 0; i < 4; ++i) {
    std::string rounding =
        "rounding = #hetir.rounding<" + std::string(kModes[i].name) + ">";
    Round round = kRounds[i];
    CheckOp({Cvt(rounding, "f32", "f16"), {"f32"}, "f16", [=](const V& v) {
               return Bits(DoubleToHalf(F(v[0]), round));
             }});
    CheckOp({Cvt(rounding, "f64", "f16"), {"f64"}, "f16", [=](const V& v) {
               return Bits(DoubleToHalf(D(v[0]), round));
             }});
    CheckOp({Cvt(rounding, "f32", "bf16"), {"f32"}, "bf16", [=](const V& v) {
               return Bits(DoubleToBfloat(F(v[0]), round));
             }});
    CheckOp({Cvt(rounding, "f64", "f32"), {"f64"}, "f32", [=](const V& v) {
               volatile double a = D(v[0]);
               return B(Under(kModes[i].host, [&] {
                 volatile float r = static_cast<float>(a);
                 return float(r);
               }));
             }});
    CheckOp({Cvt(rounding + ", src_signed", "i64", "f32"), {"i64"}, "f32",
             [=](const V& v) {
               volatile int64_t a = v[0];
               return B(Under(kModes[i].host, [&] {
                 volatile float r = static_cast<float>(a);
                 return float(r);
               }));
             }});
    CheckOp({Cvt(rounding + ", src_signed", "i64", "f64"), {"i64"}, "f64",
             [=](const V& v) {
               volatile int64_t a = v[0];
               return B(Under(kModes[i].host, [&] {
                 volatile double r = static_cast<double>(a);
                 return double(r);
               }));
             }});
  }
}

TEST(Conversions, ToIntegers) {
  auto clamp = [](double x, double low, double high) {
    return x < low ? low : x > high ? high : x;
  };
  CheckOp({Cvt("rounding = #hetir.rounding<rzi>, dst_signed", "f32", "i32"),
           {"f32"}, "i32", [=](const V& v) {
             double x = std::trunc(double(F(v[0])));
             if (std::isnan(x)) return Bits{0};
             return Bits(int64_t(clamp(x, INT32_MIN, INT32_MAX)));
           }});
  CheckOp({Cvt("rounding = #hetir.rounding<rni>", "f32", "i32"), {"f32"},
           "i32", [=](const V& v) {
             double x = std::nearbyint(double(F(v[0])));
             if (std::isnan(x)) return Bits{0};
             return Bits(int64_t(clamp(x, 0, UINT32_MAX)));
           }});
  CheckOp({Cvt("rounding = #hetir.rounding<rmi>, dst_signed", "f64", "i64"),
           {"f64"}, "i64", [](const V& v) {
             double x = std::floor(D(v[0]));
             if (std::isnan(x)) return Bits{1} << 63;
             if (x >= 0x1p63) return ~(Bits{1} << 63);
             if (x < -0x1p63) return Bits{1} << 63;
             return Bits(int64_t(x));
           }});
  CheckOp({Cvt("rounding = #hetir.rounding<rpi>, dst_signed", "f32", "i16"),
           {"f32"}, "i16", [=](const V& v) {
             double x = std::ceil(double(F(v[0])));
             if (std::isnan(x)) return Bits{0};
             return Bits(int64_t(clamp(x, INT16_MIN, INT16_MAX)));
           }});
}

TEST(Conversions, Saturating) {
  CheckOp({Cvt("sat, src_signed, dst_signed", "i32", "i16"), {"i32"}, "i16",
           [](const V& v) {
             return Bits(std::clamp<int64_t>(int32_t(v[0]), -32768, 32767));
           }});
  CheckOp({Cvt("sat, src_signed", "i64", "i32"), {"i64"}, "i32",
           [](const V& v) {
             return Bits(std::clamp<int64_t>(v[0], 0, UINT32_MAX));
           }});
}

}  // namespace
}  // namespace hetgpu::cpu
