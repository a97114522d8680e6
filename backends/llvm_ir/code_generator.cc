#include "backends/llvm_ir/code_generator.h"

#include <mutex>

#include "llvm/ADT/StringMap.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/CommandLine.h"

namespace hetgpu::llvm_ir {
namespace {

// Strength reduction is switched by a command-line option alone, which is read
// when the passes are listed.
class StrengthReduction {
 public:
  explicit StrengthReduction(LoopCode loops) : lock_(Mutex()) {
    llvm::StringMap<llvm::cl::Option*>& known =
        llvm::cl::getRegisteredOptions();
    auto found = known.find("disable-lsr");
    if (found == known.end()) return;
    auto* option = static_cast<llvm::cl::opt<bool>*>(found->second);
    option->setValue(loops == LoopCode::kKeep);
  }

 private:
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  const std::lock_guard<std::mutex> lock_;
};

// What TargetMachine::addPassesToEmitFile does, with some passes left out.
bool AddPasses(llvm::LLVMTargetMachine& machine,
               llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& out,
               llvm::CodeGenFileType type, LoopCode loops) {
  const StrengthReduction setting(loops);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  if (loops == LoopCode::kKeep) {
    config->disablePass(&llvm::EarlyMachineLICMID);
    config->disablePass(&llvm::MachineLICMID);
    config->disablePass(&llvm::MachineBlockPlacementID);
  }
  if (config->addISelPasses()) return false;
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

absl::StatusOr<std::string> GenerateCode(llvm::Module& module,
                                         llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType type,
                                         LoopCode loops) {
  llvm::SmallString<0> buffer;
  llvm::raw_svector_ostream out(buffer);
  llvm::legacy::PassManager passes;
  // All code generators of LLVM are of this class.
  auto& generator = static_cast<llvm::LLVMTargetMachine&>(machine);
  if (!AddPasses(generator, passes, out, type, loops)) {
    return absl::InternalError("the code generator cannot emit this file");
  }
  passes.run(module);
  return std::string(buffer);
}

}  // namespace hetgpu::llvm_ir
