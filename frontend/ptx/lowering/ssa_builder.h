// SSA construction for variables that a PTX body overwrites: registers, the
// carry flag, scalar parameter cells.
//
// On demand, as in Braun et al., "Simple and Efficient Construction of Static
// Single Assignment Form": a read searches its block, then upward, and makes a
// block argument only where one is needed. Upward means the dominator tree, and
// an argument is needed in the iterated dominance frontier of the blocks that
// write the variable (Cytron et al.), so reads pass joins that do not matter
// and dead variables get no arguments. What flows into arguments is looked up
// in Finish, when every block is complete; arguments that turn out to carry one
// value are removed there. Nothing recurses.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_SSA_BUILDER_H_
#define HETGPU_FRONTEND_PTX_LOWERING_SSA_BUILDER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/ptx/lowering/cfg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"

namespace hetgpu::ptx {

class SsaBuilder {
 public:
  struct Variable {
    mlir::Type type;
    // Blocks that may write it, each once; every Write must be in one.
    llvm::SmallVector<uint32_t, 1> definitions;
  };
  // `blocks[i]` is the first IR block of basic block i. `zero` makes (or
  // returns) a zero that is usable everywhere: what undefined variables hold.
  SsaBuilder(const ControlFlowGraph& cfg, std::vector<mlir::Block*> blocks,
             std::vector<Variable> variables,
             std::function<mlir::Value(mlir::Type)> zero);

  // The value that `variable` holds at the present end of `block`.
  mlir::Value Read(uint32_t variable, uint32_t block);
  void Write(uint32_t variable, uint32_t block, mlir::Value value);
  // Names the IR block that holds the terminator of `block`.
  void EndBlock(uint32_t block, mlir::Block* last) { last_[block] = last; }
  // Gives every terminator its operands. Call once, when all blocks ended.
  void Finish();

 private:
  struct Phi {
    uint32_t block;
    uint32_t variable;
    mlir::BlockArgument argument;
    llvm::SmallVector<mlir::Value, 2> inputs;  // one per predecessor
    llvm::SmallVector<uint32_t, 2> users;      // phis that read this one
    mlir::Value replacement;                   // set when trivial
  };
  static uint64_t Key(uint32_t variable, uint32_t block) {
    return uint64_t{block} << 32 | variable;
  }
  // Whether the writes of `variable` can meet at `block`.
  bool NeedsPhi(uint32_t variable, uint32_t block);
  void FindJoins(uint32_t variable);
  mlir::Value MakePhi(uint32_t variable, uint32_t block);
  mlir::Value Resolve(mlir::Value value);
  void CollectInputs();
  void FindTrivial();
  void Replace();
  void FillTerminators();

  const ControlFlowGraph& cfg_;
  std::vector<mlir::Block*> first_;
  std::vector<mlir::Block*> last_;
  std::vector<Variable> variables_;
  std::function<mlir::Value(mlir::Type)> zero_;
  llvm::DenseMap<uint64_t, mlir::Value> values_;
  std::vector<bool> joins_known_;  // per variable
  llvm::DenseSet<uint64_t> joins_;
  llvm::DenseSet<uint64_t> defined_;  // definitions, to check Write
  std::vector<Phi> phis_;
  llvm::DenseMap<mlir::Value, uint32_t> phi_of_;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_SSA_BUILDER_H_
