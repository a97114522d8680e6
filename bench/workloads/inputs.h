// Reproducible input data: the same on every machine.
#ifndef HETGPU_BENCH_WORKLOADS_INPUTS_H_
#define HETGPU_BENCH_WORKLOADS_INPUTS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/workloads/workload.h"

namespace hetgpu::bench {

// Random contents repeat after this many elements, so that buffers of
// gigabytes are made quickly. The period is no multiple of a power of two, to
// keep rows of matrices apart.
constexpr uint64_t kPeriod = (uint64_t{1} << 20) - 3;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  uint32_t Below(uint32_t bound);
  float Between(float low, float high);

 private:
  uint64_t state_;
};

// Inputs of `count` elements. `make(random, i)` gives element i of the period.
template <typename T>
Buffer Input(std::string name, uint64_t count, uint64_t seed,
             const std::function<T(Random&)>& make) {
  const uint64_t period = count < kPeriod ? count : kPeriod;
  Buffer buffer = {.name = std::move(name), .bytes = count * sizeof(T)};
  buffer.pattern.resize(period * sizeof(T));
  Random random(seed);
  auto* const values = reinterpret_cast<T*>(buffer.pattern.data());
  for (uint64_t i = 0; i < period; ++i) values[i] = make(random);
  return buffer;
}

Buffer Floats(std::string name, uint64_t count, uint64_t seed, float low,
              float high);
Buffer Words(std::string name, uint64_t count, uint64_t seed);
Buffer Bytes(std::string name, uint64_t count, uint64_t seed);
// Written in full: every value given.
template <typename T>
Buffer Exactly(std::string name, const std::vector<T>& values) {
  Buffer buffer = {.name = std::move(name), .bytes = values.size() * sizeof(T)};
  buffer.pattern.resize(buffer.bytes);
  std::memcpy(buffer.pattern.data(), values.data(), buffer.bytes);
  return buffer;
}

Buffer FloatOutput(std::string name, uint64_t count, double tolerance,
                   double scale);
Buffer WordOutput(std::string name, uint64_t count);
// Zeros that are not compared.
Buffer Scratch(std::string name, uint64_t bytes);

inline uint32_t Blocks(uint64_t n, uint64_t per_block) {
  return static_cast<uint32_t>((n + per_block - 1) / per_block);
}

// "4096 x 4096 floats".
std::string Square(uint64_t side, const char* what);
std::string Count(uint64_t n, const char* what);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_WORKLOADS_INPUTS_H_
