// The host processor as LLVM sees it.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_MACHINE_H_
#define HETGPU_BACKENDS_CPU_COMPILE_MACHINE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::cpu {

// A machine that goes back to be used again when it is let go.
struct ReturnMachine {
  void operator()(llvm::TargetMachine* machine) const;
};
using Machine = std::unique_ptr<llvm::TargetMachine, ReturnMachine>;

// For one compilation. `target` is DeviceInfo::target of a CPU device
// (target_name.h); empty means this host. Another architecture than this
// host's is refused.
absl::StatusOr<Machine> TakeMachine(std::string_view target);

// Bits of the vectors to prefer: 512 only where the units are that wide.
unsigned PreferredVectorBits(const llvm::TargetMachine& machine);
// Of the widest vector registers: 16, 32 (AVX) or 64 (AVX-512).
unsigned VectorBytes(const llvm::TargetMachine& machine);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_MACHINE_H_
