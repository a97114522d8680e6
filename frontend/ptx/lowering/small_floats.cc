#include "frontend/ptx/lowering/small_floats.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;
using Predicate = arith::CmpIPredicate;

constexpr uint32_t kInfinity = 0x7f800000;

Value Compare(Lowering& l, Predicate predicate, Value a, Value b) {
  return l.Create<arith::CmpIOp>(predicate, a, b);
}

Value And(Lowering& l, Value a, uint64_t mask) {
  unsigned width = a.getType().getIntOrFloatBitWidth();
  return l.Create<arith::AndIOp>(a, l.ConstantInt(width, mask));
}

Value Add(Lowering& l, Value a, uint64_t b) {
  unsigned width = a.getType().getIntOrFloatBitWidth();
  return l.Create<arith::AddIOp>(a, l.ConstantInt(width, b));
}

Value ShiftRight(Lowering& l, Value a, unsigned amount) {
  unsigned width = a.getType().getIntOrFloatBitWidth();
  return l.Create<arith::ShRUIOp>(a, l.ConstantInt(width, amount));
}

// bits + half of the unit `1 << shift`, so that cutting below it rounds to
// nearest even.
Value RoundToEven(Lowering& l, Value bits, unsigned shift) {
  Value odd = And(l, ShiftRight(l, bits, shift), 1);
  Value biased = Add(l, bits, (uint64_t{1} << (shift - 1)) - 1);
  return l.Create<arith::AddIOp>(biased, odd);
}

struct Float8 {
  unsigned fraction_bits;
  int bias;
  uint64_t largest;  // finite magnitude
  uint64_t nan;
};

Float8 FormatOf(Type type) {
  if (type == Type::kE4m3) return {3, 7, 0x7e, 0x7f};
  return {2, 15, 0x7b, 0x7f};
}

}  // namespace

Value ToTf32(Lowering& l, Value value) {
  constexpr unsigned kCut = 13;
  Value bits = l.Bitcast(value, l.I32());
  Value magnitude = And(l, bits, 0x7fffffff);
  Value rounded = bits;
  if (l.mods().rounding == Rounding::kRna) {
    rounded = Add(l, bits, 1u << (kCut - 1));
  } else if (l.mods().rounding == Rounding::kRn) {
    rounded = RoundToEven(l, bits, kCut);
  }
  Value finite = Compare(l, Predicate::ult, magnitude,
                         l.ConstantInt(32, kInfinity));
  Value result = And(l, l.Select(finite, rounded, bits), 0xffffe000);
  if (l.Has(Flag::kSatfinite)) {
    Value infinite = Compare(l, Predicate::eq, And(l, result, 0x7fffffff),
                             l.ConstantInt(32, kInfinity));
    Value largest = l.Create<arith::SubIOp>(result, l.ConstantInt(32, 0x2000));
    result = l.Select(infinite, largest, result);
  }
  if (l.Has(Flag::kRelu)) {
    Value negative =
        Compare(l, Predicate::slt, result, l.ConstantInt(32, 0));
    result = l.Select(negative, l.ConstantInt(32, 0), result);
  }
  // Under .rna devices cut a NaN like a number: one whose payload lies in the
  // low bits becomes infinity.
  if (l.mods().rounding == Rounding::kRna) return result;
  Value nan = Compare(l, Predicate::ugt, magnitude,
                      l.ConstantInt(32, kInfinity));
  return l.Select(nan, l.ConstantInt(32, 0x7fffe000), result);
}

// Normal results: the f32 is rounded in place and its exponent rebiased.
// Subnormal ones: adding the power of two whose unit is the smallest subnormal
// leaves the rounded count of such units in the low bits.
Value ToFloat8(Lowering& l, Value value, Type target) {
  Float8 format = FormatOf(target);
  unsigned shift = 23 - format.fraction_bits;
  Value bits = l.Bitcast(value, l.I32());
  Value magnitude = And(l, bits, 0x7fffffff);
  uint64_t rebias = static_cast<uint64_t>(127 - format.bias)
                    << format.fraction_bits;
  Value normal = l.Create<arith::SubIOp>(
      ShiftRight(l, RoundToEven(l, magnitude, shift), shift),
      l.ConstantInt(32, rebias));
  int smallest = 1 - format.bias - static_cast<int>(format.fraction_bits);
  uint64_t magic = static_cast<uint64_t>(127 + smallest + 23) << 23;
  mlir::Type f32 = l.TypeOf(Type::kF32);
  Value sum = l.Create<hetir::FAddOp>(l.Bitcast(magnitude, f32),
                                      l.Constant(f32, magic));
  Value subnormal = And(l, l.Bitcast(sum, l.I32()), 0xff);
  Value small = Compare(
      l, Predicate::ult, magnitude,
      l.ConstantInt(32, static_cast<uint64_t>(128 - format.bias) << 23));
  Value code = l.Select(small, subnormal, normal);
  code = l.Create<arith::MinUIOp>(code, l.ConstantInt(32, format.largest));
  Value sign = And(l, ShiftRight(l, bits, 24), 0x80);
  if (l.Has(Flag::kRelu)) {
    Value negative = Compare(l, Predicate::ne, sign, l.ConstantInt(32, 0));
    code = l.Select(negative, l.ConstantInt(32, 0), code);
    sign = l.ConstantInt(32, 0);
  }
  code = l.Create<arith::OrIOp>(code, sign);
  Value nan = Compare(l, Predicate::ugt, magnitude,
                      l.ConstantInt(32, kInfinity));
  return l.Resize(l.Select(nan, l.ConstantInt(32, format.nan), code), 8, false);
}

// e5m2 is the upper half of an f16. e4m3 put in the f16 fields reads as a
// value 256 times too small, subnormals included.
Value FromFloat8(Lowering& l, Value value, Type source) {
  Value wide = l.Resize(value, 16, false);
  Value high = l.Create<arith::ShLIOp>(wide, l.ConstantInt(16, 8));
  mlir::Type f16 = l.TypeOf(Type::kF16);
  if (source == Type::kE5m2) return l.Bitcast(high, f16);
  Value magnitude = And(l, wide, 0x7f);
  Value fields =
      l.Create<arith::ShLIOp>(magnitude, l.ConstantInt(16, 7));
  Value scaled = l.Create<hetir::FMulOp>(l.Bitcast(fields, f16),
                                         l.Constant(f16, 0x5c00));
  Value with_sign = l.Create<arith::OrIOp>(l.Bitcast(scaled, l.Int(16)),
                                           And(l, high, 0x8000));
  Value nan = Compare(l, Predicate::eq, magnitude, l.ConstantInt(16, 0x7f));
  return l.Bitcast(l.Select(nan, l.ConstantInt(16, 0x7fff), with_sign), f16);
}

Value SaturateToFinite(Lowering& l, Value value) {
  mlir::Type type = value.getType();
  uint64_t infinity = type.isF16() ? 0x7c00 : 0x7f80;
  Value bits = l.Bitcast(value, l.Int(16));
  Value infinite = Compare(l, Predicate::eq, And(l, bits, 0x7fff),
                           l.ConstantInt(16, infinity));
  Value largest = l.Create<arith::SubIOp>(bits, l.ConstantInt(16, 1));
  return l.Bitcast(l.Select(infinite, largest, bits), type);
}

}  // namespace hetgpu::ptx
