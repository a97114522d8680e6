// .npy files: whatever is accepted must describe exactly the bytes there are.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/common/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hetgpu::tools;
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto header = ParseNpy(file);
  if (!header.ok()) return 0;
  const uint64_t bytes = header->count * SizeOf(header->type);
  if (header->data_offset + bytes != size) std::abort();
  return 0;
}
