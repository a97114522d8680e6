#include "bench/workloads/inputs.h"

#include <utility>

namespace hetgpu::bench {

// SplitMix64.
uint64_t Random::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

uint32_t Random::Below(uint32_t bound) {
  return static_cast<uint32_t>((Next() >> 32) * bound >> 32);
}

float Random::Between(float low, float high) {
  return low + (high - low) * static_cast<float>(Next() >> 40) * 0x1p-24f;
}

Buffer Floats(std::string name, uint64_t count, uint64_t seed, float low,
              float high) {
  return Input<float>(std::move(name), count, seed, [=](Random& random) {
    return random.Between(low, high);
  });
}

Buffer Words(std::string name, uint64_t count, uint64_t seed) {
  return Input<uint32_t>(std::move(name), count, seed, [](Random& random) {
    return static_cast<uint32_t>(random.Next());
  });
}

Buffer Bytes(std::string name, uint64_t count, uint64_t seed) {
  return Input<uint8_t>(std::move(name), count, seed, [](Random& random) {
    return static_cast<uint8_t>(random.Next());
  });
}

Buffer FloatOutput(std::string name, uint64_t count, double tolerance,
                   double scale) {
  return {.name = std::move(name),
          .bytes = count * sizeof(float),
          .is_output = true,
          .element = Element::kF32,
          .tolerance = tolerance,
          .scale = scale};
}

Buffer WordOutput(std::string name, uint64_t count) {
  return {.name = std::move(name),
          .bytes = count * sizeof(uint32_t),
          .is_output = true,
          .element = Element::kU32};
}

Buffer Scratch(std::string name, uint64_t bytes) {
  return {.name = std::move(name), .bytes = bytes};
}

std::string Square(uint64_t side, const char* what) {
  return std::to_string(side) + " x " + std::to_string(side) + " " + what;
}

std::string Count(uint64_t n, const char* what) {
  return std::to_string(n) + " " + what;
}

}  // namespace hetgpu::bench
