// What the api_*.cc files share: each C function is a body that returns an
// absl::Status, handed to Api().
#ifndef HETGPU_RUNTIME_API_H_
#define HETGPU_RUNTIME_API_H_

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "runtime/context.h"
#include "runtime/error.h"
#include "runtime/handle_table.h"
#include "runtime/status_macros.h"
#include "runtime/stream.h"
#include "runtime/struct_size.h"

namespace hetgpu::runtime {

template <typename Body>
hetgpuResult Api(Body&& body) {
  return Report(std::forward<Body>(body)());
}

// The stream of a handle; for null, the default stream of `context`.
inline absl::StatusOr<std::shared_ptr<Stream>> LookupStream(
    hetgpuStream handle, const Context& context) {
  if (handle != nullptr) return Lookup<Stream>(handle);
  auto stream = context.default_stream();
  if (stream == nullptr) {
    return Error(HETGPU_ERROR_INVALID_HANDLE,
                 "context was destroyed during the call");
  }
  return stream;
}

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_API_H_
