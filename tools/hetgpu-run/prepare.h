// Compiles the kernels of a job on a thread of its own: while buffers are made,
// because a cold start is mostly compiling and that needs one core only, and so
// that a compilation can be given up. Nothing stops a compiler that is at work:
// a run that gives up leaves the thread behind and ends the process without
// tearing anything down (Abandoned()).
#ifndef HETGPU_TOOLS_HETGPU_RUN_PREPARE_H_
#define HETGPU_TOOLS_HETGPU_RUN_PREPARE_H_

#include <memory>
#include <thread>
#include <vector>

#include "tools/hetgpu-run/interrupt.h"
#include "tools/hetgpu-run/job.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

class Prepare {
 public:
  // Starts at once. Failures are left to the launch, which meets them again and
  // reports them.
  Prepare(std::vector<hetgpuFunction> functions, Session* session);
  // Does not wait for the compiler: leaves the thread and the session behind
  // when it is at work.
  ~Prepare();
  Prepare(const Prepare&) = delete;
  Prepare& operator=(const Prepare&) = delete;

  // Until the kernel, one of those given, is compiled. DeadlineExceeded after
  // the session's timeout, Cancelled when interrupted.
  absl::Status Wait(const Kernel& kernel, const Progress& progress);

  // Whether a compiler is still at work that the run has given up: the process
  // must end by _exit().
  static bool Abandoned();

 private:
  struct Shared;
  static void Work(const std::shared_ptr<Shared>& shared,
                   const std::vector<hetgpuFunction>& functions);

  Session* const session_;
  const std::vector<hetgpuFunction> functions_;
  const std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

// The kernels that the steps launch, in order of first launch; unknown ones are
// skipped.
std::vector<hetgpuFunction> FunctionsOf(const Steps& steps, Session* session);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_PREPARE_H_
