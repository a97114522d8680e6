#include "tools/hetgpu-run/execute.h"

#include <algorithm>
#include <chrono>

#include "absl/cleanup/cleanup.h"
#include "tools/common/status_macros.h"
#include "tools/hetgpu-run/memory.h"
#include "tools/hetgpu-run/outputs.h"
#include "tools/hetgpu-run/prepare.h"
#include "tools/hetgpu-run/runner.h"

namespace hetgpu::tools {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

uint64_t Counter(hetgpuCounter counter) {
  uint64_t value = 0;
  (void)hetgpuGetCounter(counter, &value);
  return value;
}

absl::StatusOr<KernelReport> DebugKernel(const Kernel& kernel,
                                         Session* session,
                                         const Progress& progress) {
  KernelReport report;
  report.name = kernel.name;
  const uint64_t compiles = Counter(HETGPU_COUNTER_COMPILES);
  const uint64_t disk_hits = Counter(HETGPU_COUNTER_CACHE_DISK_HITS);
  const uint64_t compile_ns = Counter(HETGPU_COUNTER_COMPILE_NS);
  const auto start = Clock::now();
  Prepare prepare({kernel.handle}, session);
  RETURN_IF_ERROR(prepare.Wait(kernel, progress));
  RETURN_IF_ERROR(ToStatus(hetgpuFunctionPrepare(kernel.handle)));
  report.prepare_ms = MillisecondsSince(start);
  report.compile_ms =
      static_cast<double>(Counter(HETGPU_COUNTER_COMPILE_NS) - compile_ns) *
      1e-6;
  const char* explanation = "";
  RETURN_IF_ERROR(ToStatus(hetgpuFunctionGetText(
      kernel.handle, HETGPU_FUNCTION_TEXT_EXPLANATION, &explanation)));
  report.explanation = explanation;
  report.image_bytes =
      Session::Attribute(kernel.handle, HETGPU_FUNCTION_IMAGE_BYTES);
  report.origin = Counter(HETGPU_COUNTER_COMPILES) > compiles ? "compiled"
                  : Counter(HETGPU_COUNTER_CACHE_DISK_HITS) > disk_hits
                      ? "disk cache hit"
                  : report.image_bytes == 0 ? "left to the driver"
                                            : "memory cache hit";
  return report;
}

// One run of all steps, from fresh memory.
absl::Status RunOnce(const Job& job, Memory& memory, Runner& runner) {
  RETURN_IF_ERROR(memory.Initialize());
  runner.ResetWork();
  return runner.Run(job.steps);
}

absl::StatusOr<EventHandle> MakeEvent(const Session& session) {
  hetgpuEvent event = nullptr;
  RETURN_IF_ERROR(ToStatus(hetgpuEventCreate(session.context(), 0, &event)));
  return EventHandle(event);
}

// Runs again, with the device's clock around the steps alone.
absl::Status TimeRuns(const Job& job, uint32_t runs, const Session& session,
                      Memory& memory, Runner& runner, TimeReport* report) {
  ASSIGN_OR_RETURN(const EventHandle begin, MakeEvent(session));
  ASSIGN_OR_RETURN(const EventHandle end, MakeEvent(session));
  for (uint32_t i = 0; i < runs; ++i) {
    RETURN_IF_ERROR(memory.Initialize());
    // Nothing of the copies may be left in the timed span.
    RETURN_IF_ERROR(ToStatus(hetgpuStreamSynchronize(session.stream())));
    runner.ResetWork();
    RETURN_IF_ERROR(ToStatus(hetgpuEventRecord(begin.get(), session.stream())));
    RETURN_IF_ERROR(runner.Run(job.steps));
    RETURN_IF_ERROR(ToStatus(hetgpuEventRecord(end.get(), session.stream())));
    RETURN_IF_ERROR(ToStatus(hetgpuEventSynchronize(end.get())));
    double milliseconds = 0;
    RETURN_IF_ERROR(
        ToStatus(hetgpuEventElapsedMs(begin.get(), end.get(), &milliseconds)));
    report->milliseconds.push_back(milliseconds);
  }
  std::sort(report->milliseconds.begin(), report->milliseconds.end());
  report->work = runner.work();
  return absl::OkStatus();
}

}  // namespace

absl::Status Execute(const Job& job, const ExecuteOptions& options,
                     Session* session, Watcher* watcher, Progress* progress,
                     Report* report) {
  // With --debug-kernel compiling is timed, so nothing else goes on.
  std::optional<Prepare> prepare;
  if (!options.debug_kernel) {
    prepare.emplace(FunctionsOf(job.steps, session), session);
  }
  Memory memory(session);
  Runner runner(session, &memory, prepare ? &*prepare : nullptr, progress);
  RETURN_IF_ERROR(memory.Create(job));
  RETURN_IF_ERROR(runner.Validate(job.steps));
  RETURN_IF_ERROR(ValidateOutputs(job.outputs, *session, memory));
  if (options.debug_kernel) {
    for (const std::string& name : runner.kernels()) {
      ASSIGN_OR_RETURN(const Kernel* kernel, session->FindKernel(name));
      ASSIGN_OR_RETURN(KernelReport kernel_report,
                       DebugKernel(*kernel, session, *progress));
      report->kernels.push_back(std::move(kernel_report));
    }
  }
  const uint64_t rounds = 1 + options.time_runs.value_or(0);
  progress->launches_total = CountLaunches(job.steps) * rounds;
  // After a failure copies may be in flight still that read host memory.
  absl::Cleanup quiesce = [session] {
    (void)hetgpuStreamCancel(session->stream());
    (void)hetgpuStreamSynchronize(session->stream());
  };
  watcher->SetStream(session->stream());
  // The stream dies with the session, perhaps before the watcher.
  absl::Cleanup forget = [watcher] { watcher->SetStream(nullptr); };
  RETURN_IF_ERROR(RunOnce(job, memory, runner));
  report->launches = runner.work().launches;
  if (options.time_runs) {
    report->time.emplace();
    RETURN_IF_ERROR(TimeRuns(job, *options.time_runs, *session, memory, runner,
                             &*report->time));
  }
  std::move(forget).Invoke();
  RETURN_IF_ERROR(memory.CheckReadonly());
  RETURN_IF_ERROR(
      CollectOutputs(job.outputs, *session, memory, &report->outputs));
  return CheckVerdict(report->outputs);
}

}  // namespace hetgpu::tools
