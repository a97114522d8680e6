// Which source line an instruction comes from, by a line table in DWARF form.
#ifndef HETGPU_BACKENDS_CUDA_LINE_TABLE_H_
#define HETGPU_BACKENDS_CUDA_LINE_TABLE_H_

#include <cstdint>
#include <string_view>

namespace hetgpu::cuda {

// 0 when the table, of versions 2 to 4, does not say.
uint32_t LineOf(std::string_view table, uint64_t address);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_LINE_TABLE_H_
