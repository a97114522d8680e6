#include "backends/llvm_ir/gpu/code_generator.h"

#include "backends/llvm_ir/diagnostics.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"

namespace hetgpu::llvm_ir {
namespace {

// TargetPassConfig keeps its last step to itself.
struct LastStep : llvm::TargetPassConfig {
  static bool Add(llvm::TargetPassConfig& config) {
    return (config.*&LastStep::addCoreISelPasses)();
  }
};

// The machine's assembler does all of this again, and better: none of it
// changed what came out of the assembler, and together they took a quarter of
// the time. The coalescer stays: copies cost the assembler more than it does.
const llvm::AnalysisID kLeftOut[] = {
    &llvm::EarlyTailDuplicateID,     &llvm::OptimizePHIsID,
    &llvm::StackColoringID,          &llvm::EarlyMachineLICMID,
    &llvm::MachineLICMID,            &llvm::MachineCSEID,
    &llvm::MachineSinkingID,         &llvm::PeepholeOptimizerID,
    &llvm::MachineBlockPlacementID};

// What TargetPassConfig::addISelPasses does without the optimisations of LLVM
// IR. They cannot be left out one by one, but at level none they are not
// listed.
bool AddSelection(llvm::LLVMTargetMachine& machine,
                  llvm::legacy::PassManager& passes,
                  llvm::TargetPassConfig& config) {
  passes.add(llvm::createTargetTransformInfoWrapperPass(
      machine.getTargetIRAnalysis()));
  passes.add(llvm::createPreISelIntrinsicLoweringPass());
  passes.add(llvm::createExpandLargeDivRemPass());
  passes.add(llvm::createExpandLargeFpConvertPass());
  const llvm::CodeGenOptLevel level = machine.getOptLevel();
  machine.setOptLevel(llvm::CodeGenOptLevel::None);
  config.addIRPasses();
  machine.setOptLevel(level);
  config.addCodeGenPrepare();
  config.addPassesToHandleExceptions();
  config.addISelPrepare();
  return !LastStep::Add(config);
}

// What TargetMachine::addPassesToEmitFile does, with some passes left out.
bool AddPasses(llvm::LLVMTargetMachine& machine,
               llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& out,
               llvm::CodeGenFileType type) {
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  for (llvm::AnalysisID pass : kLeftOut) config->disablePass(pass);
  if (!AddSelection(machine, passes, *config)) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, out, nullptr, type,
                            info->getMMI().getContext())) {
    return false;
  }
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

absl::StatusOr<std::string> GenerateGpuCode(llvm::Module& module,
                                            llvm::TargetMachine& machine,
                                            llvm::CodeGenFileType type) {
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream out(buffer);
  llvm::legacy::PassManager passes;
  // All code generators of LLVM are of this class.
  auto& generator = static_cast<llvm::LLVMTargetMachine&>(machine);
  if (!AddPasses(generator, passes, out, type)) {
    return absl::InternalError("gpu: the code generator cannot emit this file");
  }
  Complaints complaints{llvm::DS_Error, ""};
  Listen(module.getContext(), complaints);
  passes.run(module);
  if (!complaints.text.empty()) {
    return absl::UnimplementedError("gpu: " + complaints.text);
  }
  return std::string(buffer);
}

}  // namespace hetgpu::llvm_ir
