// State of the emission of one function: where the next instruction goes, what
// value stands for each hetIR value, and the place for messages. The emit
// functions of the category files (emit_*.cc) get it as their first argument.
#ifndef HETGPU_BACKENDS_LLVM_IR_EMITTER_H_
#define HETGPU_BACKENDS_LLVM_IR_EMITTER_H_

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/llvm_ir/emit.h"
#include "backends/llvm_ir/lane_forms.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace hetgpu::llvm_ir {

struct LaneAccess;
class TargetHooks;

// The LLVM type that holds a value of a hetIR type. f16 and bf16 are held as
// i16 and converted around arithmetic: code generators differ in what they
// make of `half` and `bfloat`. Null for a type that has none.
llvm::Type* StorageType(mlir::Type type, llvm::LLVMContext& context);

// `file:line:col: text` for an op.
absl::Status ErrorAt(mlir::Operation* op, const llvm::Twine& text);

class Emitter {
 public:
  // `module_functions` maps each device function to its LLVM function.
  using FunctionMap = llvm::DenseMap<mlir::Operation*, llvm::Function*>;

  Emitter(mlir::Operation* source, llvm::Function* function,
          const FunctionMap& module_functions, const EmitOptions& options,
          TargetHooks& hooks);

  // Emits the whole body.
  absl::Status EmitBody();

  llvm::IRBuilder<>& ir() { return ir_; }
  llvm::LLVMContext& context() { return ir_.getContext(); }
  llvm::Function* function() { return function_; }
  const EmitOptions& options() const { return options_; }
  TargetHooks& hooks() { return hooks_; }
  bool in_kernel() const;
  // PTX line of the op being emitted, an i32: in a shared function an argument.
  llvm::Value* line();

  // In warp code, the lane for which an access with scalar operands acts (i32).
  llvm::Value* acting_lane();
  // Of the op being emitted: an i32, or a mask of which the lowest lane counts;
  // null: all lanes, of which the first is named.
  void set_acting_lane(llvm::Value* lane) { acting_lane_ = lane; }
  // TargetHooks::NoteActingLanes, once for each mask and block.
  void NoteActingLanes(llvm::Value* mask);

  // Says whose the accesses that follow in this op are; in warp code only.
  void MarkAccess(LaneAccess access);

  llvm::Value* Get(mlir::Value value) const;
  void Set(mlir::Value value, llvm::Value* emitted) {
    values_[value] = emitted;
  }
  llvm::Type* TypeOf(mlir::Value value);
  llvm::BasicBlock* BlockOf(mlir::Block* block) const;
  // The function a call names, or null.
  llvm::Function* FindFunction(mlir::Operation* op, llvm::StringRef name);

  // Progressions among vectors of lanes; null in a function of one thread.
  LaneForms* lane_forms() { return lane_forms_ ? &*lane_forms_ : nullptr; }

  // Records that control goes from the current block to `target`, whose
  // arguments take `arguments`.
  void AddIncoming(mlir::Block* target, mlir::ValueRange arguments);

  // Splits: goes on where `condition` (i1) is false; the caller gets the cold
  // block, must fill and end it and restore the insertion point.
  llvm::BasicBlock* BranchToColdBlock(llvm::Value* condition,
                                      const llvm::Twine& name);

  // What `emit` gives, at the end of the first block, where all that it uses
  // must be known; once for each key.
  using EntryKey = std::tuple<llvm::Value*, llvm::Value*, uint64_t>;
  llvm::Value* InEntry(const EntryKey& key,
                       llvm::function_ref<llvm::Value*()> emit);

  // A place in the frame of the function.
  llvm::AllocaInst* Slot(llvm::Type* type);

  // Calls the function `name` that ops of this one share, with the block, the
  // line and `arguments`, and gives its result (null for void). On the first
  // call `body` emits it from its arguments, with the emitter inside it; it
  // must give what is returned. Code that rarely runs, or that is large, goes
  // there: what stays behind is smaller.
  llvm::Value* CallShared(
      const llvm::Twine& name, llvm::Type* result,
      llvm::ArrayRef<llvm::Value*> arguments,
      llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> body);

 private:
  // `through_memory`: the last argument is where the result goes.
  llvm::Function* DefineShared(
      const llvm::Twine& name, llvm::FunctionType* type,
      llvm::ArrayRef<llvm::Type*> types, bool through_memory,
      llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> body);
  absl::Status EmitBlock(mlir::Block& block);
  absl::Status EmitOperation(mlir::Operation* op);
  void CreateBlocks(mlir::Region& region);

  mlir::Operation* source_;
  llvm::Function* function_;
  const FunctionMap& module_functions_;
  const EmitOptions& options_;
  TargetHooks& hooks_;
  llvm::IRBuilder<> ir_;
  llvm::DenseMap<mlir::Value, llvm::Value*> values_;
  llvm::DenseMap<mlir::Block*, llvm::BasicBlock*> blocks_;
  std::map<EntryKey, llvm::Value*> in_entry_;
  std::optional<LaneForms> lane_forms_;
  uint32_t line_ = 0;
  llvm::Value* shared_line_ = nullptr;
  llvm::Value* acting_lane_ = nullptr;
  llvm::Value* noted_mask_ = nullptr;
};

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_EMITTER_H_
