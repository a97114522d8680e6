// SPECs of the command line. Files are never opened: "file:" is left out.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/hetgpu-run/spec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hetgpu::tools;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.find("file:") != text.npos) return 0;
  const auto argument = ParseArgumentSpec(text);
  // Exactly one of the two.
  if (argument.ok() &&
      argument->buffer.has_value() == argument->value.has_value()) {
    std::abort();
  }
  (void)ParseBufferSpec(text);
  (void)ParseSymbolSpec(text);
  (void)ParseExtent(text);
  (void)ParseAddress(text);
  return 0;
}
