#include "frontend/ptx/lowering/ssa_builder.h"

#include <cassert>
#include <utility>

#include "llvm/ADT/BitVector.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace hetgpu::ptx {
namespace {

// On every edge from `terminator` to `target`.
void AddSuccessorOperands(mlir::Operation* terminator, mlir::Block* target,
                          mlir::ValueRange operands) {
  auto branch = mlir::cast<mlir::BranchOpInterface>(terminator);
  for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i) {
    if (terminator->getSuccessor(i) != target) continue;
    branch.getSuccessorOperands(i).append(operands);
  }
}

}  // namespace

SsaBuilder::SsaBuilder(const ControlFlowGraph& cfg,
                       std::vector<mlir::Block*> blocks,
                       std::vector<Variable> variables,
                       std::function<mlir::Value(mlir::Type)> zero)
    : cfg_(cfg),
      first_(std::move(blocks)),
      last_(first_.size(), nullptr),
      variables_(std::move(variables)),
      zero_(std::move(zero)),
      joins_known_(variables_.size(), false) {
  for (uint32_t v = 0; v < variables_.size(); ++v) {
    for (uint32_t block : variables_[v].definitions) {
      defined_.insert(Key(v, block));
    }
  }
}

void SsaBuilder::Write(uint32_t variable, uint32_t block, mlir::Value value) {
  assert(defined_.contains(Key(variable, block)));
  values_[Key(variable, block)] = value;
}

mlir::Value SsaBuilder::Read(uint32_t variable, uint32_t block) {
  mlir::Value value;
  uint32_t current = block;
  for (;; current = cfg_.ImmediateDominator(current)) {
    value = values_.lookup(Key(variable, current));
    if (value) break;
    if (current == ControlFlowGraph::kPrologue) {
      value = zero_(variables_[variable].type);
      break;
    }
    if (NeedsPhi(variable, current)) {
      value = MakePhi(variable, current);
      values_[Key(variable, current)] = value;
      break;
    }
  }
  if (current != block) values_[Key(variable, block)] = value;
  return value;
}

bool SsaBuilder::NeedsPhi(uint32_t variable, uint32_t block) {
  if (cfg_.blocks()[block].predecessors.size() < 2) return false;
  if (!joins_known_[variable]) FindJoins(variable);
  return joins_.contains(Key(variable, block));
}

void SsaBuilder::FindJoins(uint32_t variable) {
  joins_known_[variable] = true;
  const auto& definitions = variables_[variable].definitions;
  llvm::SmallVector<uint32_t> work(definitions.begin(), definitions.end());
  while (!work.empty()) {
    uint32_t block = work.pop_back_val();
    if (!cfg_.Reachable(block)) continue;
    for (uint32_t join : cfg_.Frontier(block)) {
      if (joins_.insert(Key(variable, join)).second) work.push_back(join);
    }
  }
}

mlir::Value SsaBuilder::MakePhi(uint32_t variable, uint32_t block) {
  mlir::Location loc = first_[block]->getParentOp()->getLoc();
  mlir::BlockArgument argument =
      first_[block]->addArgument(variables_[variable].type, loc);
  phi_of_[argument] = static_cast<uint32_t>(phis_.size());
  phis_.push_back({block, variable, argument, {}, {}, {}});
  return argument;
}

void SsaBuilder::Finish() {
  CollectInputs();
  FindTrivial();
  Replace();
  FillTerminators();
}

// Reading may append phis: the loop runs until none is left.
void SsaBuilder::CollectInputs() {
  for (uint32_t i = 0; i < phis_.size(); ++i) {
    uint32_t variable = phis_[i].variable;
    for (uint32_t pred : cfg_.blocks()[phis_[i].block].predecessors) {
      mlir::Value input = Read(variable, pred);
      phis_[i].inputs.push_back(input);
      auto phi = phi_of_.find(input);
      if (phi != phi_of_.end()) phis_[phi->second].users.push_back(i);
    }
  }
}

mlir::Value SsaBuilder::Resolve(mlir::Value value) {
  llvm::SmallVector<uint32_t, 4> chain;
  for (;;) {
    auto phi = phi_of_.find(value);
    if (phi == phi_of_.end() || !phis_[phi->second].replacement) break;
    chain.push_back(phi->second);
    value = phis_[phi->second].replacement;
  }
  for (uint32_t passed : chain) phis_[passed].replacement = value;
  return value;
}

void SsaBuilder::FindTrivial() {
  std::vector<uint32_t> work;
  for (uint32_t i = static_cast<uint32_t>(phis_.size()); i-- > 0;) {
    work.push_back(i);
  }
  while (!work.empty()) {
    Phi& phi = phis_[work.back()];
    work.pop_back();
    if (phi.replacement) continue;
    mlir::Value same;
    bool trivial = true;
    for (mlir::Value input : phi.inputs) {
      mlir::Value value = Resolve(input);
      if (value == phi.argument || value == same) continue;
      if (same) {
        trivial = false;
        break;
      }
      same = value;
    }
    if (!trivial) continue;
    phi.replacement = same ? same : zero_(phi.argument.getType());
    // Users of this phi now use the replacement, which may be a phi too.
    auto other = phi_of_.find(phi.replacement);
    if (other != phi_of_.end()) {
      auto& users = phis_[other->second].users;
      users.append(phi.users.begin(), phi.users.end());
    }
    work.insert(work.end(), phi.users.begin(), phi.users.end());
  }
}

void SsaBuilder::Replace() {
  std::vector<llvm::BitVector> dead(first_.size());
  for (Phi& phi : phis_) {
    if (!phi.replacement) continue;
    phi.argument.replaceAllUsesWith(Resolve(phi.argument));
    llvm::BitVector& bits = dead[phi.block];
    bits.resize(first_[phi.block]->getNumArguments());
    bits.set(phi.argument.getArgNumber());
  }
  // Inputs first: an erased argument must not be looked up any more.
  for (Phi& phi : phis_) {
    for (mlir::Value& input : phi.inputs) input = Resolve(input);
  }
  for (size_t i = 0; i < dead.size(); ++i) {
    if (dead[i].any()) first_[i]->eraseArguments(dead[i]);
  }
}

void SsaBuilder::FillTerminators() {
  // Arguments keep their order of creation, so phis_ is in argument order.
  std::vector<llvm::SmallVector<uint32_t, 4>> live(first_.size());
  for (uint32_t i = 0; i < phis_.size(); ++i) {
    if (!phis_[i].replacement) live[phis_[i].block].push_back(i);
  }
  llvm::SmallVector<mlir::Value> inputs;
  for (uint32_t block = 0; block < live.size(); ++block) {
    if (live[block].empty()) continue;
    const auto& predecessors = cfg_.blocks()[block].predecessors;
    for (size_t p = 0; p < predecessors.size(); ++p) {
      inputs.clear();
      for (uint32_t i : live[block]) inputs.push_back(phis_[i].inputs[p]);
      AddSuccessorOperands(last_[predecessors[p]]->getTerminator(),
                           first_[block], inputs);
    }
  }
}

}  // namespace hetgpu::ptx
