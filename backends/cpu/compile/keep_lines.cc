#include "backends/cpu/compile/keep_lines.h"

#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ValueHandle.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"

namespace hetgpu::cpu {
namespace {

bool IsAccess(const llvm::Instruction& instruction) {
  return instruction.mayReadOrWriteMemory() &&
         (llvm::isa<llvm::LoadInst, llvm::StoreInst, llvm::IntrinsicInst>(
             instruction));
}

// The load that `value` is computed from in `block`, step by step from one
// variable operand.
llvm::LoadInst* LoadBehind(llvm::Value* value, const llvm::BasicBlock* block) {
  for (;;) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (!instruction || instruction->getParent() != block ||
        !instruction->hasOneUser()) {
      return nullptr;
    }
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction)) return load;
    value = nullptr;
    for (llvm::Value* operand : instruction->operands()) {
      if (llvm::isa<llvm::Constant>(operand)) continue;
      if (value) return nullptr;
      value = operand;
    }
  }
}

// One of the loads that would become a load from where a PHI says.
llvm::Instruction* LoadOfBranches(const llvm::PHINode& phi) {
  llvm::LoadInst* load = nullptr;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    load = LoadBehind(phi.getIncomingValue(i), phi.getIncomingBlock(i));
    if (!load) return nullptr;
  }
  return load;
}

llvm::StoreInst* LastStore(llvm::BasicBlock& block) {
  return llvm::dyn_cast_or_null<llvm::StoreInst>(
      block.getTerminator()->getPrevNonDebugInstruction());
}

// The store at the end of `block`, if that of another block is to the same
// address and both go on at the same place.
llvm::Instruction* StoreOfBranches(llvm::BasicBlock& block) {
  llvm::BasicBlock* next = block.getSingleSuccessor();
  llvm::StoreInst* store = next ? LastStore(block) : nullptr;
  if (!store) return nullptr;
  for (llvm::BasicBlock* other : llvm::predecessors(next)) {
    llvm::StoreInst* like = other == &block ? nullptr : LastStore(*other);
    if (like && like->getPointerOperand() == store->getPointerOperand()) {
      return store;
    }
  }
  return nullptr;
}

void SetVolatile(llvm::Instruction* access, bool value) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(access)) {
    load->setVolatile(value);
  } else {
    llvm::cast<llvm::StoreInst>(access)->setVolatile(value);
  }
}

// Volatile while it lives: accesses are merged only with their like.
class HeldApart {
 public:
  explicit HeldApart(llvm::Function& function) {
    for (llvm::BasicBlock& block : function) {
      for (const llvm::PHINode& phi : block.phis()) Hold(LoadOfBranches(phi));
      Hold(StoreOfBranches(block));
    }
  }
  ~HeldApart() {
    for (const llvm::WeakVH& access : held_) {
      if (access) SetVolatile(llvm::cast<llvm::Instruction>(access), false);
    }
  }

 private:
  void Hold(llvm::Instruction* access) {
    if (!access || access->isVolatile()) return;
    SetVolatile(access, true);
    held_.emplace_back(access);
  }

  llvm::SmallVector<llvm::WeakVH, 4> held_;
};

const llvm::DILocation* MarkIn(const llvm::MDNode* scopes) {
  if (!scopes || scopes->getNumOperands() == 0) return nullptr;
  return llvm::dyn_cast_or_null<llvm::DILocation>(scopes->getOperand(0).get());
}

// A load made part of a broadcast loses what is known about its aliases, not its
// pointer: the mark of a load through that, of `block` if there is one.
const llvm::DILocation* MarkOfLoad(const llvm::Value* pointer,
                                   const llvm::BasicBlock* block) {
  const llvm::DILocation* found = nullptr;
  for (const llvm::User* user : pointer->users()) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(user);
    if (!load) continue;
    auto* mark = MarkIn(load->getMetadata(llvm::LLVMContext::MD_alias_scope));
    if (mark && (!found || load->getParent() == block)) found = mark;
  }
  return found;
}

// Of several, the first: one access stands for two of the program only where
// both would have been made at once.
const llvm::DILocation* MarkOf(const llvm::MachineInstr& instruction) {
  for (const llvm::MachineMemOperand* operand : instruction.memoperands()) {
    if (auto* mark = MarkIn(operand->getAAInfo().Scope)) return mark;
  }
  for (const llvm::MachineMemOperand* operand : instruction.memoperands()) {
    if (!operand->isLoad() || !operand->getValue()) continue;
    if (auto* mark = MarkOfLoad(operand->getValue(),
                                instruction.getParent()->getBasicBlock())) {
      return mark;
    }
  }
  return nullptr;
}

class RestoreLines final : public llvm::MachineFunctionPass {
 public:
  static char ID;
  RestoreLines() : MachineFunctionPass(ID) {}

  llvm::StringRef getPassName() const override { return "restore lines"; }

  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    for (llvm::MachineBasicBlock& block : function) {
      for (llvm::MachineInstr& instruction : block) {
        if (const llvm::DILocation* mark = MarkOf(instruction)) {
          instruction.setDebugLoc(llvm::DebugLoc(mark));
        }
      }
    }
    return true;
  }
};

char RestoreLines::ID = 0;

}  // namespace

llvm::PreservedAnalyses MarkLinesPass::run(
    llvm::Function& function, llvm::FunctionAnalysisManager& manager) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    llvm::DILocation* location = instruction.getDebugLoc();
    if (!location || location->getLine() == 0 || !IsAccess(instruction)) {
      continue;
    }
    instruction.setMetadata(
        llvm::LLVMContext::MD_alias_scope,
        llvm::MDNode::get(function.getContext(), {location}));
  }
  return llvm::PreservedAnalyses::all();
}

llvm::PreservedAnalyses CombinePass::run(
    llvm::Function& function, llvm::FunctionAnalysisManager& manager) {
  HeldApart held(function);
  return llvm::InstCombinePass().run(function, manager);
}

llvm::Pass* CreateRestoreLinesPass() { return new RestoreLines; }

}  // namespace hetgpu::cpu
