// Which vectors of lanes differ by one amount for all lanes. Many an access has
// such an index, and needs it as a vector only in code that rarely runs: it comes
// there from another vector of its class, so that one stays in registers and not
// each of them.
//
// A class is a sum of products: of vectors that are taken as they are with what
// is one value for all lanes. Summands that are one value for all lanes are
// left out.
#ifndef HETGPU_BACKENDS_LLVM_IR_LANE_CLASSES_H_
#define HETGPU_BACKENDS_LLVM_IR_LANE_CLASSES_H_

#include <map>
#include <memory>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Region.h"

namespace hetgpu::llvm_ir {

class LaneClasses {
 public:
  explicit LaneClasses(mlir::Region& region);

  // A value of the class of `value` that dominates `user`: the same one for
  // users that share a class, where possible. `value` itself, if need be.
  mlir::Value Representative(mlir::Value value, mlir::Operation* user);

 private:
  mlir::DominanceInfo dominance_;
  llvm::DenseMap<mlir::Value, unsigned> classes_;
  llvm::DenseMap<unsigned, std::vector<mlir::Value>> representatives_;
};

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_CLASSES_H_
