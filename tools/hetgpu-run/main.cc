// hetgpu-run: options → job → session → report. Everything that can fail is a
// status; Finish turns it into one line and an exit code.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "tools/common/exit_code.h"
#include "tools/common/host_bytes.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"
#include "tools/hetgpu-run/execute.h"
#include "tools/hetgpu-run/list.h"
#include "tools/hetgpu-run/options.h"
#include "tools/hetgpu-run/prepare.h"

namespace hetgpu::tools {
namespace {

constexpr char kTool[] = "hetgpu-run";
constexpr uint64_t kMaxModule = uint64_t{1} << 30;

// The library reads its modes from the environment when first called.
void SetModes(const Options& options) {
  if (!options.fp_mode.empty()) {
    setenv("HETGPU_FP_MODE", options.fp_mode.c_str(), 1);
  }
  if (!options.cpu_mode.empty()) {
    setenv("HETGPU_CPU_MODE", options.cpu_mode.c_str(), 1);
  }
  if (options.memcheck) setenv("HETGPU_CPU_MEMCHECK", "1", 1);
}

absl::Status OpenSession(const Options& options, const std::string& module,
                         Session* session, Report* report) {
  report->module = module;
  // First, because it is the likeliest mistake.
  ASSIGN_OR_RETURN(const HostBytes text, ReadFile(module, kMaxModule));
  RETURN_IF_ERROR(session->Open({.device = options.device,
                                 .timeout_ms = options.timeout_ms,
                                 .printf_to_stderr = options.json}));
  report->device = session->device().name;
  report->backend = session->device().backend;
  report->target = session->device().target;
  if (options.memcheck && report->backend != "cpu") {
    return absl::InvalidArgumentError("--memcheck: device " + report->device +
                                      " cannot check accesses exactly, "
                                      "expected a CPU");
  }
  return session->LoadModule(text.view(), module);
}

absl::Status List(const Options& options) {
  Session session;
  Report report;
  absl::Status status = OpenSession(options, options.file, &session, &report);
  if (status.ok()) status = ListModule(session, options.file, options.json);
  if (!status.ok() && options.json) PrintJson(report, status);
  return status;
}

// Names the plan where the place is inside of it. What is wrong there is a bad
// input file, not a wrong command line.
absl::Status InPlan(const std::string& plan, const absl::Status& status) {
  const bool placed = ToStd(status.message()).starts_with("$");
  const bool wrong = absl::IsInvalidArgument(status);
  if (!placed && !wrong) return status;
  const absl::Status annotated = Annotate(status, plan);
  return wrong ? absl::DataLossError(annotated.message()) : annotated;
}

absl::Status RunJob(const Options& options, Report* report) {
  ASSIGN_OR_RETURN(const Job job, MakeJob(options));
  if (!job.description.empty() && !options.json) {
    std::puts(job.description.c_str());
  }
  BlockSignals();
  Progress progress;
  Session session;
  Watcher watcher(&progress, !options.no_progress);
  RETURN_IF_ERROR(OpenSession(options, job.module, &session, report));
  const absl::Status status =
      Execute(job, {options.time_runs, options.debug_kernel}, &session,
              &watcher, &progress, report);
  return options.plan.empty() ? status : InPlan(options.plan, status);
}

absl::Status Run(const Options& options) {
  Report report;
  const absl::Status status = RunJob(options, &report);
  if (options.json)
    PrintJson(report, status);
  else
    PrintText(report);
  return status;
}

absl::Status Main(int argc, char** argv) {
  ASSIGN_OR_RETURN(const Options options, ParseOptions(argc, argv));
  if (options.text) {
    std::fputs(options.text->c_str(), stdout);
    return absl::OkStatus();
  }
  SetModes(options);
  return WantsList(options) ? List(options) : Run(options);
}

// A compiler that nobody waits for may be at work: nothing it uses may go.
int End(const absl::Status& status) {
  const int code = Finish(kTool, status);
  if (!Prepare::Abandoned()) return code;
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace
}  // namespace hetgpu::tools

int main(int argc, char** argv) {
  using namespace hetgpu::tools;
  try {
    absl::Status status = Main(argc, argv);
    if (std::fflush(stdout) != 0 && status.ok()) {
      status = absl::NotFoundError("cannot write to standard output");
    }
    return End(status);
  } catch (const std::bad_alloc&) {
    return End(absl::ResourceExhaustedError("out of host memory"));
  } catch (const std::exception& error) {
    return End(absl::InternalError(error.what()));
  }
}
