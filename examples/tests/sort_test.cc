// Sorting and searching, locks and recursion: bitonic, radix, bfs, spinlock,
// recursion.

#include <algorithm>
#include <deque>
#include <utility>

#include "examples/tests/example.h"
#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

TEST(Bitonic, SharedThenGlobal) {
  Example example("bitonic");
  for (uint32_t n : {2u, 64u, 1024u, 4096u}) {
    for (uint32_t threads : {1u, 32u, 256u, 1024u}) {
      const uint32_t width = 2 * threads;
      if (width > n) continue;
      const auto in = RandomBits(n, 1);
      const auto keys = example.Upload(in);
      example.Launch("bitonic_shared", {n / width}, {threads}, width * 4, keys,
                     n);
      for (uint32_t k = 2 * width; k <= n; k *= 2) {
        for (uint32_t j = k / 2; j > 0; j /= 2) {
          example.Launch("bitonic_step", {Blocks(n, 100)}, {100}, 0, keys, n,
                         k, j);
        }
      }
      auto want = in;
      std::sort(want.begin(), want.end());
      ASSERT_EQ(example.Download(keys), want) << n << " by " << threads;
    }
  }
}

TEST(Radix, EightPasses) {
  Example example("radix");
  for (uint32_t n : {1u, 100u, 2003u}) {
    for (uint32_t block : {32u, 96u, 1024u}) {
      const auto in = RandomBits(n, 2);
      auto keys = example.Upload(in), other = example.Zeros<uint32_t>(n);
      const uint32_t blocks = Blocks(n, block);
      const auto counts = example.Zeros<uint32_t>(16 * blocks);
      for (uint32_t shift = 0; shift < 32; shift += 4) {
        example.Launch("radix_count", {blocks}, {block}, 0, keys, n, shift,
                       counts);
        example.Launch("radix_scan", {1}, {57}, 0, counts, 16 * blocks);
        example.Launch("radix_scatter", {blocks}, {block}, 0, keys, other, n,
                       shift, counts);
        std::swap(keys, other);
      }
      auto want = in;
      std::sort(want.begin(), want.end());
      ASSERT_EQ(example.Download(keys), want) << n << " by " << block;
    }
  }
}

std::vector<int> HostBfs(const std::vector<int>& row_start,
                         const std::vector<int>& column) {
  std::vector<int> distance(row_start.size() - 1, -1);
  std::deque<int> queue = {0};
  distance[0] = 0;
  while (!queue.empty()) {
    const int node = queue.front();
    queue.pop_front();
    for (int e = row_start[node]; e < row_start[node + 1]; ++e) {
      if (distance[column[e]] != -1) continue;
      distance[column[e]] = distance[node] + 1;
      queue.push_back(column[e]);
    }
  }
  return distance;
}

TEST(Bfs, RandomGraph) {
  Example example("bfs");
  const int nodes = 1009;
  std::vector<int> row_start = {0};
  for (int degree : Random<int>(nodes, 3, 0, 4)) {
    row_start.push_back(row_start.back() + degree);
  }
  const auto column = Random<int>(row_start.back(), 4, 0, nodes - 1);
  const auto want = HostBfs(row_start, column);
  ASSERT_GT(*std::max_element(want.begin(), want.end()), 3);
  const auto rows = example.Upload(row_start), columns = example.Upload(column);
  for (uint32_t block : {32u, 50u, 1024u}) {
    std::vector<int> start(nodes, -1);
    start[0] = 0;
    const auto distance = example.Upload(start);
    auto frontier = example.Zeros<int>(nodes);
    auto next = example.Zeros<int>(nodes);
    int level = 0;
    for (int size = 1; size > 0; ++level) {
      const auto next_size = example.Zeros<int>(1);
      example.Launch("bfs_expand", {3}, {block}, 0, rows, columns, distance,
                     level, frontier, example.Upload(std::vector<int>{size}),
                     next, next_size);
      size = example.Download(next_size)[0];
      std::swap(frontier, next);
      ASSERT_LT(level, nodes);
    }
    ASSERT_EQ(example.Download(distance), want) << block;
  }
}

TEST(Spinlock, EveryLaneTakesTheLock) {
  Example example("spinlock");
  for (uint32_t block : {32u, 45u, 256u, 1024u}) {
    const uint32_t n = 2 * block + 5;
    uint32_t checksum = 0;
    for (uint32_t i = 0; i < n; ++i) checksum += i * i;
    const auto counter = example.Zeros<uint32_t>(1);
    const auto sum = example.Zeros<uint32_t>(1);
    example.Launch("spinlock", {Blocks(n, block)}, {block}, 0,
                   example.Zeros<int>(1), counter, sum, n);
    ASSERT_EQ(example.Download(counter)[0], n) << block;
    ASSERT_EQ(example.Download(sum)[0], checksum) << block;
  }
}

TEST(Spinlock, LocksInSharedMemory) {
  Example example("spinlock");
  const uint32_t n = 1000;
  const auto keys = RandomBits(n, 5);
  for (uint32_t block : {4u, 32u, 200u, 512u}) {
    std::vector<uint64_t> want(8);
    for (uint32_t key : keys) want[key % 8] += key;
    const auto sums = example.Zeros<uint64_t>(8);
    example.Launch("spinlock_buckets", {Blocks(n, block)}, {block}, 0,
                   example.Upload(keys), n, sums);
    ASSERT_EQ(example.Download(sums), want) << block;
  }
}

uint32_t Ackermann(uint32_t m, uint32_t n) {
  // Closed forms for m < 3.
  return m == 0 ? n + 1 : m == 1 ? n + 2 : 2 * n + 3;
}

TEST(Recursion, Functions) {
  Example example("recursion");
  constexpr uint32_t kFibonacci[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (uint32_t n : {1u, 77u, 300u}) {
    const auto in = Random<uint32_t>(n, 6, 0, 1000);
    std::vector<uint32_t> fibonacci, ackermann, even;
    for (uint32_t v : in) {
      fibonacci.push_back(kFibonacci[v % 12]);
      ackermann.push_back(Ackermann(v % 3, v % 5));
      even.push_back(v % 17 % 2 == 0);
    }
    const auto f = example.Zeros<uint32_t>(n), a = example.Zeros<uint32_t>(n),
               e = example.Zeros<uint32_t>(n);
    example.Launch("recursion", {Blocks(n, 50)}, {50}, 0, example.Upload(in),
                   f, a, e, n);
    ASSERT_EQ(example.Download(f), fibonacci);
    ASSERT_EQ(example.Download(a), ackermann);
    ASSERT_EQ(example.Download(e), even);
  }
}

TEST(Recursion, QuickSortPerThread) {
  Example example("recursion");
  const int n = 5000, segment = 77;
  auto want = Random<int>(n, 7, -500, 500);
  const auto data = example.Upload(want);
  for (int begin = 0; begin < n; begin += segment) {
    std::sort(want.begin() + begin,
              want.begin() + std::min(begin + segment, n));
  }
  example.Launch("quicksort", {Blocks(Blocks(n, segment), 33)}, {33}, 0, data,
                 segment, n);
  EXPECT_EQ(example.Download(data), want);
}

}  // namespace
}  // namespace hetgpu::examples
