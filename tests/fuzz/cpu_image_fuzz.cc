// CPU kernel images: what is accepted has its entry and lines inside its code.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backends/cpu/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hetgpu::cpu;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto image = LoadedImage::Load("fuzz", bytes);
  if (!image.ok()) return 0;
  const KernelCode& code = (*image)->code();
  if (!code.Contains(reinterpret_cast<uintptr_t>(code.entry))) std::abort();
  for (const LineRecord& line : code.lines) {
    if (line.code_offset > code.end - code.begin) std::abort();
  }
  (void)code.LineOf(code.end - 1);
  return 0;
}
