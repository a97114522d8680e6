// vector: building and taking apart vectors (packed pairs, warps of lanes).
// Positions given at run time wrap at the length, so that none is out of
// range.
#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/op_table.h"
#include "hetir/dialect/HetIR.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace hetgpu::llvm_ir {
namespace {

namespace vector = mlir::vector;

unsigned LengthOf(llvm::Value* value) {
  return llvm::cast<llvm::FixedVectorType>(value->getType())
      ->getNumElements();
}

llvm::Value* SafePosition(Ir& ir, llvm::Value* position, unsigned length) {
  if (llvm::isa<llvm::ConstantInt>(position)) return position;
  return ir.CreateURem(position, Int(position->getType(), length));
}

llvm::Value* EmitBroadcast(Emitter& e, vector::BroadcastOp op) {
  llvm::Value* source = e.Get(op.getSource());
  if (source->getType()->isVectorTy()) return source;
  return e.ir().CreateVectorSplat(
      op.getResultVectorType().getNumElements(), source);
}
llvm::Value* EmitSplat(Emitter& e, vector::SplatOp op) {
  auto type = mlir::cast<mlir::VectorType>(op.getAggregate().getType());
  return e.ir().CreateVectorSplat(type.getNumElements(),
                                  e.Get(op.getInput()));
}

// Static or dynamic position; a scalar or (length one prefix) the whole.
template <typename Op>
absl::StatusOr<llvm::Value*> Position(Emitter& e, Op op, llvm::Value* source) {
  if (op.getNumIndices() != 1) return ErrorAt(op, "expected one position");
  if (op.hasDynamicPosition()) {
    return SafePosition(e.ir(), e.Get(op.getDynamicPosition().front()),
                        LengthOf(source));
  }
  return e.ir().getInt64(op.getStaticPosition().front());
}

absl::StatusOr<llvm::Value*> EmitExtract(Emitter& e, vector::ExtractOp op) {
  llvm::Value* source = e.Get(op.getVector());
  absl::StatusOr<llvm::Value*> position = Position(e, op, source);
  if (!position.ok()) return position;
  return e.ir().CreateExtractElement(source, *position);
}
absl::StatusOr<llvm::Value*> EmitInsert(Emitter& e, vector::InsertOp op) {
  llvm::Value* target = e.Get(op.getDest());
  absl::StatusOr<llvm::Value*> position = Position(e, op, target);
  if (!position.ok()) return position;
  return e.ir().CreateInsertElement(target, e.Get(op.getSource()), *position);
}
absl::StatusOr<llvm::Value*> EmitExtractElement(Emitter& e,
                                                vector::ExtractElementOp op) {
  if (!op.getPosition()) return ErrorAt(op, "expected a position");
  llvm::Value* source = e.Get(op.getVector());
  return e.ir().CreateExtractElement(
      source,
      SafePosition(e.ir(), e.Get(op.getPosition()), LengthOf(source)));
}
absl::StatusOr<llvm::Value*> EmitInsertElement(Emitter& e,
                                               vector::InsertElementOp op) {
  if (!op.getPosition()) return ErrorAt(op, "expected a position");
  llvm::Value* target = e.Get(op.getDest());
  return e.ir().CreateInsertElement(
      target, e.Get(op.getSource()),
      SafePosition(e.ir(), e.Get(op.getPosition()), LengthOf(target)));
}

// `from_elements`: all elements at once.
llvm::Value* EmitFromElements(Emitter& e, vector::FromElementsOp op) {
  llvm::Value* result =
      llvm::PoisonValue::get(e.TypeOf(op.getResult()));  // fully replaced
  for (auto [i, element] : llvm::enumerate(op.getElements())) {
    result = e.ir().CreateInsertElement(result, e.Get(element), i);
  }
  return result;
}

llvm::Value* EmitBitcast(Emitter& e, vector::BitCastOp op) {
  return e.ir().CreateBitCast(e.Get(op.getSource()),
                              e.TypeOf(op.getResult()));
}

// The second operand is brought to the length of the first.
llvm::Value* EmitShuffle(Emitter& e, vector::ShuffleOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getV1());
  llvm::Value* b = e.Get(op.getV2());
  unsigned length = std::max(LengthOf(a), LengthOf(b));
  unsigned a_length = LengthOf(a);
  auto extend = [&](llvm::Value* value) {
    llvm::SmallVector<int> lanes;
    for (unsigned i = 0; i < length; ++i) {
      lanes.push_back(i < LengthOf(value) ? i : 0);
    }
    return LengthOf(value) == length ? value
                                     : ir.CreateShuffleVector(value, lanes);
  };
  llvm::SmallVector<int> mask;
  for (mlir::Attribute position : op.getMask()) {
    unsigned lane = mlir::cast<mlir::IntegerAttr>(position).getInt();
    mask.push_back(lane < a_length ? lane : lane - a_length + length);
  }
  return ir.CreateShuffleVector(extend(a), extend(b), mask);
}

llvm::Value* EmitStep(Emitter& e, vector::StepOp op) {
  llvm::SmallVector<uint64_t> values;
  auto type = mlir::cast<mlir::VectorType>(op.getType());
  for (int64_t i = 0; i < type.getNumElements(); ++i) values.push_back(i);
  return llvm::ConstantDataVector::get(e.context(), values);
}

absl::StatusOr<llvm::Value*> EmitReduction(Emitter& e,
                                           vector::ReductionOp op) {
  Ir& ir = e.ir();
  llvm::Value* source = e.Get(op.getVector());
  if (!source->getType()->getScalarType()->isIntegerTy() || op.getAcc()) {
    return ErrorAt(op, "expected an integer reduction without accumulator");
  }
  switch (op.getKind()) {
    case vector::CombiningKind::ADD: return ir.CreateAddReduce(source);
    case vector::CombiningKind::MUL: return ir.CreateMulReduce(source);
    case vector::CombiningKind::AND: return ir.CreateAndReduce(source);
    case vector::CombiningKind::OR: return ir.CreateOrReduce(source);
    case vector::CombiningKind::XOR: return ir.CreateXorReduce(source);
    case vector::CombiningKind::MINSI:
      return ir.CreateIntMinReduce(source, true);
    case vector::CombiningKind::MAXSI:
      return ir.CreateIntMaxReduce(source, true);
    case vector::CombiningKind::MINUI:
      return ir.CreateIntMinReduce(source, false);
    case vector::CombiningKind::MAXUI:
      return ir.CreateIntMaxReduce(source, false);
    default: return ErrorAt(op, "no such integer reduction");
  }
}

}  // namespace

void AddVectorOps(OpTable& table) {
  table.Value<vector::BroadcastOp, EmitBroadcast>();
  table.Value<vector::SplatOp, EmitSplat>();
  table.Fallible<vector::ExtractOp, EmitExtract>();
  table.Fallible<vector::InsertOp, EmitInsert>();
  table.Fallible<vector::ExtractElementOp, EmitExtractElement>();
  table.Fallible<vector::InsertElementOp, EmitInsertElement>();
  table.Value<vector::FromElementsOp, EmitFromElements>();
  table.Value<vector::BitCastOp, EmitBitcast>();
  table.Value<vector::ShuffleOp, EmitShuffle>();
  table.Value<vector::StepOp, EmitStep>();
  table.Fallible<vector::ReductionOp, EmitReduction>();
}

}  // namespace hetgpu::llvm_ir
