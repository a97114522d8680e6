// A relocatable x86-64 ELF object to the flat image of abi.h.
//
//   code block:  .text | .rodata… | stubs | import slots
//
// A call of an imported function goes to its stub, `jmp *slot(%rip)`; code
// that reads the address through the GOT reads the slot. Nothing else may be
// left open, and nothing is writable.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_LINK_H_
#define HETGPU_BACKENDS_CPU_COMPILE_LINK_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/cpu/abi.h"

namespace hetgpu::cpu {

struct LinkOptions {
  unsigned lanes = 1;
  bool needs_fibers = false;
  std::string explanation;
  std::string entry;  // symbol
};

absl::StatusOr<std::string> LinkImage(std::string_view object,
                                      const LinkOptions& options);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_LINK_H_
