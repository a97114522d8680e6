#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "bench/workloads/catalog.h"

namespace hetgpu::bench {
namespace {

class WorkloadsTest : public testing::TestWithParam<CatalogEntry> {
 protected:
  const Workload workload_ = GetParam().make(GetParam().sizes.tiny);
};

TEST_P(WorkloadsTest, HasTheFilesOfItsKernelsAndTwins) {
  const std::filesystem::path root = HETGPU_SOURCE_DIR;
  for (const Launch& launch : workload_.launches) {
    EXPECT_TRUE(std::filesystem::exists(root / (launch.module + ".ptx")));
    EXPECT_TRUE(std::filesystem::exists(root / (launch.module + ".cu")));
    const std::string name = launch.module.substr(launch.module.rfind('/') + 1);
    EXPECT_TRUE(
        std::filesystem::exists(root / "bench/twins/opencl" / (name + ".cl")));
  }
}

TEST_P(WorkloadsTest, ArgumentsNameBuffersThatExist) {
  const int count = static_cast<int>(workload_.buffers.size());
  for (const Launch& launch : workload_.launches) {
    for (const Argument& argument : launch.arguments) {
      EXPECT_LT(argument.buffer, count);
    }
  }
  for (const Argument& argument : workload_.host_arguments) {
    EXPECT_LT(argument.buffer, count);
  }
}

TEST_P(WorkloadsTest, CountsItsWorkAndHasAResult) {
  EXPECT_TRUE(workload_.bytes > 0 || workload_.operations > 0);
  bool has_output = false;
  for (const Buffer& buffer : workload_.buffers) {
    EXPECT_GT(buffer.bytes, 0u) << buffer.name;
    EXPECT_LE(buffer.pattern.size(), buffer.bytes) << buffer.name;
    has_output |= buffer.is_output;
  }
  EXPECT_TRUE(has_output);
}

TEST_P(WorkloadsTest, SizesGrowAndFitTheirTypes) {
  for (const bool is_gpu : {false, true}) {
    uint64_t last = 0;
    for (const SizeClass size : {SizeClass::kTiny, SizeClass::kSmall,
                                 SizeClass::kDefault, SizeClass::kLarge}) {
      const uint64_t n = GetParam().sizes.Get(is_gpu, size);
      EXPECT_GE(n, last);
      EXPECT_LE(n, UINT32_MAX);
      last = n;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadsTest, testing::ValuesIn(Catalog()),
                         [](const auto& info) { return info.param.name; });

TEST(CatalogTest, NamesAreUnique) {
  std::set<std::string> names;
  for (const CatalogEntry& entry : Catalog()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
}

}  // namespace
}  // namespace hetgpu::bench
