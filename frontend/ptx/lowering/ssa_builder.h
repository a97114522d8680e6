// SSA on the fly (after Braun et al., "Simple and Efficient Construction of
// Static Single Assignment Form") for variables that a PTX body overwrites:
// registers, the carry flag, scalar parameter cells.
//
// A read searches the block, then up through single predecessors; where paths
// join it makes a block argument. What flows into block arguments is only
// looked up in Finish, when every block is complete, so blocks need no sealing;
// arguments that turn out to carry one value are removed there. A variable
// with a single definition, as most of a compiler's output has, is read
// directly wherever the definition dominates. Nothing recurses.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_SSA_BUILDER_H_
#define HETGPU_FRONTEND_PTX_LOWERING_SSA_BUILDER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/ptx/lowering/cfg.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"

namespace hetgpu::ptx {

class SsaBuilder {
 public:
  // Of each variable: its type, and how often it is written in the text.
  struct Variable {
    mlir::Type type;
    uint32_t definitions = 0;
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
  struct Single {  // of variables with one definition
    mlir::Value value;
    uint32_t block = 0;
  };

  static uint64_t Key(uint32_t variable, uint32_t block) {
    return uint64_t{block} << 32 | variable;
  }
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
  std::vector<Single> singles_;
  std::vector<Phi> phis_;
  llvm::DenseMap<mlir::Value, uint32_t> phi_of_;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_SSA_BUILDER_H_
