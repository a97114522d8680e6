// The kinds of module source, told apart by their first bytes.
#ifndef HETGPU_RUNTIME_MODULE_READERS_H_
#define HETGPU_RUNTIME_MODULE_READERS_H_

#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "hetir/module_info.h"

namespace hetgpu::runtime {

using ModuleReader = std::function<absl::StatusOr<ModuleInfo>(
    std::string_view bytes, std::string_view name)>;

// The description of a module, by the reader of its kind. Messages have a
// place; kUnimplemented = known but not supported.
absl::StatusOr<ModuleInfo> ReadModuleInfo(std::string_view bytes,
                                          std::string_view name);

// Tests: `reader` takes everything from now on; null ends that. Not to be
// called while modules load.
void OverrideModuleReader(ModuleReader reader);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_MODULE_READERS_H_
