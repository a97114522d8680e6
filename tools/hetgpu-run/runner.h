// Carries out the steps of a job on a session.
#ifndef HETGPU_TOOLS_HETGPU_RUN_RUNNER_H_
#define HETGPU_TOOLS_HETGPU_RUN_RUNNER_H_

#include <cstdint>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "tools/hetgpu-run/arguments.h"
#include "tools/hetgpu-run/interrupt.h"
#include "tools/hetgpu-run/job.h"
#include "tools/hetgpu-run/memory.h"
#include "tools/hetgpu-run/prepare.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

// Work done by the launches so far.
struct Work {
  uint64_t launches = 0;
  double flops = 0, bytes = 0;
};

class Runner {
 public:
  // `prepare` compiles the kernels that steps launch; null when all are.
  Runner(Session* session, Memory* memory, Prepare* prepare, Progress* progress)
      : session_(session),
        memory_(memory),
        prepare_(prepare),
        progress_(progress) {}

  // Finds every kernel, buffer and argument that the steps name, so that a
  // long run does not fail on a misspelt word at its end. Loops are gone
  // through with all their values until many steps have been looked at; what
  // remains is found when it runs.
  absl::Status Validate(const Steps& steps);

  // Enqueues all steps and waits for the last. Cancelled when interrupted.
  absl::Status Run(const Steps& steps);

  const Work& work() const { return work_; }
  void ResetWork() {
    earlier_launches_ += work_.launches;
    work_ = {};
  }

  // Kernels seen by Validate, in order of their names.
  const std::set<std::string>& kernels() const { return kernel_names_; }

 private:
  absl::Status ValidateStep(const Step& step, Variables& variables);
  absl::Status Check(const LaunchStep& launch, Variables& variables);
  absl::Status Check(const RepeatStep& repeat, Variables& variables);
  absl::Status Check(const ForStep& loop, Variables& variables);
  absl::Status Check(const SwapStep& swap, Variables& variables);
  absl::Status Check(const CopyStep& copy, Variables& variables);
  absl::Status Check(const FillStep& fill, Variables& variables);

  absl::Status RunSteps(const Steps& steps, Variables& variables);
  absl::Status Enqueue(const Kernel& kernel, const LaunchStep& launch,
                       const std::string& block);
  absl::Status Do(const LaunchStep& launch, Variables& variables);
  absl::Status Do(const RepeatStep& repeat, Variables& variables);
  absl::Status Do(const ForStep& loop, Variables& variables);
  absl::Status Do(const SwapStep& swap, Variables& variables);
  absl::Status Do(const CopyStep& copy, Variables& variables);
  absl::Status Do(const FillStep& fill, Variables& variables);

  absl::StatusOr<std::string> Pack(const Kernel& kernel,
                                   const LaunchStep& launch,
                                   const Variables& variables);
  absl::StatusOr<bool> Holds(const Until& until);
  absl::Status SynchronizeSometimes();
  absl::Status Synchronize();

  Session* session_;
  Memory* memory_;
  Prepare* prepare_;
  Progress* progress_;
  Work work_;
  std::set<std::string> kernel_names_;
  std::set<const Kernel*> compiled_;  // those waited for
  uint64_t validated_ = 0;         // steps
  uint64_t earlier_launches_ = 0;  // before the last ResetWork
  uint64_t queued_ = 0;            // commands since the last synchronisation
  uint64_t batch_ = 1;             // how many to queue before the next
};

// Launches that the steps make when no loop ends early; 0 when that number is
// beyond counting.
uint64_t CountLaunches(const Steps& steps);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_RUNNER_H_
