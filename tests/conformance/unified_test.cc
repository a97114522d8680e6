// Unified contexts on every ordered pair of devices: what one builds the other
// walks, at the same addresses. HETGPU_TEST_DEVICES ("cpu:0,cuda:0") chooses the
// devices.
#include <cstddef>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

constexpr uint64_t kMiB = 1 << 20;

std::vector<std::string> Devices() {
  const char* names = std::getenv("HETGPU_TEST_DEVICES");
  std::vector<std::string> all;
  if (names != nullptr) {
    std::istringstream list(names);
    for (std::string name; std::getline(list, name, ',');) all.push_back(name);
    return all;
  }
  return TestDevices();
}

using Pair = std::pair<std::string, std::string>;

std::vector<Pair> Pairs() {
  std::vector<Pair> pairs;
  for (const std::string& a : Devices()) {
    for (const std::string& b : Devices()) pairs.emplace_back(a, b);
  }
  return pairs;
}

struct Side {
  hetgpuContext context = nullptr;
  hetgpuModule module = nullptr;
};

class UnifiedSuite : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override {
    Open(GetParam().first, a_);
    if (!IsSkipped()) Open(GetParam().second, b_);
  }

  void TearDown() override {
    for (const Side& side : {a_, b_}) {
      if (side.context) EXPECT_SUCCESS(hetgpuContextDestroy(side.context));
    }
  }

  void Open(const std::string& name, Side& side) {
    hetgpuDevice device;
    ASSERT_SUCCESS(hetgpuDeviceGetByName(name.c_str(), &device));
    const hetgpuResult made =
        hetgpuContextCreate(device, HETGPU_CONTEXT_UNIFIED, &side.context);
    if (made == HETGPU_ERROR_UNSUPPORTED) {
      GTEST_SKIP() << hetgpuGetLastErrorDetail();
    }
    ASSERT_EQ(made, HETGPU_SUCCESS) << hetgpuGetLastErrorDetail();
    EXPECT_SUCCESS(hetgpuContextSetLimit(
        side.context, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 20000));
    ASSERT_SUCCESS(hetgpuModuleLoadFile(
        side.context,
        HETGPU_SOURCE_DIR "/tests/conformance/kernels/structures.ptx",
        &side.module));
  }

  hetgpuDevicePtr Alloc(const Side& side, uint64_t bytes) {
    hetgpuDevicePtr address = 0;
    EXPECT_SUCCESS(hetgpuMemAlloc(side.context, bytes, &address));
    EXPECT_SUCCESS(hetgpuMemFill(side.context, address, 0, 1, bytes));
    return address;
  }

  template <typename... Args>
  hetgpuResult Launch(const Side& side, const char* name, uint32_t threads,
                      Args... args) {
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(hetgpuModuleGetFunction(side.module, name, &function));
    void* pointers[] = {&args...};
    return hetgpuLaunchKernel(function, {(threads + 127) / 128, 1, 1},
                              {threads == 1 ? 1u : 128u, 1, 1}, 0, nullptr,
                              pointers);
  }

  template <typename T>
  std::vector<T> Download(const Side& side, hetgpuDevicePtr address,
                          size_t count) {
    std::vector<T> host(count);
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(side.context, host.data(), address,
                                     count * sizeof(T)));
    return host;
  }

  Side a_, b_;
};

uint64_t Walk(uint64_t total, uint32_t count, uint32_t more = 0) {
  for (uint32_t i = 0; i < count; ++i) total = total * 3 + (i * i + more);
  return total;
}

TEST_P(UnifiedSuite, AListBuiltHereIsWalkedThere) {
  constexpr uint32_t kCount = 5000;
  const hetgpuDevicePtr nodes = Alloc(a_, kCount * 16), sum = Alloc(b_, 8);
  EXPECT_SUCCESS(Launch(a_, "build_list", kCount, nodes, kCount, 1999u));
  EXPECT_SUCCESS(Launch(b_, "walk_list", 1, nodes, sum));
  EXPECT_EQ(Download<uint64_t>(a_, sum, 1)[0], Walk(0, kCount));
  EXPECT_SUCCESS(Launch(b_, "grow_list", 1, nodes, 5u));
  EXPECT_SUCCESS(Launch(a_, "walk_list", 1, nodes, sum));
  EXPECT_EQ(Download<uint64_t>(b_, sum, 1)[0], Walk(0, kCount, 5));
  EXPECT_SUCCESS(hetgpuMemFree(b_.context, nodes));
  EXPECT_SUCCESS(hetgpuMemFree(a_.context, sum));
}

TEST_P(UnifiedSuite, AListOverMemoryOfBothIsWhole) {
  const hetgpuDevicePtr mine = Alloc(a_, 1000 * 16);
  const hetgpuDevicePtr yours = Alloc(b_, 700 * 16), sum = Alloc(a_, 8);
  EXPECT_SUCCESS(Launch(a_, "build_list", 1000, mine, 1000u, 7u));
  EXPECT_SUCCESS(Launch(b_, "build_list", 700, yours, 700u, 3u));
  EXPECT_SUCCESS(Launch(a_, "join_lists", 1, mine, yours));
  for (const Side& side : {b_, a_}) {
    EXPECT_SUCCESS(Launch(side, "walk_list", 1, mine, sum));
    EXPECT_EQ(Download<uint64_t>(side, sum, 1)[0],
              Walk(Walk(0, 1000), 700));
  }
}

TEST_P(UnifiedSuite, ATreeBuiltHereIsSearchedThere) {
  constexpr uint32_t kLevels = 12, kCount = (1 << kLevels) - 1;
  const hetgpuDevicePtr nodes = Alloc(a_, kCount * 24), root = Alloc(a_, 8);
  const hetgpuDevicePtr keys = Alloc(b_, 1000 * 4), found = Alloc(b_, 1000 * 4);
  std::vector<uint32_t> asked(1000);
  for (uint32_t i = 0; i < 1000; ++i) asked[i] = i * 9 % (2 * kCount + 2);
  EXPECT_SUCCESS(hetgpuMemCopyHtoD(b_.context, keys, asked.data(), 4000));
  EXPECT_SUCCESS(Launch(a_, "build_tree", kCount, nodes, kLevels, root));
  EXPECT_SUCCESS(Launch(b_, "search_tree", 1000, root, keys, found, 1000u));
  const auto values = Download<uint32_t>(a_, found, 1000);
  for (uint32_t i = 0; i < 1000; ++i) {
    const bool there = asked[i] % 2 == 1 && asked[i] < 2 * kCount;
    ASSERT_EQ(values[i], there ? (asked[i] / 2) ^ 0x5a5a : ~0u) << asked[i];
  }
}

TEST_P(UnifiedSuite, AHashTableGrowsOnBoth) {
  constexpr uint32_t kBuckets = 509, kCount = 3000;
  const hetgpuDevicePtr table = Alloc(a_, kBuckets * 8);
  const hetgpuDevicePtr pool = Alloc(b_, kCount * 16);
  const hetgpuDevicePtr found = Alloc(a_, (kCount + 100) * 4);
  for (uint32_t first = 0; first < kCount; first += 500) {
    const Side& side = first % 1000 == 0 ? a_ : b_;
    EXPECT_SUCCESS(Launch(side, "hash_insert", 500, table, kBuckets, pool,
                          first, 500u));
  }
  for (const Side& side : {b_, a_}) {
    EXPECT_SUCCESS(Launch(side, "hash_find", kCount + 100, table, kBuckets,
                          found, kCount + 100));
    const auto values = Download<uint32_t>(side, found, kCount + 100);
    for (uint32_t i = 0; i < kCount + 100; ++i) {
      ASSERT_EQ(values[i], i < kCount ? i * 7 : ~0u) << i;
    }
  }
}

// As in kernels/spaces.cu.
struct Places {
  uint32_t in[128], mixed[128], ordered[128], staged[128], heap[128];
  uint32_t fixed[128];
  uint64_t self[128], links[128];
  uint32_t total, exchanged, largest, counted;
  uint16_t a[256], b[256];
  float product[256];
};

constexpr uint16_t kHalves[] = {0, 0x3c00, 0x4000, 0x4200};  // 0 to 3

Places PlacesBefore() {
  Places places = {};
  for (uint32_t i = 0; i < 128; ++i) places.in[i] = i * 3;
  for (uint32_t i = 0; i < 256; ++i) {
    places.a[i] = kHalves[(i / 16 + i) % 4];
    places.b[i] = i / 16 == i % 16 ? kHalves[2] : 0;
  }
  return places;
}

// What every_space makes of it at `address`, but for links.
Places PlacesAfter(uint64_t address, uint32_t turn) {
  constexpr uint32_t kTable[] = {100, 200, 300, 400};
  constexpr uint32_t kFactors[] = {3, 5, 7, 9};
  Places places = PlacesBefore();
  for (uint32_t i = 0; i < 128; ++i) {
    uint32_t local[] = {10, 20, 30, 40};
    local[turn % 4] += i;
    uint32_t of_both[] = {places.in[i], i * 2};
    const uint32_t values[] = {of_both[0], of_both[1], local[i % 4],
                               kTable[i % 4]};
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 4; ++k) sum = sum * 3 + values[(k + turn) % 4];
    of_both[(turn + i) % 2] += sum;
    places.in[i] = of_both[0];
    places.mixed[i] = sum + of_both[1];
    places.ordered[i] = 2 * of_both[0];
    places.staged[127 - i] = of_both[0];
    places.heap[i] = i + 1000;
    places.fixed[i] = kFactors[2] * i + kFactors[(i + turn) % 4];
    places.self[i] = address + offsetof(Places, self) + i * 8;
    places.total += i;
  }
  places.exchanged = 77;
  places.largest = 127 * 3;
  places.counted = 7 + 128;
  for (uint32_t i = 0; i < 256; ++i) {
    places.product[i] = 2.0f * ((i / 16 + i) % 4);
  }
  return places;
}

TEST_P(UnifiedSuite, EverySpaceIsReached) {
  const hetgpuDevicePtr address = Alloc(a_, sizeof(Places));
  uint32_t turn = 0;
  for (const Side& side : {a_, b_, a_}) {
    SCOPED_TRACE(++turn);
    hetgpuModule module = nullptr;
    ASSERT_SUCCESS(hetgpuModuleLoadFile(
        side.context, HETGPU_SOURCE_DIR "/tests/conformance/kernels/spaces.ptx",
        &module));
    const Places before = PlacesBefore();
    EXPECT_SUCCESS(hetgpuMemCopyHtoD(a_.context, address, &before,
                                     sizeof(before)));
    EXPECT_SUCCESS(Launch({side.context, module}, "every_space", 128, address,
                          turn));
    const Places found = Download<Places>(b_, address, 1)[0];
    const Places wanted = PlacesAfter(address, turn);
    for (uint32_t i = 0; i < 128; ++i) {
      ASSERT_EQ(found.in[i], wanted.in[i]) << i;
      ASSERT_EQ(found.mixed[i], wanted.mixed[i]) << i;
      ASSERT_EQ(found.ordered[i], wanted.ordered[i]) << i;
      ASSERT_EQ(found.staged[i], wanted.staged[i]) << i;
      ASSERT_EQ(found.heap[i], wanted.heap[i]) << i;
      ASSERT_EQ(found.fixed[i], wanted.fixed[i]) << i;
      ASSERT_EQ(found.self[i], wanted.self[i]) << i;
    }
    for (uint32_t i = 0; i < 256; ++i) {
      ASSERT_EQ(found.product[i], wanted.product[i]) << i;
    }
    EXPECT_EQ(found.total, wanted.total);
    EXPECT_EQ(found.exchanged, wanted.exchanged);
    EXPECT_EQ(found.largest, wanted.largest);
    EXPECT_EQ(found.counted, wanted.counted);
    EXPECT_SUCCESS(hetgpuModuleUnload(module));
  }
}

// With HETGPU_CUDA_ARENA_BASE, GPUs have unified memory at a distance.
TEST_P(UnifiedSuite, AtADistanceKernelsAreRecompiled) {
  const bool is_distant = std::getenv("HETGPU_CUDA_ARENA_BASE") != nullptr &&
                          GetParam().second.starts_with("cuda");
  hetgpuFunction function = nullptr;
  EXPECT_SUCCESS(hetgpuModuleGetFunction(b_.module, "walk_list", &function));
  const char* text = nullptr;
  EXPECT_SUCCESS(hetgpuFunctionGetText(
      function, HETGPU_FUNCTION_TEXT_EXPLANATION, &text));
  EXPECT_EQ(std::string(text).find("at a distance") != std::string::npos,
            is_distant)
      << text;
}

TEST_P(UnifiedSuite, CopiesAndFillsWorkFromBothSides) {
  const hetgpuDevicePtr data = Alloc(a_, 3 * kMiB), copy = Alloc(b_, 3 * kMiB);
  std::vector<uint8_t> host(3 * kMiB);
  for (size_t i = 0; i < host.size(); ++i) host[i] = i * 31 >> 3;
  EXPECT_SUCCESS(
      hetgpuMemCopyHtoD(a_.context, data, host.data(), host.size()));
  EXPECT_SUCCESS(hetgpuMemFill(b_.context, data + 1000, 0xab, 1, 70000));
  std::fill_n(host.begin() + 1000, 70000, 0xab);
  EXPECT_SUCCESS(
      hetgpuMemCopyDtoD(b_.context, copy + 64, data, host.size() - 64));
  EXPECT_EQ(Download<uint8_t>(a_, data, host.size()), host);
  host.resize(host.size() - 64);
  EXPECT_EQ(Download<uint8_t>(a_, copy + 64, host.size()), host);
}

TEST_P(UnifiedSuite, FloatsGoToAndFro) {
  constexpr uint32_t kCount = 100000;
  const hetgpuDevicePtr x = Alloc(a_, kCount * 4), y = Alloc(a_, kCount * 4);
  std::vector<float> expected(kCount, 0);
  for (int round = 0; round < 6; ++round) {
    const Side& side = round % 2 == 0 ? a_ : b_;
    EXPECT_SUCCESS(Launch(side, "scale", kCount, round % 2 == 0 ? x : y,
                          round % 2 == 0 ? y : x, 0.5f, kCount));
    for (float& value : expected) value = value * 0.5f + 1;
  }
  EXPECT_EQ(Download<float>(a_, y, kCount), expected);
}

TEST_P(UnifiedSuite, MoreMemoryThanTheDevicesMayHold) {
  EXPECT_SUCCESS(hetgpuContextSetLimit(
      a_.context, HETGPU_LIMIT_RESIDENT_BYTES, 16 * kMiB));
  EXPECT_SUCCESS(hetgpuContextSetLimit(
      b_.context, HETGPU_LIMIT_RESIDENT_BYTES, 16 * kMiB));
  constexpr uint32_t kCount = kMiB;  // floats: 4 MiB
  std::vector<hetgpuDevicePtr> all;
  for (int i = 0; i < 12; ++i) all.push_back(Alloc(a_, 4 * kMiB));
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i + 1 < 12; ++i) {
      EXPECT_SUCCESS(Launch(i % 3 == 0 ? b_ : a_, "scale", kCount, all[i + 1],
                            all[i], 2.0f, kCount));
    }
  }
  // 2^i - 1, whatever moved where.
  for (int i = 0; i < 12; ++i) {
    const auto values = Download<float>(b_, all[i], kCount);
    EXPECT_EQ(values.front(), (1 << i) - 1);
    EXPECT_EQ(values.back(), (1 << i) - 1);
  }
  const hetgpuDevicePtr large = Alloc(a_, 10 * kMiB);
  const hetgpuDevicePtr other = Alloc(a_, 10 * kMiB);
  EXPECT_RESULT(HETGPU_ERROR_WORKING_SET_TOO_LARGE,
                Launch(b_, "scale", 128, large, other, 2.0f, 128u));
  EXPECT_SUCCESS(hetgpuContextSetLimit(b_.context,
                                       HETGPU_LIMIT_RESIDENT_BYTES, 0));
  EXPECT_SUCCESS(Launch(b_, "scale", 128, large, other, 2.0f, 128u));
  EXPECT_EQ(Download<float>(a_, large, 1)[0], 1);
  for (const hetgpuDevicePtr address : all) {
    EXPECT_SUCCESS(hetgpuMemFree(b_.context, address));
  }
  EXPECT_SUCCESS(hetgpuContextSetLimit(a_.context,
                                       HETGPU_LIMIT_RESIDENT_BYTES, 0));
}

TEST_P(UnifiedSuite, ThreadsUseBothAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const hetgpuDevicePtr x = Alloc(a_, 40000), y = Alloc(b_, 40000);
      for (int round = 0; round < 20; ++round) {
        const Side& side = (round + t) % 2 == 0 ? a_ : b_;
        EXPECT_SUCCESS(Launch(side, "scale", 10000, round % 2 == 0 ? x : y,
                              round % 2 == 0 ? y : x, 1.0f, 10000u));
      }
      EXPECT_EQ(Download<float>(t % 2 == 0 ? a_ : b_, y, 10000),
                std::vector<float>(10000, 20));
      EXPECT_SUCCESS(hetgpuMemFree(a_.context, x));
      EXPECT_SUCCESS(hetgpuMemFree(a_.context, y));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnifiedSuite);
INSTANTIATE_TEST_SUITE_P(All, UnifiedSuite, testing::ValuesIn(Pairs()),
                         [](const auto& info) {
                           std::string name =
                               info.param.first + "_" + info.param.second;
                           for (char& c : name) c = c == ':' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace hetgpu::conformance
