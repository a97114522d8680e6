// Compiles the kernels of a job while its buffers are made: a cold start is
// mostly compiling, and that needs one core only.
#ifndef HETGPU_TOOLS_HETGPU_RUN_PREPARE_H_
#define HETGPU_TOOLS_HETGPU_RUN_PREPARE_H_

#include <atomic>
#include <thread>
#include <vector>

#include "tools/hetgpu-run/job.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

// Starts at once, in order of first launch. Failures are left to the launch,
// which meets them again and reports them; unknown kernels are skipped.
class Prepare {
 public:
  Prepare(const Steps& steps, Session* session);
  // Waits for the kernel being compiled, not for those behind it.
  ~Prepare();
  Prepare(const Prepare&) = delete;
  Prepare& operator=(const Prepare&) = delete;

 private:
  std::vector<hetgpuFunction> functions_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_PREPARE_H_
