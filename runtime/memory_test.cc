#include "runtime/memory.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/error.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

class AllocationTableTest : public testing::Test {
 protected:
  AllocationTableTest() {
    table_.Add({0x1000, 0x100});
    table_.Add({0x2000, 0x10});
  }

  hetgpuResult Check(uint64_t address, uint64_t bytes) {
    return ResultOf(table_.CheckRange("copy", address, bytes));
  }
  hetgpuResult Remove(uint64_t address) {
    return ResultOf(table_.Remove(address));
  }

  AllocationTable table_;
};

TEST_F(AllocationTableTest, RangesWithinOneAllocationPass) {
  EXPECT_EQ(Check(0x1000, 0x100), HETGPU_SUCCESS);
  EXPECT_EQ(Check(0x10ff, 1), HETGPU_SUCCESS);
  EXPECT_EQ(Check(0x2000, 0x10), HETGPU_SUCCESS);
}

TEST_F(AllocationTableTest, RangesPastTheEndFail) {
  EXPECT_EQ(Check(0x1000, 0x101), HETGPU_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(Check(0x10ff, 2), HETGPU_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(Check(0x1001, UINT64_MAX), HETGPU_ERROR_OUT_OF_RANGE);
  EXPECT_EQ(Check(0x1100, 1), HETGPU_ERROR_INVALID_ADDRESS);
  EXPECT_EQ(Check(0xfff, 1), HETGPU_ERROR_INVALID_ADDRESS);
}

TEST_F(AllocationTableTest, MessageNamesRangeAndAllocation) {
  const std::string text(table_.CheckRange("copy", 0x1080, 0x81).message());
  EXPECT_THAT(text, HasSubstr("copy: 129 bytes from 0x1080"));
  EXPECT_THAT(text, HasSubstr("[0x1000, 0x1100) of 256 bytes"));
  EXPECT_THAT(text, HasSubstr("at most 128"));
}

TEST_F(AllocationTableTest, RemoveTellsTheWrongsApart) {
  EXPECT_EQ(Remove(0x1010), HETGPU_ERROR_INTERIOR_POINTER);
  EXPECT_EQ(Remove(0x5000), HETGPU_ERROR_INVALID_ADDRESS);
  EXPECT_EQ(Remove(0x1000), HETGPU_SUCCESS);
  EXPECT_EQ(Remove(0x1000), HETGPU_ERROR_DOUBLE_FREE);
  EXPECT_EQ(Remove(0x1010), HETGPU_ERROR_USE_AFTER_FREE);
  EXPECT_EQ(Check(0x1000, 1), HETGPU_ERROR_USE_AFTER_FREE);
}

TEST_F(AllocationTableTest, FailuresLeaveTheTableAlone) {
  EXPECT_EQ(Remove(0x1010), HETGPU_ERROR_INTERIOR_POINTER);
  EXPECT_EQ(Check(0x1000, 0x100), HETGPU_SUCCESS);
}

TEST_F(AllocationTableTest, ReusedAddressIsLiveAgain) {
  EXPECT_EQ(Remove(0x1000), HETGPU_SUCCESS);
  table_.Add({0x1080, 0x200});
  EXPECT_EQ(Check(0x1080, 0x200), HETGPU_SUCCESS);
  EXPECT_EQ(Check(0x1000, 1), HETGPU_ERROR_INVALID_ADDRESS);
}

TEST_F(AllocationTableTest, ModuleDataCannotBeFreed) {
  Allocation data{0x3000, 8};
  data.is_module_data = true;
  table_.Add(data);
  EXPECT_EQ(Remove(0x3000), HETGPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(Check(0x3000, 8), HETGPU_SUCCESS);
  table_.RemoveModuleData(0x3000);
  EXPECT_EQ(Check(0x3000, 8), HETGPU_ERROR_USE_AFTER_FREE);
}

TEST_F(AllocationTableTest, AdviceIsKeptPerAllocation) {
  ASSERT_TRUE(table_.SetAdvice(0x1050, HETGPU_MEM_ADVICE_READ_ONLY).ok());
  EXPECT_EQ(table_.Find(0x1000)->advice, HETGPU_MEM_ADVICE_READ_ONLY);
  EXPECT_EQ(table_.Find(0x2000)->advice, HETGPU_MEM_ADVICE_NONE);
  EXPECT_EQ(ResultOf(table_.SetAdvice(0x9000, HETGPU_MEM_ADVICE_NONE)),
            HETGPU_ERROR_INVALID_ADDRESS);
}

}  // namespace
}  // namespace hetgpu::runtime
