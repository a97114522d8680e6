#include "runtime/module_source.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "frontend/ptx/access_summary.h"
#include "frontend/ptx/parser.h"
#include "hetir/container/container.h"
#include "runtime/error.h"
#include "runtime/file.h"
#include "runtime/platform.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {
namespace {

hetgpuResult CodeOf(const absl::Status& status) {
  return absl::IsUnimplemented(status) ? HETGPU_ERROR_UNSUPPORTED
                                       : HETGPU_ERROR_INVALID_MODULE;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ModuleSource>> ReadModuleSource(
    std::string_view bytes, std::string_view name) {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  const Digest digest = DigestOf(bytes);
  auto info = platform->jit().InfoOf(bytes, digest, name);
  if (!info.ok()) return Annotate(CodeOf(info.status()), "", info.status());
  auto source = std::make_shared<ModuleSource>();
  source->name = std::string(name);
  source->bytes = std::string(bytes);
  source->digest = digest;
  source->info = *std::move(info);
  if (source->info.name.empty()) source->info.name = source->name;
  return source;
}

AccessSummary FindAccess(const ModuleSource& source,
                         const KernelInfo& kernel) {
  if (kernel.access.is_known || IsContainer(source.bytes)) return kernel.access;
  const auto module = ptx::Parse(source.bytes, source.name);
  if (!module.ok()) return kernel.access;
  const auto function = (*module)->FindFunction(kernel.name);
  if (!function) return kernel.access;
  return ptx::SummariseAccess(**module, *function);
}

absl::StatusOr<std::string> ReadFileBytes(const std::string& path) {
  std::optional<std::string> bytes = ReadFile(path);
  if (!bytes) {
    return Error(HETGPU_ERROR_FILE_UNREADABLE, path, ": ",
                 std::strerror(errno));
  }
  if (bytes->empty()) {
    return Error(HETGPU_ERROR_INVALID_MODULE, path,
                 ": empty file, expected PTX text or a container");
  }
  return *std::move(bytes);
}

}  // namespace hetgpu::runtime
