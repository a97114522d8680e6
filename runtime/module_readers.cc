#include "runtime/module_readers.h"

#include <utility>

#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"
#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

constexpr std::string_view kContainerMagic("HETIR\0", 6);

ModuleReader& Override() {
  static ModuleReader* const reader = new ModuleReader;
  return *reader;
}

}  // namespace

absl::StatusOr<ModuleInfo> ReadModuleInfo(std::string_view bytes,
                                          std::string_view name) {
  if (Override()) return Override()(bytes, name);
  if (bytes.substr(0, kContainerMagic.size()) == kContainerMagic) {
    return absl::UnimplementedError(
        Cat(name, ": hetIR containers are not in this build"));
  }
  auto module = ptx::Parse(bytes, name);
  if (!module.ok()) return module.status();
  return ptx::BuildModuleInfo(**module);
}

void OverrideModuleReader(ModuleReader reader) {
  Override() = std::move(reader);
}

}  // namespace hetgpu::runtime
