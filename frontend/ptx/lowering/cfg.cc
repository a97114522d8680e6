#include "frontend/ptx/lowering/cfg.h"

#include <algorithm>
#include <utility>

#include "frontend/ptx/sema.h"

namespace hetgpu::ptx {
namespace {

bool NeverReturns(const Module& module, const Body& body,
                  const Instruction& inst) {
  if (inst.op() != Op::kCall) return false;
  const Function* callee = DirectCallee(module, body, inst);
  return callee && (callee->name == "__assertfail" ||
                    (callee->directives.noreturn && !callee->defined));
}

// Whether control cannot simply fall through to the next instruction.
bool EndsBlock(const Module& module, const Body& body,
               const Instruction& inst) {
  switch (inst.op()) {
    case Op::kBra:
    case Op::kBrxIdx:
      return true;
    case Op::kRet:
    case Op::kExit:
    case Op::kTrap:
    case Op::kBrkpt:
      return inst.guard == kNone;
    default:
      return inst.guard == kNone && NeverReturns(module, body, inst);
  }
}

void AddUnique(std::vector<uint32_t>& list, uint32_t value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) {
    list.push_back(value);
  }
}

}  // namespace

CallParts SplitCall(const Body& body, const Instruction& call) {
  std::span<const Operand> operands = body.Operands(call);
  CallParts parts{&operands[0], &operands[1], &operands[2], nullptr};
  if (operands.size() > 3) parts.prototype = &operands[3];
  return parts;
}

const Function* DirectCallee(const Module& module, const Body& body,
                             const Instruction& call) {
  const Operand* callee = SplitCall(body, call).callee;
  if (callee->kind != OperandKind::kSymbol) return nullptr;
  return &module.functions[ResolveAlias(module, callee->index)];
}

ControlFlowGraph::ControlFlowGraph(const Module& module, const Body& body) {
  SplitBlocks(module, body);
  AddEdges(module, body);
  ComputeOrder();
  ComputeDominators();
  NumberDominatorTree();
  ComputeFrontiers();
}

void ControlFlowGraph::SplitBlocks(const Module& module, const Body& body) {
  uint32_t count = static_cast<uint32_t>(body.instructions.size());
  std::vector<bool> starts(count + 1, false);
  starts[0] = true;
  starts[count] = true;  // the implicit return at the end
  for (const Label& label : body.labels) starts[label.instruction] = true;
  for (uint32_t i = 0; i < count; ++i) {
    if (EndsBlock(module, body, body.instructions[i])) starts[i + 1] = true;
  }
  blocks_.emplace_back();
  std::vector<uint32_t> block_at(count + 1);
  for (uint32_t i = 0; i <= count; ++i) {
    if (starts[i]) {
      blocks_.back().end = i;
      blocks_.emplace_back().begin = i;
    }
    block_at[i] = static_cast<uint32_t>(blocks_.size()) - 1;
  }
  blocks_.back().end = count;
  blocks_.front().end = 0;
  for (const Label& label : body.labels) {
    label_block_.push_back(block_at[label.instruction]);
  }
}

void ControlFlowGraph::AddEdges(const Module& module, const Body& body) {
  for (uint32_t b = 0; b < blocks_.size(); ++b) {
    BasicBlock& block = blocks_[b];
    bool falls_through = b + 1 < blocks_.size();
    if (block.begin < block.end) {
      const Instruction& last = body.instructions[block.end - 1];
      if (EndsBlock(module, body, last)) falls_through = last.guard != kNone;
      for (const Operand& operand : body.Operands(last)) {
        if (last.op() == Op::kBra && operand.kind == OperandKind::kLabel) {
          AddUnique(block.successors, label_block_[operand.index]);
        }
        if (last.op() == Op::kBrxIdx && operand.kind == OperandKind::kTargets) {
          for (uint32_t label : body.target_tables[operand.index].targets) {
            AddUnique(block.successors, label_block_[label]);
          }
        }
      }
    }
    if (falls_through) AddUnique(block.successors, b + 1);
  }
}

void ControlFlowGraph::ComputeOrder() {
  position_.assign(blocks_.size(), kNone);
  std::vector<bool> seen(blocks_.size(), false);
  std::vector<std::pair<uint32_t, uint32_t>> stack = {{kPrologue, 0}};
  seen[kPrologue] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == blocks_[block].successors.size()) {
      order_.push_back(block);
      stack.pop_back();
      continue;
    }
    uint32_t successor = blocks_[block].successors[next++];
    if (seen[successor]) continue;
    seen[successor] = true;
    stack.emplace_back(successor, 0);
  }
  std::reverse(order_.begin(), order_.end());
  for (uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  for (uint32_t block : order_) {
    for (uint32_t successor : blocks_[block].successors) {
      blocks_[successor].predecessors.push_back(block);
    }
  }
}

// The iteration of Cooper, Harvey and Kennedy.
void ControlFlowGraph::ComputeDominators() {
  idom_.assign(blocks_.size(), kNone);
  idom_[kPrologue] = kPrologue;
  auto intersect = [this](uint32_t a, uint32_t b) {
    while (a != b) {
      while (position_[a] > position_[b]) a = idom_[a];
      while (position_[b] > position_[a]) b = idom_[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t block : order_) {
      if (block == kPrologue) continue;
      uint32_t idom = kNone;
      for (uint32_t pred : blocks_[block].predecessors) {
        if (idom_[pred] == kNone) continue;
        idom = idom == kNone ? pred : intersect(pred, idom);
      }
      if (idom_[block] != idom) {
        idom_[block] = idom;
        changed = true;
      }
    }
  }
}

void ControlFlowGraph::NumberDominatorTree() {
  std::vector<std::vector<uint32_t>> children(blocks_.size());
  for (uint32_t block : order_) {
    if (block != kPrologue) children[idom_[block]].push_back(block);
  }
  enter_.assign(blocks_.size(), 0);
  leave_.assign(blocks_.size(), 0);
  uint32_t clock = 0;
  std::vector<std::pair<uint32_t, uint32_t>> stack = {{kPrologue, 0}};
  enter_[kPrologue] = clock++;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next == children[block].size()) {
      leave_[block] = clock++;
      stack.pop_back();
      continue;
    }
    uint32_t child = children[block][next++];
    enter_[child] = clock++;
    stack.emplace_back(child, 0);
  }
}

// Climbs from each predecessor of a join to the join's dominator. Stops where
// another predecessor has passed: what lies above has the join already.
void ControlFlowGraph::ComputeFrontiers() {
  frontier_.resize(blocks_.size());
  for (uint32_t join : order_) {
    if (blocks_[join].predecessors.size() < 2) continue;
    for (uint32_t block : blocks_[join].predecessors) {
      for (; block != idom_[join]; block = idom_[block]) {
        std::vector<uint32_t>& frontier = frontier_[block];
        if (!frontier.empty() && frontier.back() == join) break;
        frontier.push_back(join);
      }
    }
  }
}

}  // namespace hetgpu::ptx
