// The public C API seen as statuses and owned handles.
#ifndef HETGPU_TOOLS_COMMON_API_STATUS_H_
#define HETGPU_TOOLS_COMMON_API_STATUS_H_

#include <memory>
#include <type_traits>

#include "absl/status/status.h"
#include "hetgpu/hetgpu.h"

namespace hetgpu::tools {

// The failure that `result` stands for, with the library's own detail as text;
// call it on the thread of the failing call, before any other call. Its code
// selects the exit code (tools/common/exit_code.h).
absl::Status ToStatus(hetgpuResult result);

template <auto kDestroy>
struct HandleDeleter {
  template <typename T>
  void operator()(T* handle) const {
    // Nothing can be done about a failure at the end.
    (void)kDestroy(handle);
  }
};
template <typename Handle, auto kDestroy>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, HandleDeleter<kDestroy>>;

using ContextHandle = Owned<hetgpuContext, hetgpuContextDestroy>;
using EventHandle = Owned<hetgpuEvent, hetgpuEventDestroy>;

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_API_STATUS_H_
