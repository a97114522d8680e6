// Device printf: any format, with arguments that are harmless whatever type the
// format takes them for: every word is null or a small number.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "backends/cpu/print_format.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hetgpu::cpu;
  static std::vector<char> buffer(kMaxPrintBytes);
  const std::string format(reinterpret_cast<const char*>(data), size);
  // A conversion takes three arguments at most: width, precision, value.
  const std::vector<uint64_t> arguments(3 * size + 3);
  BoundedText out(buffer.data(), buffer.size());
  const int32_t count =
      FormatPrintf(reinterpret_cast<uint64_t>(format.c_str()),
                   reinterpret_cast<uint64_t>(arguments.data()), &out);
  if (count < 0 || static_cast<size_t>(count) > 3 * size) std::abort();
  if (out.view().size() > kMaxPrintBytes) std::abort();
  return 0;
}
