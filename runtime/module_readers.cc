#include "runtime/module_readers.h"

#include <utility>

#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"
#include "hetir/container/container.h"

namespace hetgpu::runtime {
namespace {

ModuleReader& Override() {
  static ModuleReader* const reader = new ModuleReader;
  return *reader;
}

}  // namespace

absl::StatusOr<ModuleInfo> ReadModuleInfo(std::string_view bytes,
                                          std::string_view name) {
  if (Override()) return Override()(bytes, name);
  if (IsContainer(bytes)) {
    auto container = ReadContainer(bytes, name);
    if (!container.ok()) return container.status();
    return std::move(container->info);
  }
  auto module = ptx::Parse(bytes, name);
  if (!module.ok()) return module.status();
  return ptx::BuildModuleInfo(**module);
}

void OverrideModuleReader(ModuleReader reader) {
  Override() = std::move(reader);
}

}  // namespace hetgpu::runtime
