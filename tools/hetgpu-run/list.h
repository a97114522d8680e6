// Lists the kernels and globals of a module.
#ifndef HETGPU_TOOLS_HETGPU_RUN_LIST_H_
#define HETGPU_TOOLS_HETGPU_RUN_LIST_H_

#include <string>

#include "absl/status/status.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

// On stdout, as text or JSON.
absl::Status ListModule(const Session& session, const std::string& path,
                        bool json);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_LIST_H_
