// A trace that HETGPU_TRACE wrote, summed up.
#ifndef HETGPU_TOOLS_HETGPU_TRACE_SUMMARY_H_
#define HETGPU_TOOLS_HETGPU_TRACE_SUMMARY_H_

#include <cstdint>
#include <istream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace hetgpu::tools {

// What happened under one name. Times are milliseconds.
struct Activity {
  uint64_t count = 0;
  uint64_t bytes = 0;
  double total_ms = 0;
  double min_ms = 0;
  double max_ms = 0;
};

// One context on a device, or the host.
struct TraceProcess {
  using Name = std::pair<std::string, std::string>;  // category, name

  std::string name;
  std::map<Name, Activity> activities;
  std::vector<std::string> failures;
  // From the first begin to the last end, and the part of that in which at least
  // one span was open.
  double span_ms = 0;
  double busy_ms = 0;
};

struct TraceSummary {
  std::vector<TraceProcess> processes;  // the host first
  bool complete = false;  // the writing process ended in order
};

// DataLoss names the line that is no event. A last line cut short is accepted:
// the writing process was killed.
absl::StatusOr<TraceSummary> Summarise(std::istream& trace);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_TRACE_SUMMARY_H_
