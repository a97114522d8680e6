// Expected bits were computed with another implementation of the definition in
// docs/plan-format.md.
#include "tools/common/generate.h"

#include <vector>

#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

using enum ElementType;

std::vector<uint64_t> Rand(ElementType type, const RandRange& range,
                           uint64_t count) {
  std::vector<uint64_t> storage(count + 1);
  const auto status = GenerateRand(type, range, count, storage.data());
  EXPECT_TRUE(status.ok()) << status;
  std::vector<uint64_t> bits;
  const char* data = reinterpret_cast<const char*>(storage.data());
  for (uint64_t i = 0; i < count; ++i) {
    bits.push_back(LoadElement(data + i * SizeOf(type), type));
  }
  return bits;
}

RandRange Range(uint64_t seed, int64_t min, int64_t max) {
  return {seed, Literal::Integer(min), Literal::Integer(max)};
}

using Bits = std::vector<uint64_t>;

TEST(Rand, IsTheDefinedGenerator) {
  EXPECT_EQ(Rand(kU64, {}, 3),
            (Bits{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x6c45d188009454f}));
  EXPECT_EQ(Rand(kF32, Range(1, -1, 1), 4),
            (Bits{0x3e08516f, 0x3efbae37, 0x3f712746, 0xbde3e797}));
  EXPECT_EQ(Rand(kF64, {.seed = 7, .min = {}, .max = {}}, 4),
            (Bits{0x3fd8f2f879164c82, 0x3f9130f35fd0f180, 0x3fecd30810175625,
                  0x3fe2a75d6e0ce7c5}));
  EXPECT_EQ(Rand(kF16, Range(1, -1, 1), 4),
            (Bits{0x3043, 0x37dd, 0x3b89, 0xaf1f}));
  EXPECT_EQ(Rand(kU8, {.seed = 3, .min = {}, .max = {}}, 8),
            (Bits{29, 179, 156, 18, 55, 162, 34, 227}));
}

TEST(Rand, IntegersStayInTheirRange) {
  const Bits bits = Rand(kI32, Range(3, -5, 5), 8);
  const int64_t expected[] = {-4, 2, 1, -5, -3, 1, -4, 4};
  for (size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(SignExtend(bits[i], kI32), expected[i]) << i;
  }
  for (const uint64_t value : Rand(kI8, Range(1, -128, 127), 1000)) {
    EXPECT_LE(value, 0xffu);
  }
}

TEST(Rand, RefusesBadBounds) {
  uint64_t out[4];
  EXPECT_FALSE(GenerateRand(kF32, Range(0, 2, 1), 4, out).ok());
  EXPECT_FALSE(GenerateRand(kI32, Range(0, 2, 1), 4, out).ok());
  EXPECT_FALSE(GenerateRand(kU8, Range(0, 0, 256), 4, out).ok());
  EXPECT_FALSE(GenerateRand(kU8, Range(0, -1, 5), 4, out).ok());
  EXPECT_FALSE(GenerateRand(kPtr, {}, 4, out).ok());
}

TEST(Iota, WrapsIntegersAndRoundsFloats) {
  uint8_t bytes[4];
  ASSERT_TRUE(
      GenerateIota(kU8, Literal::Unsigned(250), Literal::Unsigned(3), 4, bytes)
          .ok());
  EXPECT_EQ(bytes[1], 253);
  EXPECT_EQ(bytes[2], 0);
  float floats[3];
  ASSERT_TRUE(
      GenerateIota(kF32, Literal::Real(0.5), Literal::Integer(-1), 3, floats)
          .ok());
  EXPECT_EQ(floats[2], -1.5f);
  EXPECT_FALSE(
      GenerateIota(kU8, Literal::Real(0.5), Literal::Unsigned(1), 3, bytes)
          .ok());
}

TEST(Fill, WritesEverySize) {
  uint16_t halves[3] = {};
  GenerateFill(kF16, 0x3c00, 3, halves);
  EXPECT_EQ(halves[2], 0x3c00);
  uint64_t words[2] = {};
  GenerateFill(kPtr, ~uint64_t{0}, 1, words);
  EXPECT_EQ(words[0], ~uint64_t{0});
  EXPECT_EQ(words[1], 0u);
}

}  // namespace
}  // namespace hetgpu::tools
