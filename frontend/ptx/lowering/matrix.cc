#include "frontend/ptx/lowering/matrix.h"

#include <algorithm>

#include "frontend/ptx/lowering/small_floats.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

constexpr uint64_t kAllLanes = 0xffffffff;
constexpr uint64_t kWholeWarp = 0x1f;          // shuffle clamp
constexpr uint64_t kGroupsOfFour = 0x1c1f;

bool IsFloat8(Type type) { return type == Type::kE4m3 || type == Type::kE5m2; }

bool IsMatrixFloat(Type type) {
  return IsFloatValue(type) || type == Type::kTf32 || IsFloat8(type);
}

Value Shuffle(Lowering& l, Value value, Value lane, uint64_t clamp) {
  return l
      .Create<hetir::ShuffleOp>(l.I32(), l.I1(), hetir::ShuffleMode::idx, value,
                                lane, l.ConstantInt(32, clamp),
                                l.ConstantInt(32, kAllLanes), Value())
      .getResult();
}

Value ShuffleAnySize(Lowering& l, Value value, Value lane, uint64_t clamp) {
  if (value.getType() == l.I32()) return Shuffle(l, value, lane, clamp);
  Value low = Shuffle(l, l.Extract(value, 0, l.I32()), lane, clamp);
  Value high = Shuffle(l, l.Extract(value, 1, l.I32()), lane, clamp);
  return l.Concat({low, high});
}

Value And(Lowering& l, Value a, uint64_t mask) {
  return l.Create<arith::AndIOp>(a, l.ConstantInt(32, mask));
}

Value ShiftLeft(Lowering& l, Value a, unsigned amount) {
  return l.Create<arith::ShLIOp>(a, l.ConstantInt(32, amount));
}

Value Widen(Lowering& l, Value half) {
  return l.Create<hetir::CvtOp>(l.TypeOf(Type::kF32), half);
}

// What MultiplyAdd takes: floats one by one; integers four in a register, where
// 4-bit ones stand in the upper halves of bytes (16 times their value).
Values Unpack(Lowering& l, Value reg, Type type) {
  mlir::Type f32 = l.TypeOf(Type::kF32);
  switch (type) {
    case Type::kF16:
      return {Widen(l, l.Extract(reg, 0, l.TypeOf(Type::kF16))),
              Widen(l, l.Extract(reg, 1, l.TypeOf(Type::kF16)))};
    case Type::kBf16:
      return {l.Bitcast(ShiftLeft(l, reg, 16), f32),
              l.Bitcast(And(l, reg, 0xffff0000), f32)};
    case Type::kTf32:
      return {l.Bitcast(And(l, reg, 0xffffe000), f32)};
    case Type::kE4m3:
    case Type::kE5m2: {
      Values elements;
      for (unsigned i = 0; i < 4; ++i) {
        elements.push_back(
            Widen(l, FromFloat8(l, l.Extract(reg, i, l.Int(8)), type)));
      }
      return elements;
    }
    case Type::kF64:
      return {l.Bitcast(reg, l.TypeOf(Type::kF64))};
    case Type::kS4:
    case Type::kU4:
      return {And(l, ShiftLeft(l, reg, 4), 0xf0f0f0f0),
              And(l, reg, 0xf0f0f0f0)};
    default:
      return {reg};
  }
}

Value MultiplyAdd(Lowering& l, const MatrixProduct& product, Value a, Value b,
                  Value sum) {
  if (IsMatrixFloat(product.a)) {
    return l.Create<hetir::FFmaOp>(a, b, sum);
  }
  if (product.a == Type::kB1) {
    Value bits = l.mods().operation == Operation::kXor
                     ? Value(l.Create<arith::XOrIOp>(a, b))
                     : Value(l.Create<arith::AndIOp>(a, b));
    return l.Create<arith::AddIOp>(sum,
                                   l.Create<hetir::PopcOp>(l.I32(), bits));
  }
  return l.Create<hetir::Dp4aOp>(a, b, sum, IsSigned(product.a),
                                 IsSigned(product.b));
}

// The sum before the first product: floats start from c.
Value FirstSum(Lowering& l, const MatrixProduct& product, Value c) {
  if (!IsMatrixFloat(product.a)) return l.ConstantInt(32, 0);
  return product.c == Type::kF16 ? Widen(l, c) : c;
}

Value LastSum(Lowering& l, const MatrixProduct& product, Value sum, Value c) {
  if (IsMatrixFloat(product.a)) {
    if (product.d != Type::kF16) return sum;
    return l.Create<hetir::CvtOp>(l.TypeOf(Type::kF16), sum);
  }
  if (TypeBits(product.a) == 4) {
    sum = l.Create<arith::ShRSIOp>(sum, l.ConstantInt(32, 8));
  }
  if (l.Has(Flag::kSatfinite)) {
    return l.Create<hetir::AddSatOp>(sum, c, true);
  }
  return l.Create<arith::AddIOp>(sum, c);
}

// Per register the unpacked elements of the four lanes that share its rows
// (columns), in order of k.
using Gathered = std::vector<Values>;

// From the lanes of this lane's group of four.
Gathered GatherRows(Lowering& l, const Values& registers, Type type) {
  Gathered gathered;
  for (Value reg : registers) {
    Values& elements = gathered.emplace_back();
    for (unsigned t = 0; t < 4; ++t) {
      Value other =
          ShuffleAnySize(l, reg, l.ConstantInt(32, t), kGroupsOfFour);
      for (Value element : Unpack(l, other, type)) elements.push_back(element);
    }
  }
  return gathered;
}

// From the lanes that hold column 2 t + `pair` of a block.
Gathered GatherColumns(Lowering& l, const Values& registers, Type type,
                       unsigned pair) {
  Value first = ShiftLeft(l, And(l, LaneId(l), 3), 3);
  Gathered gathered;
  for (Value reg : registers) {
    Values& elements = gathered.emplace_back();
    for (unsigned t = 0; t < 4; ++t) {
      Value lane =
          l.Create<arith::AddIOp>(first, l.ConstantInt(32, 4 * pair + t));
      Value other = ShuffleAnySize(l, reg, lane, kWholeWarp);
      for (Value element : Unpack(l, other, type)) elements.push_back(element);
    }
  }
  return gathered;
}

}  // namespace

unsigned ElementsPerRegister(Type type) {
  return type == Type::kF64 ? 1 : 32 / TypeBits(type);
}

bool Describe(Lowering& l, Type a, Type b, Type c, Type d,
              MatrixProduct* product) {
  MatrixShape shape = l.mods().shape;
  unsigned block = 4 * ElementsPerRegister(a);
  bool fits = shape.m % 8 == 0 && shape.n % 8 == 0 && shape.k % block == 0 &&
              shape.k != 0 && TypeBits(a) == TypeBits(b);
  bool known = IsMatrixFloat(a) == IsMatrixFloat(b) &&
               (IsMatrixFloat(a) || IsInteger(a) || a == Type::kB1);
  if (!fits || !known) {
    l.Refuse(Cat("product of ", TypeName(a), " and ", TypeName(b),
                 " in this shape"));
    return false;
  }
  *product = {a, b, c, d, shape.m / 8u, shape.n / 8u, shape.k / block};
  return true;
}

Values ReadFragment(Lowering& l, const Operand& operand, Type type) {
  Values registers;
  for (const Operand& element : l.Elements(operand)) {
    registers.push_back(
        l.Read(element, type == Type::kF64 ? Type::kB64 : Type::kB32));
  }
  return registers;
}

void WriteFragment(Lowering& l, const Operand& operand, const Values& registers,
                   Type type) {
  Type storage = type == Type::kF64 ? Type::kB64 : Type::kB32;
  std::vector<Operand> elements = l.Elements(operand);
  if (elements.size() < registers.size()) {
    return l.Fail(absl::StatusCode::kInvalidArgument,
                  Cat("expected ", registers.size(),
                      " registers in the fragment, found ", elements.size()));
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    Value value =
        i < registers.size() ? registers[i] : l.Zero(l.TypeOf(storage));
    l.Write(elements[i], value, storage);
  }
}

Values ElementsOfAccumulator(Lowering& l, const Values& registers, Type type) {
  Values elements;
  for (Value reg : registers) {
    if (type != Type::kF16) {
      elements.push_back(l.Bitcast(reg, l.TypeOf(type)));
      continue;
    }
    elements.push_back(l.Extract(reg, 0, l.TypeOf(type)));
    elements.push_back(l.Extract(reg, 1, l.TypeOf(type)));
  }
  return elements;
}

Values RegistersOfAccumulator(Lowering& l, const Values& elements, Type type) {
  Values registers;
  if (type != Type::kF16) {
    unsigned bits = TypeBits(type);
    for (Value e : elements) registers.push_back(l.Bitcast(e, l.Int(bits)));
    return registers;
  }
  for (size_t i = 0; i < elements.size(); i += 2) {
    registers.push_back(l.Concat({elements[i], elements[i + 1]}));
  }
  return registers;
}

Values Multiply(Lowering& l, const MatrixProduct& p, const Values& a,
                const Values& b, const Values& c) {
  size_t outputs = size_t{p.column_blocks} * p.row_blocks * 2;
  if (a.size() < size_t{p.k_blocks} * p.row_blocks ||
      b.size() < size_t{p.k_blocks} * p.column_blocks || c.size() != outputs) {
    l.Fail(absl::StatusCode::kInvalidArgument,
           "number of registers in a fragment does not fit the shape");
    return {};
  }
  Gathered rows = GatherRows(l, a, p.a);
  Gathered columns[2] = {GatherColumns(l, b, p.b, 0),
                         GatherColumns(l, b, p.b, 1)};
  Values results;
  for (unsigned nb = 0; nb < p.column_blocks; ++nb) {
    for (unsigned rb = 0; rb < p.row_blocks; ++rb) {
      for (const Gathered& column : columns) {
        Value addend = c[results.size()];
        Value sum = FirstSum(l, p, addend);
        for (unsigned kb = 0; kb < p.k_blocks; ++kb) {
          const Values& x = rows[kb * p.row_blocks + rb];
          const Values& y = column[nb * p.k_blocks + kb];
          for (size_t i = 0; i < x.size(); ++i) {
            sum = MultiplyAdd(l, p, x[i], y[i], sum);
          }
        }
        results.push_back(LastSum(l, p, sum, addend));
      }
    }
  }
  return results;
}

Value ReadLane(Lowering& l, Value value, Value lane) {
  return ShuffleAnySize(l, value, lane, kWholeWarp);
}

Value LaneId(Lowering& l) {
  return l.Create<hetir::SpecialRegisterOp>(l.I32(),
                                            hetir::SpecialRegister::laneid);
}

}  // namespace hetgpu::ptx
