// Kernels whose threads work together: reduce, scan, lookback, histogram,
// warpvote, pipeline.

#include <algorithm>
#include <iterator>
#include <numeric>

#include "examples/tests/example.h"
#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

TEST(Reduce, PerBlock) {
  Example example("reduce");
  const uint32_t n = 5003;
  const auto in = Random<int>(n, 1, -1000, 1000);
  for (uint32_t block : {1u, 31u, 32u, 96u, 1000u, 1024u}) {
    const uint32_t blocks = Blocks(n, block);
    std::vector<int> want(blocks);
    for (uint32_t i = 0; i < n; ++i) want[i / block] += in[i];
    const auto out = example.Zeros<int>(blocks);
    example.Launch("reduce_block", {blocks}, {block}, block * 4,
                   example.Upload(in), out, n);
    ASSERT_EQ(example.Download(out), want) << block;
  }
}

TEST(Reduce, AtomicAndSinglePass) {
  Example example("reduce");
  for (uint32_t n : {1u, 33u, 10007u}) {
    const auto in = Random<float>(n, 2, 0, 1);
    const double want = std::accumulate(in.begin(), in.end(), 0.0);
    const auto input = example.Upload(in);
    for (uint32_t block : {1u, 17u, 32u, 80u, 992u, 1024u}) {
      const auto out = example.Zeros<float>(1);
      example.Launch("reduce_atomic", {5}, {block}, 0, input, out, n);
      ExpectClose(example.Download(out), {want}, 1e-5, 0);
    }
    for (uint32_t block : {32u, 96u, 1024u}) {
      const auto partials = example.Zeros<float>(37);
      const auto out = example.Zeros<float>(1);
      example.Launch("reduce_single_pass", {37}, {block}, 0, input, partials,
                     out, n);
      ExpectClose(example.Download(out), {want}, 1e-5, 0);
    }
  }
}

std::vector<int> Inclusive(const std::vector<int>& in) {
  std::vector<int> out(in.size());
  std::partial_sum(in.begin(), in.end(), out.begin());
  return out;
}

std::vector<int> Exclusive(const std::vector<int>& in) {
  std::vector<int> out(in.size());
  std::exclusive_scan(in.begin(), in.end(), out.begin(), 0);
  return out;
}

// Scans chunks on the device, their sums here, and adds them on the device.
void TestScan(const char* kernel, uint32_t block, uint32_t chunk,
              uint32_t shared, bool inclusive) {
  Example example("scan");
  for (uint32_t n : {1u, 100u, 5003u}) {
    const auto in = Random<int>(n, 3, -100, 100);
    const auto out = example.Zeros<int>(n);
    const uint32_t blocks = Blocks(n, chunk);
    const auto sums = example.Zeros<int>(blocks);
    example.Launch(kernel, {blocks}, {block}, shared, example.Upload(in), out,
                   sums, n);
    const auto offsets = example.Upload(Exclusive(example.Download(sums)));
    example.Launch("scan_add_offsets", {Blocks(n, 100)}, {100}, 0, out,
                   offsets, chunk, n);
    ASSERT_EQ(example.Download(out), inclusive ? Inclusive(in) : Exclusive(in))
        << n << " by " << block;
  }
}

TEST(Scan, Blelloch) {
  for (uint32_t block : {1u, 16u, 64u, 1024u}) {
    TestScan("scan_blelloch", block, 2 * block, 8 * block, false);
  }
}

TEST(Scan, Shuffle) {
  for (uint32_t block : {32u, 96u, 1024u}) {
    TestScan("scan_shuffle", block, block, 0, true);
  }
}

TEST(Lookback, ManyTiles) {
  Example example("lookback");
  for (uint32_t n : {1u, 129u, 5003u, 40009u}) {
    const auto in = RandomBits(n, 4);
    std::vector<uint32_t> want(n);
    std::partial_sum(in.begin(), in.end(), want.begin());
    for (uint32_t block : {32u, 96u, 1024u}) {
      const uint32_t tiles = Blocks(n, 4 * block);
      const auto out = example.Zeros<uint32_t>(n);
      example.Launch("scan_lookback", {tiles}, {block}, 0, example.Upload(in),
                     out, n, example.Zeros<uint64_t>(tiles),
                     example.Zeros<uint32_t>(1));
      ASSERT_EQ(example.Download(out), want) << n << " by " << block;
    }
  }
}

TEST(Histogram, GlobalAndShared) {
  Example example("histogram");
  for (uint32_t n : {1u, 1000u, 20011u}) {
    const auto data = Random<uint8_t>(n, 5, 0, 255);
    std::vector<uint32_t> want(256);
    for (uint8_t byte : data) ++want[byte];
    for (uint32_t block : {32u, 100u, 256u, 1024u}) {
      for (const char* kernel : {"histogram_global", "histogram_shared"}) {
        const auto bins = example.Zeros<uint32_t>(256);
        example.Launch(kernel, {5}, {block}, 0, example.Upload(data), n, bins);
        ASSERT_EQ(example.Download(bins), want) << kernel << ' ' << block;
      }
    }
  }
}

TEST(WarpVote, CompactKeepsWhatIsAbove) {
  Example example("warpvote");
  const uint32_t n = 3001;
  const auto in = Random<int>(n, 6, -50, 50);
  std::vector<int> want;
  std::copy_if(in.begin(), in.end(), std::back_inserter(want),
               [](int v) { return v > 3; });
  std::sort(want.begin(), want.end());
  for (uint32_t block : {32u, 96u, 1024u}) {
    const auto out = example.Zeros<int>(n);
    const auto kept = example.Zeros<uint32_t>(1);
    example.Launch("compact", {Blocks(n, block)}, {block}, 0,
                   example.Upload(in), n, 3, out, kept);
    ASSERT_EQ(example.Download(kept)[0], want.size());
    auto got = example.Download(out);
    got.resize(want.size());
    std::sort(got.begin(), got.end());
    ASSERT_EQ(got, want) << block;
  }
}

struct Summary {
  uint32_t peers, flags, bits, extent;
  bool operator==(const Summary&) const = default;
};

// What lane `lane` of a warp with these 32 values sees.
Summary Summarize(const uint32_t* warp, uint32_t lane) {
  Summary s = {};
  bool all = true, any = false, same = true;
  uint32_t ors = 0, ands = ~0u, xors = 0, largest = 0, smallest = ~0u;
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t v = warp[i];
    if (v == warp[lane]) s.peers |= 1u << i;
    all &= v > 2;
    any |= v > 5;
    same &= v / 8 == warp[0] / 8;
    if (i % 2 != lane % 2) continue;
    ors |= v;
    ands &= v;
    xors ^= v;
    largest = std::max(largest, v);
    smallest = std::min(smallest, v);
  }
  s.flags = all | any << 1 | same << 2;
  s.bits = lane % 2 == 0 ? ors ^ ands << 8 : xors;
  s.extent = lane % 2 == 0 ? largest : smallest;
  return s;
}

TEST(WarpVote, Summary) {
  Example example("warpvote");
  const uint32_t n = 1003;
  auto in = Random<uint32_t>(n, 7, 0, 9);
  std::fill(in.begin() + 64, in.begin() + 96, 6);   // one warp that agrees
  std::fill(in.begin() + 96, in.begin() + 128, 1);  // one with no vote
  auto padded = in;
  padded.resize(Blocks(n, 32) * 32);
  std::vector<Summary> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    want[i] = Summarize(&padded[i / 32 * 32], i % 32);
  }
  for (uint32_t block : {32u, 96u, 1024u}) {
    const auto out = example.Zeros<Summary>(n);
    example.Launch("warp_summary", {Blocks(n, block)}, {block}, 0,
                   example.Upload(in), out, n);
    const auto got = example.Download(out);
    for (uint32_t i = 0; i < n; ++i) {
      ASSERT_EQ(got[i], want[i])
          << "element " << i << ": " << std::hex << got[i].peers << ' '
          << got[i].flags << ' ' << got[i].bits << ' ' << got[i].extent;
    }
  }
}

TEST(Pipeline, NamedBarriers) {
  Example example("pipeline");
  for (int tiles : {1, 2, 3, 9, 50}) {
    const auto in = Random<int>(64 * tiles, 8, -100000, 100000);
    std::vector<int> want(in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      want[i] = in[i] * 3 + in[i / 64 * 64 + 63 - i % 64];
    }
    const auto out = example.Zeros<int>(in.size());
    example.Launch("pipeline", {1}, {96}, 0, example.Upload(in), out, tiles);
    ASSERT_EQ(example.Download(out), want) << tiles;
  }
}

}  // namespace
}  // namespace hetgpu::examples
