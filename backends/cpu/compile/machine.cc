#include "backends/cpu/compile/machine.h"

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/cpu/target_name.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

namespace hetgpu::cpu {
namespace {

std::string HostFeatures() {
  llvm::SubtargetFeatures features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    features.AddFeature(feature.first(), feature.second);
  }
  return features.getString();
}

// Some settings of the code generator exist as command-line options only.
// Large kernels full of spills (a hash with all rounds unrolled) spend most of
// the compilation on splitting live ranges for no better code, and nobody reads
// where a value lives: only lines are kept.
// What x86 does not ask for (conversion to conditional moves before allocation)
// or our code has no use for (moving integers to mask registers) costs a look
// at every instruction; so does reordering sums for shorter chains.
// Constants stay where they are used: the test of an address is then a shift and
// a comparison with a small number, and takes no register.
// Sinking is the optimiser's (optimize.cc). One store for those of two branches
// would have two lines.
void TuneCodeGenerator() {
  constexpr struct {
    const char* name;
    const char* value;
  } kSettings[] = {{"grow-region-complexity-budget", "60"},
                   {"experimental-debug-variable-locations", "false"},
                   {"disable-post-ra", "true"},
                   {"disable-lsr", "true"},
                   {"disable-machine-sink", "true"},
                   {"disable-early-ifcvt", "true"},
                   {"disable-constant-hoisting", "true"},
                   {"x86-machine-combiner", "false"},
                   {"disable-x86-domain-reassignment", "true"},
                   {"simplifycfg-merge-cond-stores", "false"}};
  llvm::StringMap<llvm::cl::Option*>& known = llvm::cl::getRegisteredOptions();
  for (const auto& setting : kSettings) {
    // An option that a later LLVM has dropped only costs time.
    auto found = known.find(setting.name);
    if (found == known.end()) continue;
    found->second->addOccurrence(0, setting.name, setting.value);
  }
}

void InitializeOnce() {
  static const bool done = [] {
    TuneCodeGenerator();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    return true;
  }();
  (void)done;
}

// Machines that no compilation uses, by processor. What one has computed about
// the processor takes a millisecond to compute again.
class IdleMachines {
 public:
  std::unique_ptr<llvm::TargetMachine> Take(llvm::StringRef cpu) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::unique_ptr<llvm::TargetMachine>>& machines =
        machines_[cpu];
    if (machines.empty()) return nullptr;
    std::unique_ptr<llvm::TargetMachine> machine = std::move(machines.back());
    machines.pop_back();
    return machine;
  }
  void Put(std::unique_ptr<llvm::TargetMachine> machine) {
    std::lock_guard<std::mutex> lock(mutex_);
    machines_[machine->getTargetCPU()].push_back(std::move(machine));
  }

 private:
  std::mutex mutex_;
  llvm::StringMap<std::vector<std::unique_ptr<llvm::TargetMachine>>> machines_;
};

IdleMachines& Idle() {
  static IdleMachines& idle = *new IdleMachines;
  return idle;
}

}  // namespace

void ReturnMachine::operator()(llvm::TargetMachine* machine) const {
  Idle().Put(std::unique_ptr<llvm::TargetMachine>(machine));
}

absl::StatusOr<Machine> TakeMachine(std::string_view target) {
  InitializeOnce();
  llvm::Triple triple(llvm::sys::getProcessTriple());
  std::string_view architecture = ArchitectureOf(target);
  if (!architecture.empty() &&
      llvm::StringRef(architecture.data(), architecture.size()) !=
          triple.getArchName()) {
    return absl::InvalidArgumentError("cpu: target " + std::string(target) +
                                      ", expected one of this host (" +
                                      triple.getArchName().str() + ")");
  }
  if (triple.getArch() != llvm::Triple::x86_64) {
    return absl::UnimplementedError("cpu: images for " +
                                    triple.getArchName().str() +
                                    " cannot be linked yet; expected x86_64");
  }
  const std::string_view processor = ProcessorOf(target);
  const bool host = processor == kNativeTarget;
  const llvm::StringRef cpu =
      host ? llvm::sys::getHostCPUName()
           : llvm::StringRef(processor.data(), processor.size());
  if (std::unique_ptr<llvm::TargetMachine> idle = Idle().Take(cpu)) {
    return Machine(idle.release());
  }
  std::string error;
  const llvm::Target* found =
      llvm::TargetRegistry::lookupTarget(triple.str(), error);
  if (!found) return absl::InternalError("cpu: " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.EmitStackSizeSection = true;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      triple.str(), cpu, host ? HostFeatures() : std::string(), options,
      llvm::Reloc::PIC_, llvm::CodeModel::Small,
      llvm::CodeGenOptLevel::Default));
  if (!machine) return absl::InternalError("cpu: no code generator");
  if (!host && !machine->getMCSubtargetInfo()->isCPUStringValid(cpu)) {
    return absl::InvalidArgumentError("cpu: target " + std::string(target) +
                                      " names no processor");
  }
  return Machine(machine.release());
}

unsigned VectorBytes(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& features = *machine.getMCSubtargetInfo();
  if (features.checkFeatures("+avx512f")) return 64;
  return features.checkFeatures("+avx") ? 32 : 16;
}

unsigned PreferredVectorBits(const llvm::TargetMachine& machine) {
  if (VectorBytes(machine) < 64) return 8 * VectorBytes(machine);
  llvm::StringRef cpu = machine.getTargetCPU();
  // Zen 4 splits 512-bit operations in two.
  return cpu == "znver4" ? 256 : 512;
}

}  // namespace hetgpu::cpu
