#include "hetir/analysis/loops.h"

#include <algorithm>
#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Block.h"

namespace hetgpu::hetir {
namespace {

using Blocks = std::vector<mlir::Block*>;

// Tarjan's algorithm on a subset of the blocks, without recursion.
class Components {
 public:
  explicit Components(const Blocks& blocks) {
    for (mlir::Block* block : blocks) nodes_[block] = {};
    for (mlir::Block* block : blocks) {
      if (nodes_[block].number == 0) Visit(block);
    }
  }

  // Those with a cycle.
  std::vector<Blocks> Take() { return std::move(found_); }

 private:
  struct Node {
    unsigned number = 0;  // in order of discovery, from 1
    unsigned low = 0;
    bool on_stack = false;
  };

  void Enter(mlir::Block* block) {
    Node& node = nodes_[block];
    node.number = node.low = ++clock_;
    node.on_stack = true;
    stack_.push_back(block);
    path_.emplace_back(block, 0);
  }

  void Visit(mlir::Block* root) {
    Enter(root);
    while (!path_.empty()) {
      auto& [block, next] = path_.back();
      if (next == block->getNumSuccessors()) {
        Leave(block);
        continue;
      }
      mlir::Block* successor = block->getSuccessor(next++);
      auto found = nodes_.find(successor);
      if (found == nodes_.end()) continue;
      if (found->second.number == 0) {
        Enter(successor);
      } else if (found->second.on_stack) {
        Node& node = nodes_[block];
        node.low = std::min(node.low, found->second.number);
      }
    }
  }

  void Leave(mlir::Block* block) {
    path_.pop_back();
    Node& node = nodes_[block];
    if (!path_.empty()) {
      Node& parent = nodes_[path_.back().first];
      parent.low = std::min(parent.low, node.low);
    }
    if (node.low != node.number) return;
    Blocks component;
    mlir::Block* member;
    do {
      member = stack_.back();
      stack_.pop_back();
      nodes_[member].on_stack = false;
      component.push_back(member);
    } while (member != block);
    bool cycle = component.size() > 1 ||
                 llvm::is_contained(block->getSuccessors(), block);
    if (cycle) found_.push_back(std::move(component));
  }

  llvm::DenseMap<mlir::Block*, Node> nodes_;
  Blocks stack_;
  std::vector<std::pair<mlir::Block*, unsigned>> path_;
  std::vector<Blocks> found_;
  unsigned clock_ = 0;
};

// The first block that is entered from outside, or the first of all.
mlir::Block* EntryOf(const Blocks& loop) {
  for (mlir::Block* block : loop) {
    for (mlir::Block* pred : block->getPredecessors()) {
      if (!llvm::is_contained(loop, pred)) return block;
    }
  }
  return loop.front();
}

}  // namespace

std::vector<Blocks> FindLoops(mlir::Region& region) {
  llvm::DenseMap<mlir::Block*, unsigned> order;
  Blocks all;
  for (mlir::Block& block : region) {
    order[&block] = static_cast<unsigned>(order.size());
    all.push_back(&block);
  }
  std::vector<Blocks> loops = Components(all).Take();
  for (size_t i = 0; i < loops.size(); ++i) {
    std::sort(loops[i].begin(), loops[i].end(),
              [&order](mlir::Block* a, mlir::Block* b) {
                return order.lookup(a) < order.lookup(b);
              });
    Blocks rest = loops[i];
    rest.erase(std::find(rest.begin(), rest.end(), EntryOf(rest)));
    for (Blocks& inner : Components(rest).Take()) {
      loops.push_back(std::move(inner));
    }
  }
  return loops;
}

}  // namespace hetgpu::hetir
