// Which values may differ between the lanes of a warp.
//
// Works on structured control flow (after lift-to-scf). A value is *varying*
// when two lanes that execute its definition together may see different
// values; everything else is *uniform*. Sources of variation: thread and lane
// ids, loads at varying addresses, atomics, local memory, and merges under
// varying control: results of an scf.if or scf.index_switch whose selector
// varies, and results of a loop whose lanes leave at different trips.
#ifndef HETGPU_HETIR_ANALYSIS_WARP_UNIFORMITY_H_
#define HETGPU_HETIR_ANALYSIS_WARP_UNIFORMITY_H_

#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/DenseSet.h"

namespace hetgpu::hetir {

class WarpUniformity {
 public:
  explicit WarpUniformity(KernelOp kernel);

  bool IsVarying(mlir::Value value) const { return varying_.contains(value); }
  // Whether the lanes that enter a structured op may take different ways
  // through it.
  bool IsDivergent(mlir::Operation* op) const;

 private:
  bool Visit(mlir::Operation* op);  // true when something changed
  bool VisitIf(mlir::Operation* op);
  bool VisitWhile(mlir::Operation* op);
  bool AnyVarying(mlir::ValueRange values) const;
  bool Mark(mlir::Value value);
  bool MarkAll(mlir::ValueRange values);

  llvm::DenseSet<mlir::Value> varying_;
};

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_ANALYSIS_WARP_UNIFORMITY_H_
