#include "runtime/handle_table.h"

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

struct Thing {
  using Handle = hetgpuEvent;
  static constexpr HandleKind kKind = HandleKind::kEvent;
  int value = 0;
};

std::shared_ptr<Thing> Make(int value) {
  return std::make_shared<Thing>(Thing{value});
}

TEST(HandleTableTest, FindsWhatWasInserted) {
  HandleTable<Thing> table;
  const auto a = table.Insert(Make(1));
  const auto b = table.Insert(Make(2));
  EXPECT_EQ((*table.Find(a))->value, 1);
  EXPECT_EQ((*table.Find(b))->value, 2);
}

TEST(HandleTableTest, StaleHandleDoesNotNameTheSlotsNextObject) {
  HandleTable<Thing> table;
  const auto old = table.Insert(Make(1));
  ASSERT_TRUE(table.Remove(old).ok());
  const auto reused = table.Insert(Make(2));
  EXPECT_NE(old, reused);
  EXPECT_FALSE(table.Find(old).ok());
  EXPECT_FALSE(table.Remove(old).ok());
  EXPECT_EQ((*table.Find(reused))->value, 2);
}

TEST(HandleTableTest, SaysWhatIsWrong) {
  HandleTable<Thing> table;
  const auto message = [&](uint64_t handle) {
    const absl::Status status =
        table.Find(reinterpret_cast<hetgpuEvent>(handle)).status();
    EXPECT_EQ(ResultOf(status), HETGPU_ERROR_INVALID_HANDLE);
    return std::string(status.message());
  };
  EXPECT_EQ(message(0), "null event handle");
  EXPECT_THAT(message(uint64_t{2} << 60 | 1), HasSubstr("names a context"));
  EXPECT_THAT(message(0x7fff12345678), HasSubstr("was never given out"));
  EXPECT_THAT(message(uint64_t{6} << 60 | 1), HasSubstr("was destroyed"));
  EXPECT_THAT(message(~uint64_t{0}), HasSubstr("was never given out"));
}

TEST(HandleTableTest, ThreadsDoNotDisturbEachOther) {
  HandleTable<Thing> table;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&table, t] {
      for (int i = 0; i < 1000; ++i) {
        const auto handle = table.Insert(Make(t));
        ASSERT_EQ((*table.Find(handle))->value, t);
        ASSERT_TRUE(table.Remove(handle).ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace hetgpu::runtime
