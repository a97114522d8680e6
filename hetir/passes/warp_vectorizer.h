// The rewriting behind simt-to-simd; its design stands in simt_to_simd.cc.
#ifndef HETGPU_HETIR_PASSES_WARP_VECTORIZER_H_
#define HETGPU_HETIR_PASSES_WARP_VECTORIZER_H_

#include "hetir/analysis/warp_uniformity.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace hetgpu::hetir {

// Rewrites one kernel in place. On failure an error was emitted that says why,
// and the kernel is unusable.
class WarpVectorizer {
 public:
  static constexpr int64_t kLanes = 32;

  explicit WarpVectorizer(KernelOp kernel)
      : kernel_(kernel), uniformity_(kernel) {}

  mlir::LogicalResult Run();

 private:
  using LogicalResult = mlir::LogicalResult;
  using OpBuilder = mlir::OpBuilder;
  using Operation = mlir::Operation;
  using Type = mlir::Type;
  using Value = mlir::Value;

  LogicalResult Check();
  LogicalResult CheckOp(Operation* op);

  LogicalResult ConvertBlock(mlir::Block& block, OpBuilder& b, Value mask);
  LogicalResult ConvertOp(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertMemory(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertCollective(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertPlain(Operation* op, OpBuilder& b);
  LogicalResult ConvertSerial(Operation* op, OpBuilder& b, Value mask);
  LogicalResult ConvertIf(mlir::scf::IfOp op, OpBuilder& b, Value mask);
  LogicalResult ConvertSwitch(mlir::scf::IndexSwitchOp op, OpBuilder& b,
                              Value mask);
  LogicalResult ConvertWhile(mlir::scf::WhileOp op, OpBuilder& b, Value mask);
  LogicalResult ConvertDivergentWhile(mlir::scf::WhileOp op, OpBuilder& b,
                                      Value mask);
  LogicalResult UniformBranch(Operation* op, OpBuilder& b, Value mask);
  // Runs `region` under `mask` when any lane is in it; `values` are its yields
  // as vectors, zero when skipped.
  LogicalResult MaskedRegion(mlir::Region& region, OpBuilder& b, Value mask,
                             mlir::Location location,
                             llvm::SmallVector<Value>& values);

  bool Varies(Value value) const { return uniformity_.IsVarying(value); }
  Type NewType(Value value) const {
    return Varies(value) ? VectorOf(value.getType()) : value.getType();
  }
  static Type VectorOf(Type type) {
    return mlir::VectorType::get({kLanes}, type);
  }
  Value Scalar(Value old) const { return map_.lookup(old); }
  Value Vector(Value old, OpBuilder& b, mlir::Location location) {
    return Broadcast(map_.lookup(old), b, location);
  }
  static Value Broadcast(Value value, OpBuilder& b, mlir::Location location) {
    if (mlir::isa<mlir::VectorType>(value.getType())) return value;
    return b.create<mlir::vector::BroadcastOp>(
        location, VectorOf(value.getType()), value);
  }
  Value Zero(Type type, OpBuilder& b, mlir::Location location) {
    return b.create<mlir::arith::ConstantOp>(location, b.getZeroAttr(type));
  }
  Value Any(Value mask, OpBuilder& b, mlir::Location location) {
    Value bits = b.create<MaskBitsOp>(location, b.getI32Type(), mask);
    Value zero = Zero(b.getI32Type(), b, location);
    return b.create<mlir::arith::CmpIOp>(
        location, mlir::arith::CmpIPredicate::ne, bits, zero);
  }
  Value Not(Value mask, OpBuilder& b, mlir::Location location) {
    Value ones = b.create<mlir::arith::ConstantOp>(
        location, mlir::DenseElementsAttr::get(
                      mlir::cast<mlir::ShapedType>(mask.getType()), true));
    return b.create<mlir::arith::XOrIOp>(location, mask, ones);
  }
  void MapResults(Operation* from, mlir::ValueRange to) {
    for (auto [old, value] : llvm::zip(from->getResults(), to)) {
      map_[old] = value;
    }
  }

  KernelOp kernel_;
  WarpUniformity uniformity_;
  llvm::DenseMap<Value, Value> map_;
};

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_PASSES_WARP_VECTORIZER_H_
