#include "tools/hetgpu/trace_summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using Json = nlohmann::json;

struct Interval {
  double begin, end;  // microseconds
};

double Covered(std::vector<Interval>& intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  double covered = 0;
  double reached = 0;
  for (const Interval& interval : intervals) {
    covered += std::max(0.0, interval.end - std::max(reached, interval.begin));
    reached = std::max(reached, interval.end);
  }
  return covered;
}

std::string TextOf(const Json& event, const char* key) {
  const auto found = event.find(key);
  if (found == event.end() || !found->is_string()) return "";
  return found->get<std::string>();
}

double NumberOf(const Json& event, const char* key) {
  const auto found = event.find(key);
  return found != event.end() && found->is_number() ? found->get<double>() : 0;
}

class Summing {
 public:
  // False when `event` is none of the kinds that HETGPU_TRACE writes.
  bool Add(const Json& event) {
    const std::string kind = TextOf(event, "ph");
    TraceProcess& process = processes_[NumberOf(event, "pid")];
    if (kind == "M") {
      if (TextOf(event, "name") == "process_name") {
        process.name = TextOf(event.value("args", Json::object()), "name");
      }
    } else if (kind == "i") {
      process.failures.push_back(TextOf(event, "name"));
    } else if (kind == "X") {
      AddSpan(event, process);
    } else {
      return false;
    }
    return true;
  }

  std::vector<TraceProcess> Take() {
    std::vector<TraceProcess> processes;
    for (auto& [number, process] : processes_) {
      std::vector<Interval>& intervals = intervals_[number];
      if (!intervals.empty()) {
        process.busy_ms = Covered(intervals) * 1e-3;
        double end = 0;
        for (const Interval& i : intervals) end = std::max(end, i.end);
        process.span_ms = (end - intervals.front().begin) * 1e-3;
      }
      processes.push_back(std::move(process));
    }
    return processes;
  }

 private:
  void AddSpan(const Json& event, TraceProcess& process) {
    Activity& activity =
        process.activities[{TextOf(event, "cat"), TextOf(event, "name")}];
    const double begin = NumberOf(event, "ts");
    const double us = NumberOf(event, "dur");
    intervals_[NumberOf(event, "pid")].push_back({begin, begin + us});
    activity.min_ms =
        activity.count == 0 ? us * 1e-3 : std::min(activity.min_ms, us * 1e-3);
    activity.max_ms = std::max(activity.max_ms, us * 1e-3);
    activity.total_ms += us * 1e-3;
    activity.bytes += static_cast<uint64_t>(
        NumberOf(event.value("args", Json::object()), "bytes"));
    ++activity.count;
  }

  std::map<double, TraceProcess> processes_;
  std::map<double, std::vector<Interval>> intervals_;
};

}  // namespace

absl::StatusOr<TraceSummary> Summarise(std::istream& trace) {
  TraceSummary summary;
  Summing summing;
  std::string line;
  for (int number = 1; std::getline(trace, line); ++number) {
    if (line == "[" || line.empty()) continue;
    if (line == "]") {
      summary.complete = true;
      continue;
    }
    if (line.back() == ',') line.pop_back();
    const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (event.is_object() && summing.Add(event)) continue;
    if (!event.is_object() && trace.eof()) break;
    return absl::DataLossError(
        Cat("line ", number, ": expected an event as HETGPU_TRACE writes it"));
  }
  summary.processes = summing.Take();
  if (summary.processes.empty()) {
    return absl::DataLossError("no events: not a file of HETGPU_TRACE");
  }
  return summary;
}

}  // namespace hetgpu::tools
