#include "backends/llvm_ir/gpu/optimize.h"

#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace hetgpu::llvm_ir {
namespace {

// Where nothing else comes in, a block becomes part of the one before.
struct MergeBlocksPass : llvm::PassInfoMixin<MergeBlocksPass> {
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager&) {
    bool merged = false;
    for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
      merged |= llvm::MergeBlockIntoPredecessor(&block);
    }
    return merged ? llvm::PreservedAnalyses::none()
                  : llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void OptimizeForGpu(llvm::Module& module, llvm::TargetMachine& machine) {
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

  llvm::FunctionPassManager passes;
  passes.addPass(MergeBlocksPass());
  // Addresses of arrays that nobody needs as numbers hide them from SROA.
  passes.addPass(llvm::DCEPass());
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::ADCEPass());
  llvm::ModulePassManager all;
  all.addPass(llvm::GlobalDCEPass());
  all.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  all.run(module, modules);
}

}  // namespace hetgpu::llvm_ir
