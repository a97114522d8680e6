// Which vectors of lanes are arithmetic progressions, half by half: lane i of
// the first 16 holds low + i * stride, lane 16 + i holds high + i * stride, and
// stride is a constant. Halves, because blocks with rows of 16 threads are as
// common as longer ones. Addresses of that form make loads and stores
// contiguous (or uniform, with stride zero).
//
// The stride is found before emission, optimistically around loops. `low` and
// `high` are emitted next to the vector as scalars that follow the same
// operations; what nobody uses is deleted by LLVM. Some steps hold only under conditions
// known at run time (the shape of the block, an index that does not wrap):
// these are collected in `valid`, an i1 that is null when nothing can fail.
#ifndef HETGPU_BACKENDS_LLVM_IR_LANE_FORMS_H_
#define HETGPU_BACKENDS_LLVM_IR_LANE_FORMS_H_

#include <optional>
#include <utility>

#include "backends/llvm_ir/lane_classes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"

namespace hetgpu::llvm_ir {

class Emitter;

struct LaneForm {
  llvm::Value* low = nullptr;   // lane 0
  llvm::Value* high = nullptr;  // lane 16
  int64_t stride = 0;
  llvm::Value* valid = nullptr;
};

class LaneForms {
 public:
  // Finds the strides of a function's values.
  explicit LaneForms(mlir::Region& region);

  // Makes the scalar arguments of a block; the insertion point is in it.
  void AddArguments(Emitter& emitter, mlir::Block& block);
  // Records that a branch from the current block passes `value`.
  void AddIncoming(Emitter& emitter, mlir::Value parameter, mlir::Value value);
  // Emits the forms of an op's results; called after the op was emitted.
  void Record(Emitter& emitter, mlir::Operation* op);

  // Form of a value that was emitted; scalars have stride zero.
  std::optional<LaneForm> Find(Emitter& emitter, mlir::Value value) const;

  // The lanes of `value` for code that rarely runs and serves `user`: a vector
  // that other accesses use, too, and what to add to each lane (null: nothing).
  std::pair<llvm::Value*, llvm::Value*> Rebuild(Emitter& emitter,
                                                mlir::Value value,
                                                mlir::Operation* user);

 private:
  std::optional<LaneForm> FormOfResult(Emitter& emitter, mlir::Operation* op,
                                       int64_t stride);

  LaneClasses classes_;
  llvm::DenseMap<mlir::Value, int64_t> strides_;
  llvm::DenseMap<mlir::Value, LaneForm> forms_;
};

// Sum of two forms, and conditions joined.
LaneForm AddForms(llvm::IRBuilder<>& ir, const LaneForm& a, const LaneForm& b);
llvm::Value* AndConditions(llvm::IRBuilder<>& ir, llvm::Value* a,
                           llvm::Value* b);
// The form of the zero-extended (sign-extended) lanes.
LaneForm ExtendForm(llvm::IRBuilder<>& ir, const LaneForm& form,
                    llvm::Type* type, bool is_signed);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_FORMS_H_
