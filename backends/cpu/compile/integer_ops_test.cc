// Integer ops against references written from PTX's definitions.
#include <bit>

#include "backends/cpu/compile/op_test.h"

namespace hetgpu::cpu {
namespace {

using V = std::vector<Bits>;
using S32 = int32_t;
using U32 = uint32_t;
using S64 = int64_t;
using U64 = uint64_t;

std::string R(const std::string& text) { return "  %r = " + text; }

template <typename T>
Bits Div(const V& v) {
  T a = static_cast<T>(v[0]), b = static_cast<T>(v[1]);
  if (b == 0) return ~Bits{0};
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
    return static_cast<Bits>(-static_cast<Bits>(a));
  }
  return static_cast<Bits>(a / b);
}
template <typename T>
Bits Rem(const V& v) {
  T a = static_cast<T>(v[0]), b = static_cast<T>(v[1]);
  if (b == 0) return ~Bits{0};
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<Bits>(a % b);
}
template <typename T>
Bits MulHi(const V& v) {
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128,
                                  unsigned __int128>;
  Wide product = static_cast<Wide>(static_cast<T>(v[0])) *
                 static_cast<Wide>(static_cast<T>(v[1]));
  return static_cast<Bits>(product >> (8 * sizeof(T)));
}

TEST(IntegerOps, Arith) {
  for (std::string type : {"i16", "i32", "i64"}) {
    CheckOp({R("arith.addi %a, %b : " + type), {type, type}, type,
             [](const V& v) { return v[0] + v[1]; }});
    CheckOp({R("arith.muli %a, %b : " + type), {type, type}, type,
             [](const V& v) { return v[0] * v[1]; }});
    CheckOp({R("arith.xori %a, %b : " + type), {type, type}, type,
             [](const V& v) { return v[0] ^ v[1]; }});
    CheckOp({R("arith.subi %a, %b : " + type), {type, type}, type,
             [](const V& v) { return v[0] - v[1]; }});
  }
  CheckOp({R("arith.cmpi slt, %a, %b : i32"), {"i32", "i32"}, "i1",
           [](const V& v) { return S32(v[0]) < S32(v[1]); }});
  CheckOp({R("arith.cmpi uge, %a, %b : i64"), {"i64", "i64"}, "i1",
           [](const V& v) { return v[0] >= v[1]; }});
  CheckOp({R("arith.extsi %a : i32 to i64"), {"i32"}, "i64",
           [](const V& v) { return Bits(S64(S32(v[0]))); }});
  CheckOp({R("arith.trunci %a : i64 to i16"), {"i64"}, "i16",
           [](const V& v) { return v[0]; }});
  CheckOp({R("arith.select %c, %a, %b : i32"), {"i32", "i32", "i1"}, "i32",
           [](const V& v) { return v[2] ? v[0] : v[1]; }});
  CheckOp({R("arith.maxsi %a, %b : i32"), {"i32", "i32"}, "i32",
           [](const V& v) { return Bits(std::max(S32(v[0]), S32(v[1]))); }});
  CheckOp({R("arith.minui %a, %b : i64"), {"i64", "i64"}, "i64",
           [](const V& v) { return std::min(v[0], v[1]); }});
}

TEST(IntegerOps, TotalShiftsAndDivisionsOfArith) {
  CheckOp({R("arith.shli %a, %b : i32"), {"i32", "i32"}, "i32",
           [](const V& v) { return v[1] > 31 ? 0 : v[0] << v[1]; }});
  CheckOp({R("arith.shrui %a, %b : i32"), {"i32", "i32"}, "i32",
           [](const V& v) { return v[1] > 31 ? 0 : v[0] >> v[1]; }});
  CheckOp({R("arith.shrsi %a, %b : i32"), {"i32", "i32"}, "i32",
           [](const V& v) {
             return Bits(S32(v[0]) >> std::min<Bits>(v[1], 31));
           }});
  CheckOp({R("arith.divsi %a, %b : i32"), {"i32", "i32"}, "i32", Div<S32>});
  CheckOp({R("arith.remui %a, %b : i64"), {"i64", "i64"}, "i64", Rem<U64>});
}

TEST(IntegerOps, DivRem) {
  CheckOp({R("hetir.div %a, %b {is_signed} : i32"), {"i32", "i32"}, "i32",
           Div<S32>});
  CheckOp({R("hetir.div %a, %b : i32"), {"i32", "i32"}, "i32", Div<U32>});
  CheckOp({R("hetir.div %a, %b {is_signed} : i64"), {"i64", "i64"}, "i64",
           Div<S64>});
  CheckOp({R("hetir.div %a, %b : i64"), {"i64", "i64"}, "i64", Div<U64>});
  CheckOp({R("hetir.div %a, %b {is_signed} : i16"), {"i16", "i16"}, "i16",
           Div<int16_t>});
  CheckOp({R("hetir.rem %a, %b {is_signed} : i32"), {"i32", "i32"}, "i32",
           Rem<S32>});
  CheckOp({R("hetir.rem %a, %b : i32"), {"i32", "i32"}, "i32", Rem<U32>});
  CheckOp({R("hetir.rem %a, %b {is_signed} : i64"), {"i64", "i64"}, "i64",
           Rem<S64>});
}

TEST(IntegerOps, MulHi) {
  CheckOp({R("hetir.mul_hi %a, %b {is_signed} : i32"), {"i32", "i32"}, "i32",
           MulHi<S32>});
  CheckOp({R("hetir.mul_hi %a, %b : i32"), {"i32", "i32"}, "i32",
           MulHi<U32>});
  CheckOp({R("hetir.mul_hi %a, %b : i64"), {"i64", "i64"}, "i64",
           MulHi<U64>});
  CheckOp({R("hetir.mul_hi %a, %b {is_signed} : i64"), {"i64", "i64"}, "i64",
           MulHi<S64>});
  CheckOp({R("hetir.mul_hi %a, %b {is_signed} : i16"), {"i16", "i16"}, "i16",
           MulHi<int16_t>});
}

TEST(IntegerOps, Saturating) {
  CheckOp({R("hetir.add_sat %a, %b {is_signed} : i32"), {"i32", "i32"}, "i32",
           [](const V& v) {
             S64 sum = S64(S32(v[0])) + S32(v[1]);
             return Bits(std::clamp<S64>(sum, INT32_MIN, INT32_MAX));
           }});
  CheckOp({R("hetir.sub_sat %a, %b : i32"), {"i32", "i32"}, "i32",
           [](const V& v) { return v[0] < v[1] ? 0 : v[0] - v[1]; }});
}

TEST(IntegerOps, Shifts) {
  for (auto [type, width] :
       {std::pair{"i16", 16}, std::pair{"i32", 32}, std::pair{"i64", 64}}) {
    std::string t = type;
    Bits w = width;
    CheckOp({R("hetir.shl %a, %b : " + t + ", i32"), {t, "i32"}, t,
             [w](const V& v) { return v[1] >= w ? 0 : v[0] << v[1]; }});
    CheckOp({R("hetir.shr %a, %b : " + t + ", i32"), {t, "i32"}, t,
             [w](const V& v) { return v[1] >= w ? 0 : v[0] >> v[1]; }});
    CheckOp({R("hetir.shr %a, %b {is_signed} : " + t + ", i32"), {t, "i32"},
             t, [w](const V& v) {
               S64 a = S64(v[0] << (64 - w)) >> (64 - w);
               return Bits(a >> std::min<Bits>(v[1], w - 1));
             }});
  }
}

Bits Funnel(const V& v, bool right, bool wrap) {
  U64 pair = (v[1] << 32) | v[0];
  U32 n = wrap ? v[2] & 31 : std::min<U32>(v[2], 32);
  return right ? U32(n == 32 ? pair >> 32 : pair >> n)
               : U32(n == 32 ? pair : (pair << n) >> 32);
}
TEST(IntegerOps, FunnelShift) {
  for (bool right : {false, true}) {
    for (bool wrap : {false, true}) {
      std::string attributes = right && wrap ? " {right, wrap}"
                               : right       ? " {right}"
                               : wrap        ? " {wrap}"
                                             : "";
      CheckOp({R("hetir.funnel_shift %a, %b, %c" + attributes + " : i32"),
               {"i32", "i32", "i32"}, "i32",
               [=](const V& v) { return Funnel(v, right, wrap); }});
    }
  }
}

TEST(IntegerOps, Bits) {
  CheckOp({R("hetir.abs %a : i32"), {"i32"}, "i32", [](const V& v) {
             return S32(v[0]) < 0 ? -v[0] : v[0];
           }});
  CheckOp({R("hetir.brev %a : i32"), {"i32"}, "i32", [](const V& v) {
             U32 r = 0;
             for (int i = 0; i < 32; ++i) r |= ((v[0] >> i) & 1) << (31 - i);
             return Bits(r);
           }});
  CheckOp({R("hetir.popc %a : i64 -> i32"), {"i64"}, "i32",
           [](const V& v) { return Bits(std::popcount(v[0])); }});
  CheckOp({R("hetir.clz %a : i64 -> i32"), {"i64"}, "i32",
           [](const V& v) { return Bits(std::countl_zero(v[0])); }});
  CheckOp({R("hetir.clz %a : i32 -> i32"), {"i32"}, "i32",
           [](const V& v) { return Bits(std::countl_zero(U32(v[0]))); }});
  CheckOp({R("hetir.bfind %a : i32 -> i32"), {"i32"}, "i32",
           [](const V& v) {
             return Bits(31 - std::countl_zero(U32(v[0])));
           }});
  CheckOp({R("hetir.bfind %a {is_signed} : i64 -> i32"), {"i64"}, "i32",
           [](const V& v) {
             U64 a = S64(v[0]) < 0 ? ~v[0] : v[0];
             return Bits(63 - std::countl_zero(a));
           }});
  CheckOp({R("hetir.bfind %a {shift_amount} : i32 -> i32"), {"i32"}, "i32",
           [](const V& v) {
             return v[0] ? Bits(std::countl_zero(U32(v[0]))) : ~Bits{0};
           }});
}

Bits Fns(const V& v) {
  U32 mask = v[0], base = v[1];
  S32 n = S32(v[2]);
  if (n == 0) return base < 32 && (mask >> base & 1) ? base : ~Bits{0};
  S64 count = std::abs(S64(n)) - 1, step = n > 0 ? 1 : -1;
  for (S64 at = base; at >= 0 && at < 32; at += step) {
    if (!(mask >> at & 1)) continue;
    if (count-- == 0) return at;
  }
  return ~Bits{0};
}
TEST(IntegerOps, Fns) {
  CheckOp({R("hetir.fns %a, %b, %c : i32"), {"i32", "i32", "i32"}, "i32",
           Fns});
}

Bits Bfe(const V& v, unsigned width, bool is_signed) {
  // Of 64-bit fields all bits of position and length count, as recorded.
  uint64_t counted = width == 64 ? 0xffffffff : 0xff;
  uint64_t position = v[1] & counted, length = v[2] & counted;
  uint64_t top = width - 1;
  bool sign = false;
  if (is_signed && length != 0) {
    sign = v[0] >> std::min(position + length - 1, top) & 1;
  }
  Bits result = 0;
  for (uint64_t i = 0; i <= top; ++i) {
    bool bit = i < length && position + i <= top
                   ? v[0] >> (position + i) & 1
                   : sign;
    result |= Bits(bit) << i;
  }
  return result;
}
Bits Bfi(const V& v, unsigned width, unsigned position, unsigned length) {
  Bits result = v[1];
  for (unsigned i = 0; i < length && position + i < width; ++i) {
    result &= ~(Bits{1} << (position + i));
    result |= (v[0] >> i & 1) << (position + i);
  }
  return result;
}
TEST(IntegerOps, BitFields) {
  CheckOp({R("hetir.bfe %a, %b, %c : i32, i32, i32"), {"i32", "i32", "i32"},
           "i32", [](const V& v) { return Bfe(v, 32, false); }});
  CheckOp({R("hetir.bfe %a, %b, %c {is_signed} : i32, i32, i32"),
           {"i32", "i32", "i32"}, "i32",
           [](const V& v) { return Bfe(v, 32, true); }});
  CheckOp({R("hetir.bfe %a, %b, %c {is_signed} : i64, i32, i32"),
           {"i64", "i32", "i32"}, "i64",
           [](const V& v) { return Bfe(v, 64, true); }});
  for (unsigned position : {0, 3, 31, 32, 60, 200}) {
    for (unsigned length : {0, 1, 8, 32, 64, 255}) {
      std::string constants =
          "  %pos = arith.constant " + std::to_string(position) +
          " : i32\n  %len = arith.constant " + std::to_string(length) +
          " : i32\n";
      CheckOp({constants +
                   R("hetir.bfi %a, %b, %pos, %len : i32, i32, i32"),
               {"i32", "i32"}, "i32",
               [=](const V& v) { return Bfi(v, 32, position, length); },
               true, nullptr, "scalar"});
      CheckOp({constants +
                   R("hetir.bfi %a, %b, %pos, %len : i64, i32, i32"),
               {"i64", "i64"}, "i64",
               [=](const V& v) { return Bfi(v, 64, position, length); },
               true, nullptr, "simd"});
    }
  }
  CheckOp({R("hetir.bmsk %a, %b : i32"), {"i32", "i32"}, "i32",
           [](const V& v) {
             Bits ones = v[1] >= 32 ? 0xffffffff : (Bits{1} << v[1]) - 1;
             return v[0] >= 32 ? 0 : ones << v[0];
           }});
  CheckOp({R("hetir.bmsk %a, %b {wrap} : i32"), {"i32", "i32"}, "i32",
           [](const V& v) {
             return ((Bits{1} << (v[1] & 31)) - 1) << (v[0] & 31);
           }});
  CheckOp({R("hetir.szext %a, %b {is_signed} : i32"), {"i32", "i32"}, "i32",
           [](const V& v) {
             Bits n = std::min<Bits>(v[1], 32);
             if (n == 0) return Bits{0};
             return Bits(S64(v[0] << (64 - n)) >> (64 - n));
           }});
  CheckOp({R("hetir.szext %a, %b {wrap} : i32"), {"i32", "i32"}, "i32",
           [](const V& v) {
             return v[0] & ((Bits{1} << (v[1] & 31)) - 1);
           }});
}

TEST(IntegerOps, Prmt) {
  CheckOp({R("hetir.prmt %a, %b, %c : i32"), {"i32", "i32", "i32"}, "i32",
           [](const V& v) {
             U64 pair = (v[1] << 32) | v[0];
             Bits result = 0;
             for (int i = 0; i < 4; ++i) {
               Bits nibble = v[2] >> (4 * i) & 15;
               Bits byte = pair >> (8 * (nibble & 7)) & 0xff;
               if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
               result |= byte << (8 * i);
             }
             return result;
           }});
  static constexpr const char* kModes[] = {"f4e", "b4e", "rc8",
                                           "ecl", "ecr", "rc16"};
  // Byte numbers, most significant first, for selectors 0 to 3.
  static constexpr const char* kBytes[][4] = {
      {"3210", "4321", "5432", "6543"}, {"5670", "6701", "7012", "0123"},
      {"0000", "1111", "2222", "3333"}, {"3210", "3211", "3222", "3333"},
      {"0000", "1110", "2210", "3210"}, {"1010", "3232", "1010", "3232"}};
  for (int mode = 0; mode < 6; ++mode) {
    CheckOp({R("hetir.prmt %a, %b, %c {mode = #hetir.prmt_mode<" +
               std::string(kModes[mode]) + ">} : i32"),
             {"i32", "i32", "i32"}, "i32", [mode](const V& v) {
               U64 pair = (v[1] << 32) | v[0];
               Bits result = 0;
               for (int i = 0; i < 4; ++i) {
                 int byte = kBytes[mode][v[2] & 3][3 - i] - '0';
                 result |= (pair >> (8 * byte) & 0xff) << (8 * i);
               }
               return result;
             }});
  }
}

TEST(IntegerOps, Lop3) {
  for (int lut : {0x00, 0xff, 0x80, 0xfe, 0x96, 0xe8, 0xca, 0xd8, 0x3c, 0x5a,
                  0x1b, 0x27, 0xf8, 0x2a, 0x78, 0xb4}) {
    CheckOp({R("hetir.lop3 %a, %b, %c lut " + std::to_string(lut) +
               " : i32"),
             {"i32", "i32", "i32"}, "i32", [lut](const V& v) {
               Bits result = 0;
               for (int i = 0; i < 32; ++i) {
                 int index = (v[0] >> i & 1) << 2 | (v[1] >> i & 1) << 1 |
                             (v[2] >> i & 1);
                 result |= Bits(lut >> index & 1) << i;
               }
               return result;
             },
             true, nullptr, "scalar"});
  }
}

TEST(IntegerOps, Products) {
  CheckOp({R("hetir.sad %a, %b, %c : i32"), {"i32", "i32", "i32"}, "i32",
           [](const V& v) {
             return v[2] + (v[0] > v[1] ? v[0] - v[1] : v[1] - v[0]);
           }});
  CheckOp({R("hetir.sad %a, %b, %c {is_signed} : i32"),
           {"i32", "i32", "i32"}, "i32", [](const V& v) {
             return v[2] + (S32(v[0]) > S32(v[1]) ? v[0] - v[1]
                                                  : v[1] - v[0]);
           }});
  for (bool hi : {false, true}) {
    CheckOp({R("hetir.mul24 %a, %b {is_signed" +
               std::string(hi ? ", hi" : "") + "} : i32"),
             {"i32", "i32"}, "i32", [hi](const V& v) {
               S64 product = (S64(S32(v[0] << 8)) >> 8) *
                             (S64(S32(v[1] << 8)) >> 8);
               return Bits(hi ? product >> 16 : product);
             }});
  }
  CheckOp({R("hetir.dp4a %a, %b, %c {a_signed} : i32"),
           {"i32", "i32", "i32"}, "i32", [](const V& v) {
             Bits sum = v[2];
             for (int i = 0; i < 4; ++i) {
               sum += S64(int8_t(v[0] >> (8 * i))) *
                      S64(uint8_t(v[1] >> (8 * i)));
             }
             return sum;
           }});
  CheckOp({R("hetir.dp2a %a, %b, %c {b_signed, hi} : i32"),
           {"i32", "i32", "i32"}, "i32", [](const V& v) {
             Bits sum = v[2];
             for (int i = 0; i < 2; ++i) {
               sum += S64(uint16_t(v[0] >> (16 * i))) *
                      S64(int8_t(v[1] >> (8 * (2 + i))));
             }
             return sum;
           }});
}

TEST(IntegerOps, Carries) {
  CheckOp({"  %r, %x = hetir.add_carry %a, %b, %c : i32, i1",
           {"i32", "i32", "i1"}, "i32",
           [](const V& v) { return v[0] + v[1] + v[2]; }});
  CheckOp({"  %x, %r = hetir.add_carry %a, %b, %c : i32, i1",
           {"i32", "i32", "i1"}, "i1",
           [](const V& v) { return (v[0] + v[1] + v[2]) >> 32; }});
  CheckOp({"  %x, %r = hetir.add_carry %a, %b, %c : i64, i1",
           {"i64", "i64", "i1"}, "i1", [](const V& v) {
             return Bits((static_cast<unsigned __int128>(v[0]) + v[1] +
                          v[2]) >> 64);
           }});
  CheckOp({"  %r, %x = hetir.sub_borrow %a, %b, %c : i32, i1",
           {"i32", "i32", "i1"}, "i32",
           [](const V& v) { return v[0] - v[1] - v[2]; }});
  CheckOp({"  %x, %r = hetir.sub_borrow %a, %b, %c : i32, i1",
           {"i32", "i32", "i1"}, "i1",
           [](const V& v) { return v[0] < v[1] + v[2]; }});
}

}  // namespace
}  // namespace hetgpu::cpu
