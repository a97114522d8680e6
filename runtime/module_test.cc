#include "runtime/module.h"

#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

uint64_t SlotAt(const std::string& data, size_t offset) {
  uint64_t slot = 0;
  std::memcpy(&slot, data.data() + offset, sizeof(slot));
  return slot;
}

TEST(InitialDataTest, InitialisersThenZeroesThenRelocations) {
  const auto data = InitialData(FakeModule(), 0x10000);
  ASSERT_TRUE(data.ok());
  ASSERT_EQ(data->size(), 32u);
  EXPECT_EQ((*data)[0], 1);
  EXPECT_EQ((*data)[12], 4);
  EXPECT_EQ(SlotAt(*data, 16), 0x10004u);
  EXPECT_EQ(SlotAt(*data, 24), 0u);
}

TEST(InitialDataTest, FunctionTokensAreStoredAsTheyAre) {
  ModuleInfo module = FakeModule();
  module.relocations[0].kind = Relocation::Kind::kFunction;
  EXPECT_EQ(SlotAt(*InitialData(module, 0x10000), 16), 4u);
}

TEST(InitialDataTest, RelocationOutsideTheSegmentIsRefused) {
  for (const uint64_t offset : {uint64_t{25}, uint64_t{32}, UINT64_MAX - 3}) {
    ModuleInfo module = FakeModule();
    module.relocations[0].offset = offset;
    const absl::Status status = InitialData(module, 0).status();
    EXPECT_EQ(ResultOf(status), HETGPU_ERROR_INVALID_MODULE);
    EXPECT_THAT(std::string(status.message()), HasSubstr("outside"));
  }
}

}  // namespace
}  // namespace hetgpu::runtime
