#include "runtime/launch.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/error.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

class CheckShapeTest : public testing::Test {
 protected:
  absl::Status Check(const char* kernel, Dim3 grid, Dim3 block,
                     uint32_t shared = 0) {
    return CheckShape(*module_.FindKernel(kernel), device_,
                      {grid, block, shared});
  }

  const ModuleInfo module_ = FakeModule();
  const DeviceInfo device_;
};

TEST_F(CheckShapeTest, LimitsThemselvesPass) {
  EXPECT_TRUE(Check("nothing", {2147483647, 1, 1}, {1024, 1, 1}).ok());
  EXPECT_TRUE(Check("nothing", {1, 65535, 65535}, {1, 16, 64}).ok());
  EXPECT_TRUE(Check("limited", {1, 1, 1}, {8, 8, 1}).ok());
  EXPECT_TRUE(Check("exact", {1, 1, 1}, {32, 1, 1}).ok());
  EXPECT_TRUE(Check("shared", {1, 1, 1}, {1, 1, 1}, 232448 - 1024).ok());
}

TEST_F(CheckShapeTest, EachDimensionIsChecked) {
  const std::pair<Dim3, Dim3> bad[] = {
      {{0, 1, 1}, {1, 1, 1}},           {{1, 0, 1}, {1, 1, 1}},
      {{1, 1, 0}, {1, 1, 1}},           {{1, 1, 1}, {0, 1, 1}},
      {{1, 1, 1}, {1, 0, 1}},           {{1, 1, 1}, {1, 1, 0}},
      {{2147483648u, 1, 1}, {1, 1, 1}}, {{1, 65536, 1}, {1, 1, 1}},
      {{1, 1, 65536}, {1, 1, 1}},       {{1, 1, 1}, {1025, 1, 1}},
      {{1, 1, 1}, {1, 1025, 1}},        {{1, 1, 1}, {1, 1, 65}},
      {{1, 1, 1}, {1024, 2, 1}},        {{1, 1, 1}, {1024, 1024, 64}}};
  for (const auto& [grid, block] : bad) {
    EXPECT_EQ(ResultOf(Check("nothing", grid, block)),
              HETGPU_ERROR_INVALID_CONFIGURATION)
        << grid.x << " " << block.x;
  }
}

TEST_F(CheckShapeTest, KernelLimitsAreNamed) {
  EXPECT_THAT(std::string(Check("limited", {1, 1, 1}, {65, 1, 1}).message()),
              HasSubstr("kernel limited: block (65, 1, 1) has 65 threads, more "
                        "than its .maxntid (64, 1, 1)"));
  EXPECT_THAT(std::string(Check("exact", {1, 1, 1}, {16, 2, 1}).message()),
              HasSubstr("differs from its .reqntid (32, 1, 1)"));
}

TEST_F(CheckShapeTest, SharedMemoryCountsStaticAndDynamic) {
  const absl::Status status =
      Check("shared", {1, 1, 1}, {1, 1, 1}, 232448 - 1023);
  EXPECT_EQ(ResultOf(status), HETGPU_ERROR_OUT_OF_RESOURCES);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024 static"));
  EXPECT_EQ(ResultOf(Check("nothing", {1, 1, 1}, {1, 1, 1}, UINT32_MAX)),
            HETGPU_ERROR_OUT_OF_RESOURCES);
}

TEST(ArgumentsTest, PackedAtTheirOffsets) {
  const ModuleInfo module = FakeModule();
  const KernelInfo& store = *module.FindKernel("store");
  uint64_t where = 0x1122334455667788;
  uint32_t what = 0x99aabbcc;
  void* args[] = {&where, &what};
  const auto block = PackArguments(store, args);
  ASSERT_TRUE(block.ok());
  ASSERT_EQ(block->size(), 12u);
  EXPECT_EQ(std::memcmp(block->data(), &where, 8), 0);
  EXPECT_EQ(std::memcmp(block->data() + 8, &what, 4), 0);
  EXPECT_EQ(*CopyBlock(store, block->data(), 12), *block);
}

TEST(ArgumentsTest, WrongOnesAreNamed) {
  const ModuleInfo module = FakeModule();
  const KernelInfo& store = *module.FindKernel("store");
  uint64_t where = 0;
  void* args[] = {&where, nullptr};
  const auto result = [](const auto& block) {
    return ResultOf(block.status());
  };
  EXPECT_EQ(result(PackArguments(store, nullptr)),
            HETGPU_ERROR_INVALID_ARGUMENTS);
  EXPECT_THAT(std::string(PackArguments(store, args).status().message()),
              HasSubstr("argument 1 (what)"));
  EXPECT_EQ(result(CopyBlock(store, &where, 8)),
            HETGPU_ERROR_INVALID_ARGUMENTS);
  EXPECT_EQ(result(CopyBlock(store, nullptr, 12)),
            HETGPU_ERROR_INVALID_ARGUMENTS);
  EXPECT_EQ(result(CopyBlock(*module.FindKernel("nothing"), nullptr, 0)),
            HETGPU_SUCCESS);
}

}  // namespace
}  // namespace hetgpu::runtime
