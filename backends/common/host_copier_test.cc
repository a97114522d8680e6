#include "backends/common/host_copier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
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

// Through one buffer per piece, as they become ready one after another.
void CopyInPieces(HostCopier& copier, char* dst, const char* src, size_t bytes,
                  size_t piece, int helpers = 100) {
  std::vector<HostCopy::Piece> pieces;
  for (size_t start = 0; start < bytes; start += piece) {
    pieces.push_back(
        {dst + start, src + start, std::min(piece, bytes - start)});
  }
  HostCopy copy(copier, pieces, helpers);
  for (size_t i = 0; i < pieces.size(); ++i) {
    copy.Allow(i + 1);
    copy.Await(i);
  }
}

TEST(HostStoresTest, CopyEveryByteAtEveryAlignment) {
  const std::vector<char> from = Pattern((1 << 20) + 500);
  for (const size_t bytes : {0, 1, 63, 64, 255, 4096, 65536, (1 << 20) + 77}) {
    for (const size_t dst : {0, 1, 31, 63}) {
      for (const size_t src : {0, 7, 64}) {
        for (const Stores stores :
             {Stores::kCached, Stores::kStreaming, Stores::kShared}) {
          std::vector<char> to(bytes + 200, 'x');
          CopyBytes(to.data() + dst, from.data() + src, bytes, stores);
          ASSERT_EQ(std::memcmp(to.data() + dst, from.data() + src, bytes), 0)
              << bytes << " bytes, " << dst << ", " << src;
          ASSERT_EQ(to[dst + bytes], 'x');
          ASSERT_TRUE(dst == 0 || to[dst - 1] == 'x');
        }
      }
    }
  }
}

TEST(HostCopierTest, CopiesPiecesOfEverySize) {
  HostCopier copier(3);
  const std::vector<char> from = Pattern((3 << 20) + 501);
  for (const size_t piece : {size_t{1} << 16, size_t{700001}, from.size()}) {
    for (const int helpers : {0, 1, 100}) {
      std::vector<char> to(from.size());
      CopyInPieces(copier, to.data(), from.data(), from.size(), piece, helpers);
      ASSERT_EQ(to, from) << piece << " bytes, " << helpers << " helpers";
    }
  }
}

TEST(HostCopierTest, CopiesNothingThatIsNotAllowed) {
  HostCopier copier(3);
  const std::vector<char> from = Pattern(2 << 20);
  std::vector<char> to(from.size());
  {
    const size_t half = from.size() / 2;
    HostCopy copy(copier, {{to.data(), from.data(), half},
                           {to.data() + half, from.data() + half, half}});
    copy.Allow(1);
    copy.Await(0);
    for (int i = 0; i < 1000; ++i) copy.Help();
    EXPECT_FALSE(copy.IsCopied(1));
    EXPECT_EQ(std::memcmp(to.data(), from.data(), half), 0);
    EXPECT_EQ(to[half], 0);
  }  // ends with helpers that wait for the second piece
  EXPECT_EQ(to.back(), 0);
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
        CopyInPieces(copier, to.data(), from.data(), to.size(), 1 << 19);
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
  CopyInPieces(copier, to.data(), from.data(), to.size(), 100000);
  EXPECT_EQ(to, from);
}

// Begun in one thread and ended in another, as by functions of a stream.
TEST(HostCopierTest, MovesBetweenThreads) {
  HostCopier copier(2);
  const std::vector<char> from = Pattern(1 << 20);
  for (int n = 0; n < 10; ++n) {
    std::vector<char> to(from.size());
    auto copy = std::make_unique<HostCopy>(
        copier, std::vector<HostCopy::Piece>{
                    {to.data(), from.data(), from.size()}});
    std::thread([&] { copy->Allow(1); }).join();
    std::thread([&] { copy->Await(0); }).join();
    std::thread([&] { copy.reset(); }).join();
    ASSERT_EQ(to, from);
  }
}

}  // namespace
}  // namespace hetgpu
