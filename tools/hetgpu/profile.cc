// hetgpu profile: where the time of a program went, from its trace.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_format.h"
#include "tools/common/exit_code.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"
#include "tools/hetgpu/command.h"
#include "tools/hetgpu/trace_summary.h"

namespace hetgpu::tools {
namespace {

using Json = nlohmann::ordered_json;
using Row = std::pair<TraceProcess::Name, Activity>;

constexpr char kHelp[] =
    "Usage: hetgpu profile [--json] TRACE\n"
    "       hetgpu profile [--json] -- PROGRAM [ARGUMENTS]\n\n"
    "Shows where time went: kernels, copies, compilations, per context and\n"
    "host. Reads a trace that HETGPU_TRACE=TRACE made some program write, or\n"
    "runs PROGRAM and reads its trace.\n\n"
    "  --json  one JSON object\n"
    "  --help  this text\n";

struct Options {
  bool json = false;
  std::string trace;
  std::vector<std::string> program;
};

absl::StatusOr<Options> Parse(const std::vector<std::string_view>& args) {
  Options options;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--") {
      options.program.assign(args.begin() + i + 1, args.end());
      break;
    }
    if (args[i] == "--json") {
      options.json = true;
    } else if (args[i].starts_with("-")) {
      return absl::InvalidArgumentError(Cat("profile: unknown argument '",
                                            args[i],
                                            "'; try hetgpu profile --help"));
    } else if (options.trace.empty()) {
      options.trace = std::string(args[i]);
    } else {
      return absl::InvalidArgumentError(
          Cat("profile: a second trace '", args[i], "'"));
    }
  }
  if (options.trace.empty() == options.program.empty()) {
    return absl::InvalidArgumentError(
        "profile: expected a trace, or -- and a program; try hetgpu profile "
        "--help");
  }
  return options;
}

// Its output goes where ours goes. An error when it cannot be started.
absl::Status RunProgram(std::vector<std::string>& words,
                        const std::string& trace) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return absl::InternalError("cannot start a process");
  if (child == 0) {
    setenv("HETGPU_TRACE", trace.c_str(), 1);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    std::fprintf(stderr, "hetgpu: error: profile: cannot run %s: %s\n", argv[0],
                 std::strerror(errno));
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return absl::NotFoundError(Cat("profile: ", words[0], " did not run"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "hetgpu: profile: %s ended with exit code %d\n",
                 words[0].c_str(), WEXITSTATUS(status));
  } else if (WIFSIGNALED(status)) {
    std::fprintf(stderr, "hetgpu: profile: %s ended by signal %d\n",
                 words[0].c_str(), WTERMSIG(status));
  }
  return absl::OkStatus();
}

absl::StatusOr<TraceSummary> ReadTrace(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    return absl::NotFoundError(
        Cat("cannot read ", path, ": ", std::strerror(errno)));
  }
  auto summary = Summarise(file);
  if (!summary.ok()) return Annotate(summary.status(), path);
  return summary;
}

absl::StatusOr<TraceSummary> TraceOf(std::vector<std::string>& program) {
  std::error_code no_folder;
  std::string folder = std::filesystem::temp_directory_path(no_folder) /
                       "hetgpu-profile-XXXXXX";
  if (no_folder || mkdtemp(folder.data()) == nullptr) {
    return absl::NotFoundError(
        Cat("cannot make a folder for the trace: ",
            no_folder ? no_folder.message()
                      : std::string(std::strerror(errno))));
  }
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  };
  const std::string trace = Cat(folder, "/trace.json");
  RETURN_IF_ERROR(RunProgram(program, trace));
  if (!std::filesystem::exists(trace)) {
    return absl::NotFoundError(
        Cat("profile: ", program[0], " did not use libhetgpu"));
  }
  return ReadTrace(trace);
}

// Longest first.
std::vector<Row> RowsOf(const TraceProcess& process) {
  std::vector<Row> rows(process.activities.begin(), process.activities.end());
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.second.total_ms > b.second.total_ms;
  });
  return rows;
}

double Rate(const Activity& activity) {
  if (activity.bytes == 0 || activity.total_ms == 0) return 0;
  return static_cast<double>(activity.bytes) / activity.total_ms * 1e-6;
}

void PrintProcess(const TraceProcess& process) {
  if (process.activities.empty() && process.failures.empty()) return;
  absl::PrintF("\n%s: busy %.3f ms of %.3f ms\n", process.name, process.busy_ms,
               process.span_ms);
  absl::PrintF("  %-8s %-32s %8s %11s %11s %11s %11s %8s\n", "what", "name",
               "count", "total ms", "mean ms", "min ms", "max ms", "GB/s");
  for (const auto& [name, activity] : RowsOf(process)) {
    absl::PrintF("  %-8s %-32s %8d %11.4f %11.4f %11.4f %11.4f", name.first,
                 name.second, activity.count, activity.total_ms,
                 activity.total_ms / activity.count, activity.min_ms,
                 activity.max_ms);
    if (activity.bytes != 0) absl::PrintF(" %8.2f", Rate(activity));
    absl::PrintF("\n");
  }
  for (const std::string& failure : process.failures) {
    absl::PrintF("  failed: %s\n", failure);
  }
}

Json ToJson(const TraceProcess& process) {
  Json rows = Json::array();
  for (const auto& [name, activity] : RowsOf(process)) {
    rows.push_back({{"category", name.first},
                    {"name", name.second},
                    {"count", activity.count},
                    {"total_ms", activity.total_ms},
                    {"min_ms", activity.min_ms},
                    {"max_ms", activity.max_ms},
                    {"bytes", activity.bytes}});
  }
  return {{"name", process.name},
          {"busy_ms", process.busy_ms},
          {"span_ms", process.span_ms},
          {"activities", std::move(rows)},
          {"failures", process.failures}};
}

void PrintJson(const TraceSummary& summary) {
  Json root = {{"complete", summary.complete}, {"processes", Json::array()}};
  for (const TraceProcess& process : summary.processes) {
    root["processes"].push_back(ToJson(process));
  }
  std::puts(root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

absl::Status RunProfile(const std::vector<std::string_view>& args) {
  if (std::find(args.begin(), args.end(), "--help") <
      std::find(args.begin(), args.end(), "--")) {
    std::fputs(kHelp, stdout);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Options options, Parse(args));
  ASSIGN_OR_RETURN(const TraceSummary summary,
                   options.program.empty() ? ReadTrace(options.trace)
                                           : TraceOf(options.program));
  if (options.json) {
    PrintJson(summary);
    return absl::OkStatus();
  }
  for (const TraceProcess& process : summary.processes) PrintProcess(process);
  if (!summary.complete) {
    std::puts("\nThe trace is incomplete: the program was killed.");
  }
  return absl::OkStatus();
}

}  // namespace hetgpu::tools
