#include "bench/runner/verify.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/runner/shared_library.h"

namespace hetgpu::bench {
namespace {

constexpr uint64_t kChunk = uint64_t{16} << 20;

uint64_t ElementBytes(const Buffer& buffer) {
  return buffer.element == Element::kU64 ? 8 : 4;
}

template <typename T>
T At(const void* values, uint64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + index * sizeof(T),
              sizeof(T));
  return value;
}

bool Close(float value, float expected, const Buffer& buffer) {
  const double difference = std::fabs(double{value} - double{expected});
  const double size =
      std::max<double>({std::fabs(value), std::fabs(expected), buffer.scale});
  return difference <= buffer.tolerance * size;
}

std::string Print(const Buffer& buffer, const void* values, uint64_t index) {
  switch (buffer.element) {
    case Element::kF32:
      return absl::StrCat(At<float>(values, index));
    case Element::kU32:
      return absl::StrCat(At<uint32_t>(values, index));
    case Element::kU64:
      return absl::StrCat(At<uint64_t>(values, index));
  }
  return "?";
}

absl::Status CompareBuffer(const Buffer& buffer, int index, Executor& executor,
                           Executor& reference) {
  std::vector<char> ours(std::min(kChunk, buffer.bytes));
  std::vector<char> theirs(ours.size());
  for (uint64_t at = 0; at < buffer.bytes; at += kChunk) {
    const uint64_t bytes = std::min(kChunk, buffer.bytes - at);
    BENCH_RETURN_IF_ERROR(executor.Read(index, at, ours.data(), bytes));
    BENCH_RETURN_IF_ERROR(reference.Read(index, at, theirs.data(), bytes));
    const uint64_t size = ElementBytes(buffer), count = bytes / size;
    const uint64_t i =
        FirstDifference(buffer, ours.data(), theirs.data(), count);
    if (i == count) continue;
    return absl::InternalError(absl::StrCat(
        "wrong result: ", buffer.name, "[", at / size + i, "] is ",
        Print(buffer, ours.data(), i), ", expected ",
        Print(buffer, theirs.data(), i), " as from ", reference.name()));
  }
  return absl::OkStatus();
}

}  // namespace

uint64_t FirstDifference(const Buffer& buffer, const void* values,
                         const void* expected, uint64_t count) {
  const uint64_t size = ElementBytes(buffer);
  if (std::memcmp(values, expected, count * size) == 0) return count;
  for (uint64_t i = 0; i < count; ++i) {
    const char* const a = static_cast<const char*>(values) + i * size;
    const char* const b = static_cast<const char*>(expected) + i * size;
    if (std::memcmp(a, b, size) == 0) continue;
    if (buffer.element == Element::kF32 &&
        Close(At<float>(a, 0), At<float>(b, 0), buffer)) {
      continue;
    }
    return i;
  }
  return count;
}

absl::Status CompareResults(const Workload& workload, Executor& executor,
                            Executor& reference) {
  for (size_t i = 0; i < workload.buffers.size(); ++i) {
    if (!workload.buffers[i].is_output) continue;
    BENCH_RETURN_IF_ERROR(
        CompareBuffer(workload.buffers[i], i, executor, reference));
  }
  return absl::OkStatus();
}

absl::Status CountOperations(Workload& workload, Executor& executor) {
  if (!workload.count) return absl::OkStatus();
  for (size_t i = 0; i < workload.buffers.size(); ++i) {
    const Buffer& buffer = workload.buffers[i];
    if (!buffer.is_output) continue;
    std::vector<char> data(buffer.bytes);
    BENCH_RETURN_IF_ERROR(executor.Read(i, 0, data.data(), data.size()));
    workload.operations = workload.count(data.data());
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace hetgpu::bench
