// `.hetir` files: any bytes are read safely, and what is accepted says the same
// when it is written and read again. The header is repaired first, or the hash
// would keep everything behind it from being reached.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "hetir/container/container.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void Check(const std::string& bytes) {
  auto container = hetgpu::ReadContainer(bytes, "f.hetir");
  if (!container.ok()) {
    std::string message(container.status().message());
    Require(message.rfind("f.hetir: ", 0) == 0);
    return;
  }
  for (const hetgpu::KernelInfo& kernel : container->info.kernels) {
    for (const hetgpu::ParamInfo& param : kernel.params) {
      Require(uint64_t{param.offset} + param.size <= kernel.param_bytes);
    }
  }
  for (const hetgpu::SymbolInfo& symbol : container->info.symbols) {
    Require(symbol.offset + symbol.size <= container->info.data_size);
  }
  std::string again = hetgpu::WriteContainer(
      container->info, container->source_map, container->bytecode);
  auto second = hetgpu::ReadContainer(again, "f.hetir");
  Require(second.ok());
  Require(hetgpu::WriteContainer(second->info, second->source_map,
                                 second->bytecode) == again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes);
  if (size < 48) return 0;
  bytes.replace(0, 16, std::string_view("HETIR\0\r\n\1\0\0\0\1\0\0\0", 16));
  hetgpu::SealContainer(&bytes);
  Check(bytes);
  return 0;
}
