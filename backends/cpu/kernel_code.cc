#include "backends/cpu/kernel_code.h"

#include <cstddef>

namespace hetgpu::cpu {

const LineRecord* KernelCode::RecordOf(uintptr_t pc) const {
  if (!Contains(pc)) return nullptr;
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
  return low == 0 ? nullptr : &lines[low - 1];
}

uint32_t KernelCode::LineOf(uintptr_t pc) const {
  const LineRecord* record = RecordOf(pc);
  return record == nullptr ? 0 : record->line;
}

uint16_t KernelCode::SiteOf(uintptr_t pc) const {
  const LineRecord* record = RecordOf(pc);
  return record == nullptr ? uint16_t{0} : record->site;
}

}  // namespace hetgpu::cpu
