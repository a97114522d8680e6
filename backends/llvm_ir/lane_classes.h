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
#include <optional>
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

  // The first value of the class of `value`, when `value` is another one that
  // it dominates; else null.
  mlir::Value Leader(mlir::Value value);
  // Whether others have this one as leader.
  bool IsLeader(mlir::Value value) const;

  // A vector that is taken as it is, times a constant.
  struct Product {
    mlir::Value vector;
    int64_t factor = 1;
  };
  // The lanes of `value`, but for a summand that they have in common, when they
  // are such a product of a vector that dominates `user`.
  std::optional<Product> ProductOf(mlir::Value value, mlir::Operation* user);

 private:
  // By class.
  llvm::DenseMap<unsigned, Product> products_;
  mlir::DominanceInfo dominance_;
  llvm::DenseMap<mlir::Value, unsigned> classes_;
  // By class of several values: the first in reverse post order.
  llvm::DenseMap<unsigned, mlir::Value> leaders_;
  llvm::DenseMap<unsigned, std::vector<mlir::Value>> representatives_;
};

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_CLASSES_H_
