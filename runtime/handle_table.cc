#include "runtime/handle_table.h"

#include "absl/strings/str_format.h"

namespace hetgpu::runtime {

std::string_view NameOf(HandleKind kind) {
  switch (kind) {
    case HandleKind::kDevice:
      return "device";
    case HandleKind::kContext:
      return "context";
    case HandleKind::kModule:
      return "module";
    case HandleKind::kFunction:
      return "function";
    case HandleKind::kStream:
      return "stream";
    case HandleKind::kEvent:
      return "event";
    case HandleKind::kTexture:
      return "texture";
  }
  return "";
}

absl::Status BadHandle(HandleKind kind, uint64_t handle) {
  const std::string_view wanted = NameOf(kind);
  if (handle == 0) {
    return Error(HETGPU_ERROR_INVALID_HANDLE, "null ", wanted, " handle");
  }
  const auto found_kind = static_cast<HandleKind>(handle >> 60);
  const std::string_view found = NameOf(found_kind);
  std::string reason = "was never given out";
  if (found_kind == kind) {
    reason = "was destroyed or never existed";
  } else if (!found.empty()) {
    reason = Cat("names a ", found);
  }
  return MakeError(
      HETGPU_ERROR_INVALID_HANDLE,
      absl::StrFormat("%s handle 0x%x %s", wanted, handle, reason));
}

}  // namespace hetgpu::runtime
