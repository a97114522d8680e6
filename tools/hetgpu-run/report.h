// What a run found out, and its two renderings: text and JSON.
#ifndef HETGPU_TOOLS_HETGPU_RUN_REPORT_H_
#define HETGPU_TOOLS_HETGPU_RUN_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/common/element_type.h"
#include "tools/hetgpu-run/compare.h"
#include "tools/hetgpu-run/runner.h"

namespace hetgpu::tools {

struct OutputReport {
  std::string name;
  ElementType type = ElementType::kU8;
  uint64_t count = 0;
  std::optional<std::vector<std::string>> values;  // printed elements
  std::vector<std::string> picture;                // rows
  std::string file;                                // written to, or ""
  std::optional<CompareResult> check;
};

struct TimeReport {
  std::vector<double> milliseconds;  // one per run, sorted
  Work work;                         // of one run
  double median() const;
};

struct KernelReport {
  std::string name;
  std::string explanation;   // how it runs and why
  std::string origin;        // "compiled", "disk cache" or "memory cache"
  uint64_t image_bytes = 0;  // of machine code
  double prepare_ms = 0;     // until ready to launch
  double compile_ms = 0;     // in the compiler, of that
};

struct Report {
  std::string module, device, backend, target;
  std::vector<KernelReport> kernels;  // --debug-kernel only
  std::vector<OutputReport> outputs;
  std::optional<TimeReport> time;
  uint64_t launches = 0;
};

// For people, on stdout; debugging on stderr.
void PrintText(const Report& report);

// One object on stdout. With an error that is told too.
void PrintJson(const Report& report, const absl::Status& status);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_REPORT_H_
