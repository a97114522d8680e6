// Initial content on the host: reads files and runs generators.
#ifndef HETGPU_TOOLS_HETGPU_RUN_INIT_H_
#define HETGPU_TOOLS_HETGPU_RUN_INIT_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/common/host_bytes.h"
#include "tools/hetgpu-run/job.h"

namespace hetgpu::tools {

// A buffer whose type and size are known. `data` is empty when all is zero,
// and for addresses, which are not known before devices are.
struct HostArray {
  ElementType type = ElementType::kU8;
  uint64_t count = 0;
  uint64_t bytes = 0;
  HostBytes data;
  bool has_data = false;
};

// Errors name the buffer.
absl::StatusOr<HostArray> MakeHostArray(const BufferDef& def);

// The same with zeros written out, for comparisons on the host.
absl::StatusOr<HostArray> MakeReference(const BufferDef& def);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_INIT_H_
