// Reading and writing operands, and the small values around them.
#include <algorithm>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/special_registers.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {

Type ElementOf(Type type) {
  switch (type) {
    case Type::kF16x2: return Type::kF16;
    case Type::kBf16x2: return Type::kBf16;
    case Type::kF32x2: return Type::kF32;
    case Type::kU16x2: return Type::kU16;
    case Type::kS16x2: return Type::kS16;
    default: return type;
  }
}

bool IsFloatValue(Type type) {
  return IsFloat(type) || type == Type::kBf16;
}

hetir::Rounding RoundingOf(const Modifiers& modifiers) {
  if (modifiers.Has(Flag::kApprox)) return hetir::Rounding::approx;
  if (modifiers.Has(Flag::kFull)) return hetir::Rounding::full;
  switch (modifiers.rounding) {
    case Rounding::kRz: return hetir::Rounding::rz;
    case Rounding::kRm: return hetir::Rounding::rm;
    case Rounding::kRp: return hetir::Rounding::rp;
    case Rounding::kRna: return hetir::Rounding::rna;
    case Rounding::kRni: return hetir::Rounding::rni;
    case Rounding::kRzi: return hetir::Rounding::rzi;
    case Rounding::kRmi: return hetir::Rounding::rmi;
    case Rounding::kRpi: return hetir::Rounding::rpi;
    case Rounding::kNone:
    case Rounding::kRn:
    case Rounding::kRs: return hetir::Rounding::rn;
  }
  return hetir::Rounding::rn;
}

mlir::Type Lowering::TypeOf(Type type) {
  switch (type) {
    case Type::kF16: return builder_.getF16Type();
    case Type::kBf16: return builder_.getBF16Type();
    case Type::kF32: return builder_.getF32Type();
    case Type::kF64: return builder_.getF64Type();
    default: return Int(std::max(1u, TypeBits(type)));
  }
}

mlir::Type Lowering::StorageOf(Type type) {
  if (type == Type::kF16 || type == Type::kBf16) return Int(16);
  return TypeOf(type);
}

std::vector<Operand> Lowering::Elements(const Operand& operand) const {
  if (operand.kind != OperandKind::kVector) return {operand};
  auto children = body_.Children(operand);
  return {children.begin(), children.end()};
}

Value Lowering::ReadRaw(const Operand& operand) {
  Value value = ReadVariable(operand.index);
  return operand.negated ? Not(value) : value;
}

Value Lowering::Read(const Operand& operand, Type type) {
  mlir::Type target = TypeOf(type);
  switch (operand.kind) {
    case OperandKind::kRegister: {
      Value value = ReadRaw(operand);
      unsigned have = value.getType().getIntOrFloatBitWidth();
      unsigned want = target.getIntOrFloatBitWidth();
      if (have < want) {
        Fail(absl::StatusCode::kInvalidArgument,
             Cat("expected a register of at least ", want, " bits, found '",
                 body_.RegisterName(operand.index), "' of ", have));
        return Zero(target);
      }
      if (have > want) value = Resize(value, want, false);
      return Bitcast(value, target);
    }
    case OperandKind::kImmediate:
      return ReadImmediate(operand, type);
    case OperandKind::kSpecial:
      return ReadSpecial(operand, type);
    case OperandKind::kSymbol:
      return Bitcast(SymbolAddress(operand, TypeBits(type)), target);
    case OperandKind::kVector: {  // {a, b}: packed, lowest first
      Values pieces;
      unsigned count = operand.num_children;
      for (const Operand& part : body_.Children(operand)) {
        unsigned bits = TypeBits(type) / count;
        pieces.push_back(Bitcast(Read(part, bits == 8    ? Type::kB8
                                            : bits == 16 ? Type::kB16
                                            : bits == 32 ? Type::kB32
                                                         : Type::kB64),
                                 Int(bits)));
      }
      return Bitcast(Concat(pieces), target);
    }
    default:
      Refuse("unexpected kind of operand");
      return Zero(target);
  }
}

Value Lowering::ReadImmediate(const Operand& operand, Type type) {
  return Constant(TypeOf(type), static_cast<uint64_t>(operand.value));
}

Value Lowering::ReadSpecial(const Operand& operand, Type type) {
  Value value =
      ReadSpecialRegister(*this, static_cast<SpecialRegister>(operand.index));
  if (!value) return Zero(TypeOf(type));
  if (value.getType() != I1()) value = Resize(value, TypeBits(type), false);
  return Bitcast(value, TypeOf(type));
}

Value Lowering::ReadPredicate(const Operand& operand) {
  Value value = Read(operand, Type::kPred);
  bool constant = operand.kind == OperandKind::kImmediate;
  return constant && operand.negated ? Not(value) : value;
}

int64_t Lowering::ReadConstant(const Operand& operand) {
  if (operand.kind != OperandKind::kImmediate) Refuse("expected a constant");
  return operand.value;
}

void Lowering::Write(const Operand& operand, Value value, Type type) {
  if (operand.kind == OperandKind::kSink) return;
  if (operand.kind == OperandKind::kVector) {  // {a, b}: unpacked
    Value bits = Bitcast(value, Int(TypeBits(type)));
    unsigned width = TypeBits(type) / operand.num_children;
    for (unsigned i = 0; i < operand.num_children; ++i) {
      const Operand& part = child(operand, i);
      if (part.kind == OperandKind::kSink) continue;
      uint32_t variable = part.index;
      Value piece = Extract(bits, i, Int(width));
      WriteVariable(variable, Bitcast(piece, variables_[variable].type));
    }
    return;
  }
  if (operand.kind != OperandKind::kRegister) {
    return Refuse("expected a register to write");
  }
  uint32_t variable = operand.index;
  mlir::Type storage = variables_[variable].type;
  unsigned have = value.getType().getIntOrFloatBitWidth();
  unsigned want = storage.getIntOrFloatBitWidth();
  if (have > want) {
    return Fail(absl::StatusCode::kInvalidArgument,
                Cat("expected a destination of at least ", have,
                    " bits, found '", body_.RegisterName(operand.index),
                    "' of ", want));
  }
  if (have < want) {
    value = Resize(Bitcast(value, Int(have)), want, IsSigned(type));
  }
  WriteVariable(variable, Bitcast(value, storage));
}

Value Lowering::ReadCarry() { return ReadVariable(carry_); }
void Lowering::WriteCarry(Value value) { WriteVariable(carry_, value); }

Value Lowering::Constant(mlir::Type type, uint64_t bits) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width < 64) bits &= (uint64_t{1} << width) - 1;
  Value& known = constants_[{type, bits}];
  if (known) return known;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (last_constant_) {
    builder_.setInsertionPointAfter(last_constant_);
  } else {
    builder_.setInsertionPointToStart(blocks_.front());
  }
  llvm::APInt integer(width, bits);
  mlir::TypedAttr attribute;
  if (auto as_float = mlir::dyn_cast<mlir::FloatType>(type)) {
    attribute = mlir::FloatAttr::get(
        type, llvm::APFloat(as_float.getFloatSemantics(), integer));
  } else {
    attribute = mlir::IntegerAttr::get(type, integer);
  }
  auto op = builder_.create<mlir::arith::ConstantOp>(
      LocationOf(function_.location), attribute);
  last_constant_ = op;
  known = op;
  return known;
}

Value Lowering::Bitcast(Value value, mlir::Type type) {
  if (value.getType() == type) return value;
  if (auto cast = value.getDefiningOp<mlir::arith::BitcastOp>()) {
    if (cast.getIn().getType() == type) return cast.getIn();
    value = cast.getIn();
  }
  return Create<mlir::arith::BitcastOp>(type, value);
}

Value Lowering::Resize(Value value, unsigned bits, bool is_signed) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (!value.getType().isInteger(width)) value = Bitcast(value, Int(width));
  if (width == bits) return value;
  if (width > bits) {
    return Create<mlir::arith::TruncIOp>(Int(bits), value);
  }
  if (is_signed) return Create<mlir::arith::ExtSIOp>(Int(bits), value);
  return Create<mlir::arith::ExtUIOp>(Int(bits), value);
}

Value Lowering::Not(Value predicate) {
  unsigned width = predicate.getType().getIntOrFloatBitWidth();
  return Create<mlir::arith::XOrIOp>(predicate, ConstantInt(width, ~0ull));
}

Value Lowering::Select(Value condition, Value yes, Value no) {
  if (yes == no) return yes;
  return Create<mlir::arith::SelectOp>(condition, yes, no);
}

Value Lowering::Extract(Value value, unsigned index, mlir::Type type) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  unsigned part = type.getIntOrFloatBitWidth();
  if (index != 0) {
    value = Create<mlir::arith::ShRUIOp>(value,
                                         ConstantInt(width, index * part));
  }
  return Bitcast(Resize(value, part, false), type);
}

Value Lowering::Concat(mlir::ValueRange pieces) {
  unsigned part = pieces.front().getType().getIntOrFloatBitWidth();
  unsigned width = part * static_cast<unsigned>(pieces.size());
  Value whole;
  for (unsigned i = 0; i < pieces.size(); ++i) {
    Value piece = Resize(pieces[i], width, false);
    if (i != 0) {
      piece =
          Create<mlir::arith::ShLIOp>(piece, ConstantInt(width, i * part));
    }
    whole = whole ? Value(Create<mlir::arith::OrIOp>(whole, piece)) : piece;
  }
  return whole;
}

Value Lowering::Map(Type type, const Values& inputs,
                    const std::function<Value(const Values&)>& fn) {
  Type element = ElementOf(type);
  if (element == type) return fn(inputs);
  Values results;
  for (unsigned half = 0; half < 2; ++half) {
    Values parts;
    for (Value input : inputs) {
      parts.push_back(Extract(input, half, TypeOf(element)));
    }
    results.push_back(fn(parts));
  }
  return Concat(results);
}

void Lowering::MapOperands(Type type, size_t count,
                           const std::function<Value(const Values&)>& fn) {
  Values inputs;
  for (size_t i = 1; i <= count; ++i) inputs.push_back(Read(i, type));
  Write(Map(type, inputs, fn), type);
}

}  // namespace hetgpu::ptx
