#include "bench/runner/table.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace hetgpu::bench {
namespace {

std::string Rates(const Row& row, double seconds) {
  std::string text;
  if (row.bytes > 0) {
    absl::StrAppendFormat(&text, "%9.1f GB/s", row.bytes / seconds / 1e9);
  }
  if (row.operations > 0) {
    absl::StrAppendFormat(&text, "%9.1f %s", row.operations / seconds / 1e9,
                          row.unit == Unit::kF32 ? "GFLOP/s" : "GOP/s");
  }
  return text;
}

// hetGPU's speed relative to this twin.
std::string Compared(const Row& row, const Series& series) {
  if (IsOurs(series)) return "";
  std::string text;
  for (const Series& ours : row.series) {
    if (!IsOurs(ours)) continue;
    const double ratio = Ratio(ours, series);
    if (ratio > 0) absl::StrAppendFormat(&text, "  %s %.3fx", ours.by, ratio);
  }
  return text;
}

}  // namespace

std::string TimeText(double seconds) {
  if (seconds < 1e-3) return absl::StrFormat("%.2f us", seconds * 1e6);
  if (seconds < 1) return absl::StrFormat("%.3f ms", seconds * 1e3);
  return absl::StrFormat("%.3f s", seconds);
}

void PrintDevice(const DeviceReport& device) {
  std::printf("device %s\n", device.name.c_str());
  for (const auto& [name, version] : device.executors) {
    std::printf("  %-24s %s\n", name.c_str(), version.c_str());
  }
}

void PrintRow(const Row& row, const Ceilings& ceilings) {
  std::printf("%s  [%s]  %s\n", row.name.c_str(), row.device.c_str(),
              row.problem.c_str());
  for (const Series& series : row.series) {
    if (series.status == "unavailable") continue;
    if (!series.ok()) {
      std::printf("  %-24s %s: %s\n", series.by.c_str(), series.status.c_str(),
                  series.reason.c_str());
      continue;
    }
    const double median = series.Median();
    std::string bound;
    const double share = ceilings.Share(row, median, bound);
    const std::string share_text =
        share > 0 && row.group == "workload"
            ? absl::StrFormat("  %3.0f %% of %s", share * 100, bound)
            : "";
    std::printf("  %-24s %12s  %s%s%s\n", series.by.c_str(),
                TimeText(median).c_str(), Rates(row, median).c_str(),
                share_text.c_str(), Compared(row, series).c_str());
  }
  std::fflush(stdout);
}

}  // namespace hetgpu::bench
