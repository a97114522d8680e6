#include "backends/cpu/host_cpu.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <vector>

#include "backends/cpu/target_name.h"

namespace hetgpu::cpu {
namespace {

// Features that change what a compiler for this processor emits; others (of
// the system, of virtualisation) would only split the cache.
constexpr std::string_view kRelevant[] = {
    "abm",    "adx",    "aes",  "asimd",      "atomics", "avx",
    "avx2",   "bmi1",   "bmi2", "bf16",       "cx16",    "f16c",    "fma",
    "fma4",   "fphp",   "gfni", "lse",        "movbe",   "pclmulqdq",
    "popcnt", "sha_ni", "sse3", "sse4_1",     "sse4_2",  "ssse3",
    "sve",    "sve2",   "vaes", "vpclmulqdq", "xop",
};

bool IsRelevant(std::string_view feature) {
  return feature.substr(0, 6) == "avx512" || feature.substr(0, 4) == "avx_" ||
         feature.substr(0, 4) == "amx_" || feature.substr(0, 3) == "avx10" ||
         std::find(std::begin(kRelevant), std::end(kRelevant), feature) !=
             std::end(kRelevant);
}

std::string RelevantFeatures(const std::string& flags) {
  std::vector<std::string> features;
  std::istringstream words(flags);
  for (std::string word; words >> word;) {
    if (IsRelevant(word)) features.push_back(word);
  }
  std::sort(features.begin(), features.end());
  std::string joined;
  for (const std::string& feature : features) {
    if (!joined.empty()) joined += ',';
    joined += feature;
  }
  return joined;
}

std::string Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  const size_t last = text.find_last_not_of(" \t");
  return std::string(text.substr(first, last - first + 1));
}

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

// Not the whole file: the system makes it up as it is read, and takes
// milliseconds for many processors.
std::string ReadFirstProcessor() {
  std::ifstream file("/proc/cpuinfo");
  std::string text;
  for (std::string line; std::getline(file, line) && !line.empty();) {
    text += line + '\n';
  }
  return text;
}

}  // namespace

std::vector<std::string> HostLevels() {
  std::vector<std::string> levels;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v2")) levels.push_back("x86-64-v2");
  if (__builtin_cpu_supports("x86-64-v3")) levels.push_back("x86-64-v3");
  if (__builtin_cpu_supports("x86-64-v4")) levels.push_back("x86-64-v4");
#endif
  return levels;
}

HostCpu ParseCpuInfo(std::string_view text) {
  HostCpu cpu;
  std::string features;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (!features.empty()) break;  // the end of the first processor
      continue;
    }
    const std::string key = Trim(std::string_view(line).substr(0, colon));
    const std::string value = Trim(std::string_view(line).substr(colon + 1));
    if (key == "model name" && cpu.name.empty()) cpu.name = value;
    if (key == "flags" || key == "Features") features = RelevantFeatures(value);
    if (key == "cpu MHz") {
      cpu.clock_khz =
          static_cast<uint32_t>(std::strtod(value.c_str(), nullptr) * 1000);
    }
  }
  cpu.target = TargetName(kNativeTarget, features);
  if (cpu.name.empty()) {
    cpu.name = std::string(ArchitectureOf(cpu.target)) + " processor";
  }
  return cpu;
}

HostCpu DetectHostCpu() {
  HostCpu cpu = ParseCpuInfo(ReadFirstProcessor());
  const std::string max_khz =
      ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (!max_khz.empty()) {
    cpu.clock_khz =
        static_cast<uint32_t>(std::strtoul(max_khz.c_str(), nullptr, 10));
  }
  return cpu;
}

}  // namespace hetgpu::cpu
