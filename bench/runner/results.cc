#include "bench/runner/results.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace hetgpu::bench {
namespace {

using Json = nlohmann::ordered_json;

// The value of the first line of `path` that starts with `key`.
std::string Lookup(const char* path, const std::string& key) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t start = line.find_first_of("=:");
    std::string value = line.substr(start + 1);
    std::erase(value, '"');
    return value.substr(std::min(value.size(), value.find_first_not_of(" \t")));
  }
  return "unknown";
}

Json SeriesJson(const Row& row, const Series& series,
                const Ceilings& ceilings) {
  Json json = {{"by", series.by}, {"status", series.status}};
  if (!series.reason.empty()) json["reason"] = series.reason;
  if (!series.ok()) return json;
  const double median = series.Median();
  const auto [low, high] =
      std::minmax_element(series.seconds.begin(), series.seconds.end());
  json["median_s"] = median;
  json["min_s"] = *low;
  json["max_s"] = *high;
  json["samples_s"] = series.seconds;
  if (row.bytes > 0) json["gb_per_s"] = row.bytes / median / 1e9;
  if (row.operations > 0) json["gop_per_s"] = row.operations / median / 1e9;
  std::string bound;
  const double share = ceilings.Share(row, median, bound);
  if (share > 0) {
    json["ceiling"] = bound;
    json["share_of_ceiling"] = share;
  }
  return json;
}

Json RatiosJson(const Row& row) {
  Json ratios = Json::array();
  for (const Series& ours : row.series) {
    if (!IsOurs(ours)) continue;
    for (const Series& twin : row.series) {
      const double ratio = IsOurs(twin) ? 0 : Ratio(ours, twin);
      if (ratio <= 0) continue;
      ratios.push_back(
          {{"ours", ours.by}, {"twin", twin.by}, {"speed", ratio}});
    }
  }
  return ratios;
}

Json RowJson(const Row& row, const Report& report) {
  Ceilings ceilings;
  for (const DeviceReport& device : report.devices) {
    if (device.name == row.device) ceilings = device.ceilings;
  }
  Json json = {{"name", row.name},          {"group", row.group},
               {"device", row.device},      {"problem", row.problem},
               {"bytes", row.bytes},        {"operations", row.operations},
               {"unit", UnitName(row.unit)}};
  json["series"] = Json::array();
  for (const Series& series : row.series) {
    json["series"].push_back(SeriesJson(row, series, ceilings));
  }
  json["ratios"] = RatiosJson(row);
  return json;
}

Json DeviceJson(const DeviceReport& device) {
  Json json = {{"name", device.name}};
  json["executors"] = Json::object();
  for (const auto& [name, version] : device.executors) {
    json["executors"][name] = version;
  }
  json["ceilings"] = {{"copy_gb_per_s", device.ceilings.bytes / 1e9}};
  for (const auto& [unit, rate] : device.ceilings.operations) {
    json["ceilings"][std::string(UnitName(unit)) + "_gop_per_s"] = rate / 1e9;
  }
  return json;
}

}  // namespace

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half]
                           : (values[half - 1] + values[half]) / 2;
}

double Series::Median() const { return MedianOf(seconds); }

double Series::Best() const {
  return *std::min_element(seconds.begin(), seconds.end());
}

bool IsOurs(const Series& series) { return series.by.rfind("hetgpu", 0) == 0; }

double Ratio(const Series& ours, const Series& twin) {
  if (!ours.ok() || !twin.ok()) return 0;
  std::vector<double> ratios;
  const size_t rounds = std::min(ours.seconds.size(), twin.seconds.size());
  for (size_t i = 0; i < rounds; ++i) {
    ratios.push_back(twin.seconds[i] / ours.seconds[i]);
  }
  return MedianOf(ratios);
}

void Ceilings::Take(const Row& row) {
  if (row.group != "ceiling") return;
  for (const Series& series : row.series) {
    if (!series.ok()) continue;
    const double seconds = series.Best();
    if (row.operations > 0) {
      double& rate = operations[row.unit];
      rate = std::max(rate, row.operations / seconds);
    } else {
      bytes = std::max(bytes, row.bytes / seconds);
    }
  }
}

double Ceilings::Share(const Row& row, double seconds,
                       std::string& bound) const {
  double share = 0;
  if (bytes > 0 && row.bytes > 0) {
    share = row.bytes / seconds / bytes;
    bound = "copy";
  }
  const auto rate = operations.find(row.unit);
  if (rate != operations.end() && row.operations > 0) {
    const double other = row.operations / seconds / rate->second;
    if (other > share) {
      share = other;
      bound = UnitName(row.unit);
    }
  }
  return share;
}

std::string ToJson(const Report& report) {
  Json json = {{"format", "hetgpu-bench 1"},
               {"machine", report.machine},
               {"size", report.size_class},
               {"repetitions", report.repetitions}};
  json["devices"] = Json::array();
  for (const DeviceReport& device : report.devices) {
    json["devices"].push_back(DeviceJson(device));
  }
  json["rows"] = Json::array();
  for (const Row& row : report.rows) {
    json["rows"].push_back(RowJson(row, report));
  }
  return json.dump(1) + "\n";
}

std::map<std::string, std::string> DescribeMachine() {
  utsname system = {};
  uname(&system);
  // Without what a distribution or a host adds to the number.
  std::string release = system.release;
  release.resize(std::min(release.size(), release.find('-')));
  const double gib = double(sysconf(_SC_PHYS_PAGES)) *
                     double(sysconf(_SC_PAGE_SIZE)) / (1 << 30);
  return {{"cpu", Lookup("/proc/cpuinfo", "model name")},
          {"cores", std::to_string(std::thread::hardware_concurrency())},
          {"memory_gib", std::to_string(std::lround(gib))},
          {"system", Lookup("/etc/os-release", "PRETTY_NAME")},
          {"kernel", std::string(system.sysname) + " " + release},
          {"architecture", system.machine}};
}

}  // namespace hetgpu::bench
