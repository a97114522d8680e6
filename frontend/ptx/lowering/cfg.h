// Control flow of a PTX body: basic blocks, reverse post order, dominators.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_CFG_H_
#define HETGPU_FRONTEND_PTX_LOWERING_CFG_H_

#include <cstdint>
#include <vector>

#include "frontend/ptx/ast.h"

namespace hetgpu::ptx {

struct BasicBlock {
  uint32_t begin = 0;  // instructions [begin, end)
  uint32_t end = 0;
  std::vector<uint32_t> successors;    // no duplicates
  std::vector<uint32_t> predecessors;  // reachable ones, no duplicates
};

// Block 0 is an empty prologue in front of the first instruction: it has no
// predecessor, so that the body may branch back to its start. The last block
// may be empty (a label at the end of the body): it returns.
class ControlFlowGraph {
 public:
  static constexpr uint32_t kPrologue = 0;

  ControlFlowGraph(const Module& module, const Body& body);

  const std::vector<BasicBlock>& blocks() const { return blocks_; }
  // Reachable blocks; dominators come before what they dominate.
  const std::vector<uint32_t>& order() const { return order_; }
  uint32_t BlockOfLabel(uint32_t label) const { return label_block_[label]; }
  bool Reachable(uint32_t block) const { return position_[block] != kNone; }
  // Reachable blocks only; the prologue is its own.
  uint32_t ImmediateDominator(uint32_t block) const { return idom_[block]; }
  // Joins that `block` reaches without dominating them strictly.
  const std::vector<uint32_t>& Frontier(uint32_t block) const {
    return frontier_[block];
  }
  // Both blocks must be reachable; a block dominates itself.
  bool Dominates(uint32_t a, uint32_t b) const {
    return enter_[a] <= enter_[b] && leave_[b] <= leave_[a];
  }

 private:
  void SplitBlocks(const Module& module, const Body& body);
  void AddEdges(const Module& module, const Body& body);
  void ComputeOrder();
  void ComputeDominators();
  void NumberDominatorTree();
  void ComputeFrontiers();

  std::vector<BasicBlock> blocks_;
  std::vector<uint32_t> label_block_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> position_;  // in order_, or kNone
  std::vector<uint32_t> idom_;
  std::vector<uint32_t> enter_, leave_;  // dominator tree intervals
  std::vector<std::vector<uint32_t>> frontier_;
};

struct CallParts {
  const Operand* returns = nullptr;    // kList
  const Operand* callee = nullptr;     // kSymbol of a function, or kRegister
  const Operand* arguments = nullptr;  // kList
  const Operand* prototype = nullptr;  // kPrototype, kTargets or null
};
CallParts SplitCall(const Body& body, const Instruction& call);

// The function a direct call names, aliases followed; null when indirect.
const Function* DirectCallee(const Module& module, const Body& body,
                             const Instruction& call);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_CFG_H_
