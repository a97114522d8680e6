#include "runtime/environment.h"

#include <map>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/error.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

absl::StatusOr<Environment> Read(std::map<std::string, std::string> values) {
  return ReadEnvironment([&](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
}

TEST(EnvironmentTest, Defaults) {
  const auto environment = Read({});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->fp_mode, "native");
  EXPECT_EQ(environment->cpu_mode, "auto");
  EXPECT_EQ(environment->cache_bytes, 512u << 20);
  EXPECT_EQ(environment->cache_dir, "");
}

TEST(EnvironmentTest, EmptyCountsAsUnset) {
  const auto environment =
      Read({{"HETGPU_FP_MODE", ""}, {"HETGPU_JIT_CACHE_SIZE", ""}});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->fp_mode, "native");
}

TEST(EnvironmentTest, ReadsEachVariable) {
  const auto environment = Read({{"HETGPU_FP_MODE", "strict"},
                                 {"HETGPU_CPU_MODE", "fiber"},
                                 {"HETGPU_JIT_CACHE_DIR", "/c"},
                                 {"HETGPU_JIT_CACHE_SIZE", "1GB"},
                                 {"HETGPU_ARENA_BASE", "0x100000000000"},
                                 {"HETGPU_RESIDENT_LIMIT", "64M"},
                                 {"HETGPU_PREFETCH_THRESHOLD", "7"},
                                 {"HETGPU_COMPILER_LIBRARY", "/l.so"}});
  ASSERT_TRUE(environment.ok());
  EXPECT_EQ(environment->fp_mode, "strict");
  EXPECT_EQ(environment->cpu_mode, "fiber");
  EXPECT_EQ(environment->cache_dir, "/c");
  EXPECT_EQ(environment->cache_bytes, 1u << 30);
  EXPECT_EQ(environment->resident_limit, 64u << 20);
  EXPECT_EQ(environment->prefetch_threshold, 7u);
  EXPECT_EQ(environment->compiler_library, "/l.so");
}

TEST(EnvironmentTest, CacheFolderFallsBack) {
  EXPECT_EQ(Read({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}})->cache_dir,
            "/x/hetgpu");
  EXPECT_EQ(Read({{"HOME", "/h"}})->cache_dir, "/h/.cache/hetgpu");
}

TEST(EnvironmentTest, RefusesUnknownValuesByName) {
  const std::pair<const char*, const char*> bad[] = {
      {"HETGPU_FP_MODE", "fast"},
      {"HETGPU_CPU_MODE", "SIMD"},
      {"HETGPU_JIT_CACHE_SIZE", "lots"},
      {"HETGPU_JIT_CACHE_SIZE", "-1"},
      {"HETGPU_ARENA_BASE", "0x600000000001"},
      {"HETGPU_ARENA_BASE", "high"},
      {"HETGPU_CUDA_ARENA_BASE", "0x500000000001"},
      {"HETGPU_RESIDENT_LIMIT", "some"},
      {"HETGPU_PREFETCH_THRESHOLD", "3x"},
      {"HETGPU_JIT_CACHE_SIZE", "99999999999G"}};
  for (const auto& [name, value] : bad) {
    const absl::Status status = Read({{name, value}}).status();
    EXPECT_EQ(ResultOf(status), HETGPU_ERROR_INVALID_ENVIRONMENT) << name;
    EXPECT_THAT(std::string(status.message()), HasSubstr(name));
    EXPECT_THAT(std::string(status.message()), HasSubstr(value));
    EXPECT_THAT(std::string(status.message()), HasSubstr("expected"));
  }
}

TEST(EnvironmentTest, ParsesBytes) {
  EXPECT_EQ(ParseBytes("0"), 0u);
  EXPECT_EQ(ParseBytes("17"), 17u);
  EXPECT_EQ(ParseBytes("4k"), 4096u);
  EXPECT_EQ(ParseBytes("512MB"), 512u << 20);
  EXPECT_EQ(ParseBytes("3B"), 3u);
  EXPECT_EQ(ParseBytes("1TB"), std::nullopt);
  EXPECT_EQ(ParseBytes(""), std::nullopt);
  EXPECT_EQ(ParseBytes("1 MB"), std::nullopt);
}

}  // namespace
}  // namespace hetgpu::runtime
