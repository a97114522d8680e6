#include "backends/cpu/kernel_code.h"

#include <cstddef>

namespace hetgpu::cpu {

uint32_t KernelCode::LineOf(uintptr_t pc) const {
  if (!Contains(pc)) return 0;
  const uintptr_t offset = pc - begin;
  size_t low = 0, high = lines.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (lines[middle].code_offset <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == 0 ? 0 : lines[low - 1].line;
}

}  // namespace hetgpu::cpu
