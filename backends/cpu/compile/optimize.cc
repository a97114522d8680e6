#include "backends/cpu/compile/optimize.h"

#include "backends/cpu/compile/keep_lines.h"
#include "backends/llvm_ir/diagnostics.h"
#include "backends/llvm_ir/emit.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/ModuleInliner.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/Sink.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"

namespace hetgpu::cpu {
namespace {

// Counts iterations, of small loops: in the loop over a block's warps, which
// holds the whole kernel, that takes a tenth of the compilation and brings
// nothing.
class CountSmallLoopsPass : public llvm::PassInfoMixin<CountSmallLoopsPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Loop& loop,
                              llvm::LoopAnalysisManager& analyses,
                              llvm::LoopStandardAnalysisResults& results,
                              llvm::LPMUpdater& updater) {
    constexpr size_t kInstructions = 400;
    size_t instructions = 0;
    for (const llvm::BasicBlock* block : loop.blocks()) {
      instructions += block->size();
    }
    if (instructions > kInstructions) return llvm::PreservedAnalyses::all();
    return count_.run(loop, analyses, results, updater);
  }

 private:
  llvm::IndVarSimplifyPass count_;
};

llvm::FunctionPassManager LoopPasses() {
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));
  loops.addPass(CountSmallLoopsPass());
  loops.addPass(llvm::LoopDeletionPass());
  llvm::FunctionPassManager functions;
  functions.addPass(llvm::createFunctionToLoopPassAdaptor(
      std::move(loops), /*UseMemorySSA=*/true));
  return functions;
}

llvm::FunctionPassManager FunctionPasses(bool vectorize) {
  llvm::FunctionPassManager passes;
  passes.addPass(MarkLinesPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(CombinePass());
  passes.addPass(LoopPasses());
  if (vectorize) {
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  }
  passes.addPass(llvm::GVNPass());
  passes.addPass(llvm::DSEPass());
  if (vectorize) {
    passes.addPass(llvm::LoopVectorizePass());
    passes.addPass(llvm::SLPVectorizerPass());
    passes.addPass(CombinePass());
    // An iteration of a warp's loop is much work as it is.
    passes.addPass(llvm::LoopUnrollPass(
        llvm::LoopUnrollOptions().setPartial(true).setRuntime(true)));
    passes.addPass(llvm::EarlyCSEPass());
  }
  passes.addPass(llvm::ADCEPass());
  // Does not merge accesses of two branches: they have lines of their own. Nor
  // branches, where that takes an instruction from its comparison: tests of
  // addresses are shortest as they are.
  passes.addPass(
      llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().bonusInstThreshold(0)));
  passes.addPass(llvm::SinkingPass());
  return passes;
}

bool IsShared(const llvm::Function& function) {
  return function.getName().starts_with(llvm_ir::kSharedPrefix);
}

// Runs passes on all functions but the shared ones: those are as they should
// be.
class PassesOfKernel : public llvm::PassInfoMixin<PassesOfKernel> {
 public:
  explicit PassesOfKernel(llvm::FunctionPassManager passes)
      : passes_(std::move(passes)) {}

  llvm::PreservedAnalyses run(llvm::Module& module,
                              llvm::ModuleAnalysisManager& modules) {
    llvm::FunctionAnalysisManager& functions =
        modules.getResult<llvm::FunctionAnalysisManagerModuleProxy>(module)
            .getManager();
    for (llvm::Function& function : module) {
      if (function.isDeclaration() || IsShared(function)) continue;
      functions.invalidate(function, passes_.run(function, functions));
    }
    return llvm::PreservedAnalyses::none();
  }

 private:
  llvm::FunctionPassManager passes_;
};

// Whether the kernel calls functions, other than what accesses share.
bool HasFunctions(const llvm::Module& module) {
  int functions = 0;
  for (const llvm::Function& function : module) {
    functions += !function.isDeclaration() && !IsShared(function);
  }
  return functions > 1;
}

// What addPassesToEmitFile() adds, and one pass.
bool AddCodeGenPasses(llvm::LLVMTargetMachine& machine,
                      llvm::raw_pwrite_stream& out,
                      llvm::CodeGenFileType type,
                      llvm::legacy::PassManager& passes) {
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  // Merged tails would merge accesses of different lines.
  config->setEnableTailMerge(false);
  passes.add(config);
  passes.add(info);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  passes.add(CreateRestoreLinesPass());
  if (machine.addAsmPrinter(passes, out, nullptr, type,
                            info->getMMI().getContext())) {
    return false;
  }
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

void Optimize(llvm::Module& module, llvm::TargetMachine& machine,
              bool vectorize) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager cgsccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  functions.registerPass([&] { return builder.buildDefaultAAPipeline(); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(cgsccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, cgsccs, modules);

  llvm::ModulePassManager passes;
  if (HasFunctions(module)) {
    passes.addPass(llvm::ModuleInlinerPass());
    passes.addPass(llvm::GlobalDCEPass());
  }
  passes.addPass(PassesOfKernel(FunctionPasses(vectorize)));
  passes.run(module, modules);
}

absl::StatusOr<std::string> GenerateCode(llvm::Module& module,
                                         llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType type) {
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream out(buffer);
  llvm::legacy::PassManager passes;
  if (!AddCodeGenPasses(static_cast<llvm::LLVMTargetMachine&>(machine), out,
                        type, passes)) {
    return absl::InternalError("cpu: the code generator cannot emit this file");
  }
  // A warning is about code that will not run.
  llvm_ir::Complaints complaints{llvm::DS_Warning, ""};
  llvm_ir::Listen(module.getContext(), complaints);
  passes.run(module);
  if (!complaints.text.empty()) {
    return absl::UnimplementedError("cpu: " + complaints.text);
  }
  return std::string(buffer);
}

}  // namespace hetgpu::cpu
