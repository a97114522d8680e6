#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using testing::HasSubstr;

class LaunchSuite : public DeviceTest {
 protected:
  void CheckIdentity(hetgpuDim3 grid, hetgpuDim3 block);
};

TEST_P(LaunchSuite, VecaddOfOddSizes) {
  for (uint32_t n : {1, 31, 33, 1000, 100003}) {
    std::vector<float> a(n), b(n);
    std::iota(a.begin(), a.end(), 0.5f);
    std::iota(b.begin(), b.end(), 100.0f);
    const hetgpuDevicePtr c = Zeroes(n + 1);
    ASSERT_SUCCESS(Run(Function("basic", "vecadd"),
                       {{(n + 255) / 256, 1, 1}, {256, 1, 1}}, Upload(a),
                       Upload(b), c, n));
    const auto sum = Download<float>(c, n + 1);
    for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(sum[i], a[i] + b[i]) << i;
    EXPECT_EQ(sum[n], 0.0f);
  }
}

void LaunchSuite::CheckIdentity(hetgpuDim3 grid, hetgpuDim3 block) {
  const uint32_t threads = block.x * block.y * block.z;
  const uint32_t blocks = grid.x * grid.y * grid.z;
  const hetgpuDevicePtr out = Zeroes(uint64_t{blocks} * threads * 16);
  ASSERT_SUCCESS(Run(Function("basic", "identify"), {grid, block}, out));
  const auto words = Download<uint32_t>(out, size_t{blocks} * threads * 16);
  for (uint32_t i = 0; i < blocks * threads; ++i) {
    const uint32_t b = i / threads, t = i % threads;
    const uint32_t expected[16] = {b % grid.x,
                                   b / grid.x % grid.y,
                                   b / grid.x / grid.y,
                                   t % block.x,
                                   t / block.x % block.y,
                                   t / block.x / block.y,
                                   grid.x,
                                   grid.y,
                                   grid.z,
                                   block.x,
                                   block.y,
                                   block.z,
                                   t % 32,
                                   32,
                                   t,
                                   0xcafe};
    ASSERT_TRUE(std::equal(expected, expected + 16, &words[i * 16]))
        << "block " << b << " thread " << t;
  }
}

TEST_P(LaunchSuite, EveryThreadKnowsItsPlace) {
  CheckIdentity({1, 1, 1}, {1, 1, 1});
  CheckIdentity({7, 1, 1}, {33, 1, 1});
  CheckIdentity({3, 2, 5}, {5, 3, 7});
  CheckIdentity({2, 3, 1}, {1, 16, 64});
  CheckIdentity({1, 1, 4}, {1, 1024, 1});
  CheckIdentity({5, 1, 1}, {1024, 1, 1});
}

TEST_P(LaunchSuite, ParametersOfEachKind) {
  struct Mixed {
    uint8_t a;
    double b;
    uint16_t c[3];
  } mixed = {200, 2.5, {7, 8, 9}};
  const hetgpuDevicePtr out = Zeroes(16);
  ASSERT_SUCCESS(Run(Function("basic", "parameters"), {}, out, uint8_t{250},
                     int16_t{-3}, uint32_t{4000000000u}, 1.25f, -0.5, mixed));
  EXPECT_THAT(Download<uint64_t>(out, 8),
              testing::ElementsAre(250u, static_cast<uint64_t>(-3), 4000000000u,
                                   std::bit_cast<uint32_t>(1.25f),
                                   std::bit_cast<uint64_t>(-0.5), 200u,
                                   std::bit_cast<uint64_t>(2.5), 9008007u));
}

// Each parameter lies at the next multiple of its alignment: at byte 0, 1, 8,
// 16, 32, 54, 56, 64 and 80.
constexpr char kLayout[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry layout(.param .u8 a, .param .u8 b, .param .u64 c,
                       .param .align 16 .b8 d[16], .param .align 2 .b8 e[22],
                       .param .u8 f, .param .u32 g, .param .align 8 .b8 h[16],
                       .param .u64 out) {
  .reg .u16 %h<3>;
  .reg .u32 %r<8>;
  .reg .u64 %x, %y, %out;
  ld.param.u64 %out, [out];
  ld.param.u8 %h0, [a];
  cvt.u32.u16 %r0, %h0;
  ld.param.u8 %h1, [b];
  cvt.u32.u16 %r1, %h1;
  ld.param.u64 %x, [c];
  ld.param.v4.u32 {%r2, %r3, %r4, %r5}, [d];
  add.u32 %r2, %r2, %r3;
  add.u32 %r4, %r4, %r5;
  ld.param.u16 %h2, [e+20];
  cvt.u32.u16 %r3, %h2;
  ld.param.u8 %h0, [f];
  cvt.u32.u16 %r5, %h0;
  ld.param.u32 %r6, [g];
  ld.param.u64 %y, [h+8];
  st.global.v2.u64 [%out], {%x, %y};
  st.global.v4.u32 [%out+16], {%r0, %r1, %r2, %r4};
  st.global.v2.u32 [%out+32], {%r3, %r5};
  st.global.u32 [%out+40], %r6;
  ret;
}
)";

TEST_P(LaunchSuite, ParametersLieAtTheirAlignment) {
  struct alignas(16) Vector {
    uint32_t words[4];
  };
  struct Shorts {
    uint16_t values[11];
  } shorts = {};
  shorts.values[10] = 65500;
  struct Pair {
    uint8_t first;
    uint64_t second;
  };
  hetgpuModule module = nullptr;
  ASSERT_SUCCESS(hetgpuModuleLoadData(context_, kLayout, sizeof(kLayout) - 1,
                                      "layout.ptx", &module));
  hetgpuFunction function = nullptr;
  ASSERT_SUCCESS(hetgpuModuleGetFunction(module, "layout", &function));
  uint64_t block_bytes = 0;
  ASSERT_SUCCESS(hetgpuFunctionGetAttribute(
      function, HETGPU_FUNCTION_PARAM_BYTES, &block_bytes));
  EXPECT_EQ(block_bytes, 88u);
  const hetgpuDevicePtr out = Zeroes(12);
  ASSERT_SUCCESS(Run(function, {}, uint8_t{201}, uint8_t{102},
                     uint64_t{0x0123456789abcdef},
                     Vector{{1000, 200, 30, 4}}, shorts, uint8_t{77},
                     uint32_t{3000000000}, Pair{1, uint64_t{1} << 63}, out));
  EXPECT_THAT(Download<uint64_t>(out, 2),
              testing::ElementsAre(0x0123456789abcdef, uint64_t{1} << 63));
  EXPECT_THAT(Download<uint32_t>(out + 16, 7),
              testing::ElementsAre(201u, 102u, 1200u, 34u, 65500u, 77u,
                                   3000000000u));
}

TEST_P(LaunchSuite, ArgumentsAreReadBeforeTheCallReturns) {
  const hetgpuDevicePtr total = Zeroes(1);
  hetgpuDevicePtr argument = total;
  void* args[] = {&argument};
  ASSERT_SUCCESS(hetgpuLaunchKernel(Function("basic", "count"), {1, 1, 1},
                                    {8, 1, 1}, 0, nullptr, args));
  argument = 0;
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 8u);
}

TEST_P(LaunchSuite, ParameterBlock) {
  const hetgpuDevicePtr total = Zeroes(1);
  ASSERT_SUCCESS(hetgpuLaunchKernelPacked(Function("basic", "count"), {2, 1, 1},
                                          {3, 1, 1}, 0, nullptr, &total, 8));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 6u);
  for (size_t bytes : {0, 7, 9}) {
    EXPECT_RESULT(
        HETGPU_ERROR_INVALID_ARGUMENTS,
        hetgpuLaunchKernelPacked(Function("basic", "count"), {1, 1, 1},
                                 {1, 1, 1}, 0, nullptr, &total, bytes));
  }
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ARGUMENTS,
                hetgpuLaunchKernel(Function("basic", "count"), {1, 1, 1},
                                   {1, 1, 1}, 0, nullptr, nullptr));
}

TEST_P(LaunchSuite, StaticSharedMemoryAndBarriers) {
  for (uint32_t n : {1, 31, 32, 100, 256}) {
    std::vector<uint32_t> data(n);
    std::iota(data.begin(), data.end(), 1);
    const hetgpuDevicePtr a = Upload(data);
    ASSERT_SUCCESS(
        Run(Function("basic", "reverse_static"), {{1, 1, 1}, {n, 1, 1}}, a));
    std::reverse(data.begin(), data.end());
    EXPECT_EQ(Download<uint32_t>(a, n), data);
  }
}

TEST_P(LaunchSuite, DynamicSharedMemoryUpToTheLimit) {
  const auto most =
      static_cast<uint32_t>(Property(HETGPU_DEVICE_MAX_SHARED_PER_BLOCK));
  for (uint32_t bytes : {4u, 1000u, 49152u, most / 4 * 4}) {
    std::vector<uint32_t> data(bytes / 4);
    std::iota(data.begin(), data.end(), 1);
    const hetgpuDevicePtr a = Upload(data);
    ASSERT_SUCCESS(Run(Function("basic", "reverse_dynamic"),
                       {{1, 1, 1}, {128, 1, 1}, bytes}, a,
                       static_cast<uint32_t>(data.size())));
    std::reverse(data.begin(), data.end());
    EXPECT_EQ(Download<uint32_t>(a, data.size()), data) << bytes;
  }
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RESOURCES,
                Run(Function("basic", "reverse_dynamic"),
                    {{1, 1, 1}, {1, 1, 1}, most + 4}, Zeroes(1), 1u));
}

TEST_P(LaunchSuite, ShapesOutsideTheLimits) {
  const hetgpuFunction nothing = Function("basic", "nothing");
  const Shape bad[] = {
      {{0, 1, 1}, {1, 1, 1}},     {{1, 0, 1}, {1, 1, 1}},
      {{1, 1, 0}, {1, 1, 1}},     {{1, 1, 1}, {0, 1, 1}},
      {{1, 1, 1}, {1, 0, 1}},     {{1, 1, 1}, {1, 1, 0}},
      {{1, 1, 1}, {1025, 1, 1}},  {{1, 1, 1}, {32, 33, 1}},
      {{1, 1, 1}, {1, 1, 65}},    {{1, 65536, 1}, {1, 1, 1}},
      {{1, 1, 65536}, {1, 1, 1}}, {{1u << 31, 1, 1}, {1, 1, 1}}};
  for (const Shape& shape : bad) {
    EXPECT_RESULT(HETGPU_ERROR_INVALID_CONFIGURATION, Run(nothing, shape));
  }
  EXPECT_RESULT(HETGPU_ERROR_INVALID_CONFIGURATION,
                Run(Function("basic", "at_most_64"), {{1, 1, 1}, {65, 1, 1}}));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr(".maxntid"));
  EXPECT_SUCCESS(Run(nothing, {{1, 1, 1}, {1, 1, 64}}));
  ExpectUsable();
}

TEST_P(LaunchSuite, ManyBlocks) {
  const hetgpuDevicePtr total = Zeroes(1);
  ASSERT_SUCCESS(
      Run(Function("basic", "count"), {{1 << 20, 1, 1}, {1, 1, 1}}, total));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 1u << 20);
  ASSERT_SUCCESS(
      Run(Function("basic", "count"), {{1, 300, 301}, {2, 1, 1}}, total));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], (1u << 20) + 2 * 300 * 301);
}

TEST_P(LaunchSuite, ManyLaunchesInOrder) {
  const hetgpuDevicePtr total = Zeroes(1);
  const hetgpuFunction count = Function("basic", "count");
  for (int i = 0; i < 1000; ++i) {
    ASSERT_SUCCESS(Launch(count, {{1, 1, 1}, {4, 1, 1}}, nullptr, total));
  }
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 4000u);
}

HETGPU_CONFORMANCE(LaunchSuite);

}  // namespace
}  // namespace hetgpu::conformance
