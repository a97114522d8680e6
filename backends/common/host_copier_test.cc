#include "backends/common/host_copier.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace hetgpu {
namespace {

std::vector<char> Pattern(size_t bytes) {
  std::vector<char> data(bytes);
  uint32_t state = 1;
  for (char& c : data) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>(state >> 24);
  }
  return data;
}

TEST(HostCopierTest, CopiesEveryByteAtEveryAlignment) {
  HostCopier copier(3);
  const std::vector<char> from = Pattern((3 << 20) + 500);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{63}, size_t{4096},
                             size_t{512} << 10, (size_t{3} << 20) + 77}) {
    for (const size_t dst : {0, 1, 31, 63}) {
      for (const size_t src : {0, 7, 64}) {
        for (const auto stores :
             {HostCopier::Stores::kCached, HostCopier::Stores::kStreaming}) {
          std::vector<char> to(bytes + 200, 'x');
          copier.Copy(to.data() + dst, from.data() + src, bytes, stores);
          ASSERT_EQ(std::memcmp(to.data() + dst, from.data() + src, bytes), 0)
              << bytes << " bytes, " << dst << ", " << src;
          ASSERT_EQ(to[dst + bytes], 'x');
          ASSERT_TRUE(dst == 0 || to[dst - 1] == 'x');
        }
      }
    }
  }
}

TEST(HostCopierTest, ServesManyCallers) {
  HostCopier copier(2);
  const std::vector<char> from = Pattern(2 << 20);
  std::vector<std::thread> callers;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      std::vector<char> to(from.size());
      for (int n = 0; n < 20; ++n) {
        std::fill(to.begin(), to.end(), 0);
        copier.Copy(to.data(), from.data(), to.size());
        if (to != from) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(HostCopierTest, CopiesAloneWithoutHelpers) {
  HostCopier copier(0);
  const std::vector<char> from = Pattern(1 << 20);
  std::vector<char> to(from.size());
  copier.Copy(to.data(), from.data(), to.size());
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace hetgpu
