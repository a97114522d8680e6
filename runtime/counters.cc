#include "runtime/counters.h"

#include <atomic>

#include "runtime/error.h"
#include "runtime/struct_size.h"

namespace hetgpu::runtime {
namespace {

std::atomic<uint64_t> counters[HETGPU_COUNTER_COUNT];

constexpr const char* kCounterNames[HETGPU_COUNTER_COUNT] = {
    "compiles",    "cache_disk_hits", "cache_memory_hits", "cache_discarded",
    "launches",    "bytes_to_device", "bytes_from_device", "bytes_on_device",
    "allocations", "compile_ns",      "bytes_moved",       "bytes_lost",
};

bool Exists(hetgpuCounter counter) {
  return static_cast<unsigned>(counter) < HETGPU_COUNTER_COUNT;
}

}  // namespace

void Count(hetgpuCounter counter, uint64_t amount) {
  counters[counter].fetch_add(amount, std::memory_order_relaxed);
}

uint64_t CounterValue(hetgpuCounter counter) {
  return counters[counter].load(std::memory_order_relaxed);
}

}  // namespace hetgpu::runtime

extern "C" {

hetgpuResult hetgpuGetCounter(hetgpuCounter counter, uint64_t* value) {
  using namespace hetgpu::runtime;
  if (auto status = CheckOutput(value, "counter"); !status.ok()) {
    return Report(status);
  }
  if (!Exists(counter)) {
    return Report(
        Error(HETGPU_ERROR_INVALID_VALUE, "counter ", static_cast<int>(counter),
              " does not exist, expected 0 to ", HETGPU_COUNTER_COUNT - 1));
  }
  *value = CounterValue(counter);
  return HETGPU_SUCCESS;
}

const char* hetgpuCounterName(hetgpuCounter counter) {
  using namespace hetgpu::runtime;
  return Exists(counter) ? kCounterNames[counter] : "?";
}

}  // extern "C"
