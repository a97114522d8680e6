// From bytes to ModuleInfo, without a compiler.
#ifndef HETGPU_RUNTIME_MODULE_SOURCE_H_
#define HETGPU_RUNTIME_MODULE_SOURCE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hetir/module_info.h"
#include "runtime/jit_cache.h"

namespace hetgpu::runtime {

// A module's source and what is known of it. Immutable.
struct ModuleSource {
  std::string name;   // for messages
  std::string bytes;  // PTX text or container
  Digest digest;      // of bytes
  ModuleInfo info;
};

// Which of the two it is, is seen from the first bytes. INVALID_MODULE or
// UNSUPPORTED with a place.
absl::StatusOr<std::shared_ptr<const ModuleSource>> ReadModuleSource(
    std::string_view bytes, std::string_view name);

// What a kernel of the module may access: from its description, or else found by
// reading the source again.
AccessSummary FindAccess(const ModuleSource& source, const KernelInfo& kernel);

// FILE_UNREADABLE says why.
absl::StatusOr<std::string> ReadFileBytes(const std::string& path);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_MODULE_SOURCE_H_
