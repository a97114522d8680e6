#include "backends/cpu/options.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/host_cpu.h"
#include "memory/arena.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kMinStackBytes = 16u << 10;
constexpr uint32_t kMaxDevices = 8;

uint32_t AllowedCores() {
  // Machines with more than 1024 processors need a larger set than cpu_set_t.
  for (size_t cores = 1024; cores <= (1u << 16); cores *= 4) {
    cpu_set_t* set = CPU_ALLOC(cores);
    const size_t bytes = CPU_ALLOC_SIZE(cores);
    const int result = sched_getaffinity(0, bytes, set);
    const int count = result == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return static_cast<uint32_t>(count);
  }
  return std::max(1u, std::thread::hardware_concurrency());
}

// Of the machine, or of the container when that is less.
uint64_t PhysicalMemory() {
  const uint64_t pages = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES));
  const uint64_t bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
  uint64_t allowed = 0;
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  return limit >> allowed && allowed > 0 ? std::min(bytes, allowed) : bytes;
}

uint32_t ShiftOf(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return 40;
    default:
      return 0;
  }
}

absl::Status ReadBytes(const char* variable, uint64_t minimum,
                       uint64_t* value) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return absl::OkStatus();
  absl::StatusOr<uint64_t> bytes = ParseBytes(text);
  if (!bytes.ok() || *bytes < minimum) {
    return absl::InvalidArgumentError(
        absl::StrCat(variable, "=", text, ": expected a size of at least ",
                     minimum, " bytes, such as 64M"));
  }
  *value = *bytes;
  return absl::OkStatus();
}

absl::Status ReadHostBase(uint64_t* base) {
  constexpr const char* kVariable = "HETGPU_CPU_ARENA_BASE";
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return absl::OkStatus();
  const std::optional<uint64_t> parsed = memory::ParseArenaBase(text);
  if (!parsed.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat(kVariable, "=", text,
                     ": expected a multiple of 2^30 in hex, such as "
                     "0x500000000000"));
  }
  *base = *parsed;
  return absl::OkStatus();
}

absl::Status ReadThreads(uint32_t* threads) {
  const char* text = std::getenv("HETGPU_CPU_THREADS");
  if (text == nullptr || *text == '\0') return absl::OkStatus();
  const std::string_view digits = text;
  uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  const bool huge = error == std::errc::result_out_of_range;
  if (rest != end || (error != std::errc() && !huge) ||
      (number == 0 && !huge)) {
    return absl::InvalidArgumentError(
        absl::StrCat("HETGPU_CPU_THREADS=", text,
                     ": expected a number of threads, 1 or more"));
  }
  if (!huge) *threads = std::min(*threads, number);
  return absl::OkStatus();
}

absl::Status ReadDevices(uint32_t* devices) {
  constexpr char kVariable[] = "HETGPU_CPU_DEVICES";
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return absl::OkStatus();
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, *devices);
  if (error == std::errc() && rest == end && *devices >= 1 &&
      *devices <= kMaxDevices) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(kVariable, "=", text, ": expected a number from 1 to ",
                   kMaxDevices));
}

absl::Status ReadMemcheck(bool* memcheck) {
  constexpr char kVariable[] = "HETGPU_CPU_MEMCHECK";
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return absl::OkStatus();
  const std::string_view value = text;
  if (value != "0" && value != "1") {
    return absl::InvalidArgumentError(
        absl::StrCat(kVariable, "=", text, ": expected 0 or 1"));
  }
  *memcheck = value == "1";
  return absl::OkStatus();
}

absl::Status ReadTarget(std::string* target) {
  constexpr char kVariable[] = "HETGPU_CPU_TARGET";
  const char* text = std::getenv(kVariable);
  if (text == nullptr || *text == '\0') return absl::OkStatus();
  std::vector<std::string> levels = HostLevels();
  if (text == kNativeTarget ||
      std::find(levels.begin(), levels.end(), text) != levels.end()) {
    *target = text;
    return absl::OkStatus();
  }
  levels.push_back(std::string(kNativeTarget));
  return absl::InvalidArgumentError(
      absl::StrCat(kVariable, "=", text, ": expected one of ",
                   absl::StrJoin(levels, ", "), ", which this processor has"));
}

}  // namespace

absl::StatusOr<uint64_t> ParseBytes(std::string_view text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const size_t suffix = static_cast<size_t>(end - rest);
  const uint32_t shift = suffix == 1 ? ShiftOf(*rest) : 0;
  if (error != std::errc() || suffix > 1 || (suffix == 1 && shift == 0) ||
      number > (UINT64_MAX >> shift)) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", std::string(text), "\" is not a size"));
  }
  return number << shift;
}

absl::StatusOr<Options> ReadOptions() {
  Options options;
  options.threads = AllowedCores();
  options.memory_bytes = PhysicalMemory();
  for (const absl::Status& status :
       {ReadThreads(&options.threads),
        ReadBytes("HETGPU_CPU_MEMORY", 1, &options.memory_bytes),
        ReadBytes("HETGPU_CPU_HEAP", 4096, &options.heap_bytes),
        ReadBytes("HETGPU_CPU_STACK_SIZE", kMinStackBytes,
                  &options.stack_bytes)}) {
    if (!status.ok()) return status;
  }
  if (absl::Status status = ReadDevices(&options.devices); !status.ok()) {
    return status;
  }
  if (absl::Status status = ReadMemcheck(&options.memcheck); !status.ok()) {
    return status;
  }
  if (absl::Status status = ReadTarget(&options.target); !status.ok()) {
    return status;
  }
  if (absl::Status status = ReadHostBase(&options.host_base); !status.ok()) {
    return status;
  }
  return options;
}

}  // namespace hetgpu::cpu
