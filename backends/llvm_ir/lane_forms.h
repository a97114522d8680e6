// Which vectors of lanes are arithmetic progressions, half by half: lane i of
// the first 16 holds low + i * stride, lane 16 + i holds high + i * stride, and
// stride is a constant. Halves, because blocks with rows of 16 threads are as
// common as longer ones. Addresses of that form make loads and stores
// contiguous (or uniform, with stride zero).
//
// The stride is found before emission, optimistically around loops. `low` and
// `high` are emitted next to the vector as scalars that follow the same
// operations; what nobody uses is deleted by LLVM. Some steps hold only under
// conditions known at run time, i1 each, null when nothing can fail: `valid`
// collects those that many accesses share and that hold for long (the shape of
// the block), `in_range` those of the lanes' values (an index that does not
// wrap).
//
// Of the values of a class (lane_classes.h) only the leader is followed twice:
// it is as far from lane 0 to lane 16 in the others, and what makes the leader
// a progression makes them one.
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
  llvm::Value* in_range = nullptr;
};

// Lanes as `base + lanes * scale`; a sign extension to the width of the base is
// implied. `more`, of the width of the lanes, is to be added to each of them.
struct LaneSum {
  llvm::Value* base = nullptr;  // or null
  llvm::Value* lanes = nullptr;
  llvm::Value* more = nullptr;  // or null
  int64_t scale = 1;
};

class LaneForms {
 public:
  // Finds the strides of a function's values.
  explicit LaneForms(mlir::Region& region);

  // Makes the scalar arguments of a block; the insertion point is in it.
  void AddArguments(Emitter& emitter, mlir::Block& block);
  // Completes their forms; called when the blocks that dominate it were
  // emitted.
  void BeginBlock(Emitter& emitter, mlir::Block& block);
  // Records that a branch from the current block passes `value`.
  void AddIncoming(Emitter& emitter, mlir::Value parameter, mlir::Value value);
  // Emits the forms of an op's results; called after the op was emitted.
  void Record(Emitter& emitter, mlir::Operation* op);

  // Form of a value that was emitted; scalars have stride zero.
  std::optional<LaneForm> Find(Emitter& emitter, mlir::Value value) const;

  // The lanes of `value` for code that rarely runs and serves `user`: from a
  // vector that other accesses use, too. With `narrow`, that may be one whose
  // extension `value` is made of.
  LaneSum Rebuild(Emitter& emitter, mlir::Value value, mlir::Operation* user,
                  bool narrow);

 private:
  std::optional<LaneForm> FormOfResult(Emitter& emitter, mlir::Operation* op,
                                       int64_t stride);
  mlir::Value LeaderOf(mlir::Value value);
  // Emits what others need to follow a leader.
  void RecordLeader(Emitter& emitter, mlir::Value value);
  // `form`, of a value of which only lane 0 is known.
  void FollowLeader(Emitter& emitter, mlir::Value leader, LaneForm& form);
  std::optional<LaneSum> RebuildNarrow(Emitter& emitter, mlir::Value value,
                                       mlir::Operation* user);

  LaneClasses classes_;
  llvm::DenseMap<mlir::Value, int64_t> strides_;
  llvm::DenseMap<mlir::Value, LaneForm> forms_;
  // Of leaders: lane 16 less lane 0.
  llvm::DenseMap<mlir::Value, llvm::Value*> distances_;
};

// Sum of two forms, and conditions joined.
LaneForm AddForms(llvm::IRBuilder<>& ir, const LaneForm& a, const LaneForm& b);
llvm::Value* AndConditions(llvm::IRBuilder<>& ir, llvm::Value* a,
                           llvm::Value* b);
// All conditions of a form.
llvm::Value* ConditionOf(llvm::IRBuilder<>& ir, const LaneForm& form);
// The form of the zero-extended (sign-extended) lanes.
LaneForm ExtendForm(llvm::IRBuilder<>& ir, const LaneForm& form,
                    llvm::Type* type, bool is_signed);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_FORMS_H_
