#include "backends/cuda/compile/machine.h"

#include <charconv>
#include <string>

#include "llvm/MC/TargetRegistry.h"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace hetgpu::cuda {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
// The newest version of PTX that this LLVM writes.
constexpr char kPtx[] = "+ptx83";
constexpr unsigned kLeast = 70;
// In descending order.
constexpr unsigned kKnown[] = {90, 89, 87, 86, 80, 75, 72, 70};

void InitializeOnce() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

}  // namespace

absl::StatusOr<unsigned> ComputeCapability(std::string_view target) {
  unsigned sm = 0;
  const bool prefixed = target.substr(0, 3) == "sm_";
  const char* const end = target.data() + target.size();
  if (!prefixed ||
      std::from_chars(target.data() + 3, end, sm).ec != std::errc()) {
    return absl::InvalidArgumentError("cuda: target " + std::string(target) +
                                      ", expected one such as sm_90");
  }
  if (sm < kLeast) {
    return absl::UnimplementedError(
        "cuda: target " + std::string(target) + ", expected sm_" +
        std::to_string(kLeast) + " or newer");
  }
  for (unsigned known : kKnown) {
    if (known <= sm) return known;
  }
  return kLeast;
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(
    unsigned sm) {
  InitializeOnce();
  std::string error;
  const llvm::Target* found =
      llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!found) return absl::InternalError("cuda: " + error);
  llvm::TargetOptions options;
  // hetIR says what is fused.
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(found->createTargetMachine(
      kTriple, "sm_" + std::to_string(sm), kPtx, options, std::nullopt,
      std::nullopt, llvm::CodeGenOptLevel::Default));
  if (!machine) return absl::InternalError("cuda: no code generator");
  return machine;
}

}  // namespace hetgpu::cuda
