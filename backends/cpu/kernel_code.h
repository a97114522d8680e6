// What the block executor needs to know of a kernel's code. The image loader
// makes one; tests make their own from functions of the test binary.
#ifndef HETGPU_BACKENDS_CPU_KERNEL_CODE_H_
#define HETGPU_BACKENDS_CPU_KERNEL_CODE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/abi.h"

namespace hetgpu::cpu {

struct KernelCode {
  std::string name;
  Entry entry = nullptr;
  uintptr_t begin = 0;  // emitted code lies in [begin, end)
  uintptr_t end = 0;
  std::vector<LineRecord> lines;  // sorted by code_offset
  uint32_t lanes_per_unit = 1;
  bool needs_fibers = false;
  uint32_t stack_bytes = 0;  // per unit, 0 = not known

  bool Contains(uintptr_t pc) const { return pc >= begin && pc < end; }
  // Line of the instruction at `pc`, 0 = unknown. Safe in signal handlers.
  uint32_t LineOf(uintptr_t pc) const;
  // How it accesses memory (access_site.h), packed; 0 = unknown.
  uint16_t SiteOf(uintptr_t pc) const;

 private:
  const LineRecord* RecordOf(uintptr_t pc) const;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_KERNEL_CODE_H_
