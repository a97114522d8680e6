#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using MemorySuite = DeviceTest;

TEST_P(MemorySuite, AddressesAreAlignedAndDistinct) {
  std::vector<hetgpuDevicePtr> addresses;
  for (uint64_t bytes : {1, 2, 3, 255, 256, 257, 4095, 65536, 1000000}) {
    addresses.push_back(Alloc(bytes));
    EXPECT_EQ(addresses.back() % 256, 0u);
    EXPECT_NE(addresses.back(), 0u);
  }
  std::sort(addresses.begin(), addresses.end());
  EXPECT_EQ(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

TEST_P(MemorySuite, CopiesOfOddSizesAndOffsets) {
  std::vector<uint8_t> data(100003);
  std::iota(data.begin(), data.end(), 7);
  const hetgpuDevicePtr a = Upload(data), b = Alloc(data.size());
  for (uint64_t offset : {0, 1, 3, 17, 4096}) {
    const uint64_t bytes = data.size() - offset - 5;
    ASSERT_SUCCESS(hetgpuMemCopyDtoD(context_, b + 5, a + offset, bytes));
    const std::vector<uint8_t> expected(data.begin() + offset,
                                        data.begin() + offset + bytes);
    EXPECT_EQ(Download<uint8_t>(b + 5, bytes), expected) << offset;
  }
}

TEST_P(MemorySuite, LargeCopy) {
  std::vector<uint32_t> data(8 << 20);
  std::iota(data.begin(), data.end(), 1);
  EXPECT_EQ(Download<uint32_t>(Upload(data), data.size()), data);
}

TEST_P(MemorySuite, FillsOfEachPatternSize) {
  const hetgpuDevicePtr a = Alloc(64);
  ASSERT_SUCCESS(hetgpuMemFill(context_, a, 0xee, 1, 64));
  ASSERT_SUCCESS(hetgpuMemFill(context_, a + 3, 0x11, 1, 2));
  ASSERT_SUCCESS(hetgpuMemFill(context_, a + 10, 0x2211, 2, 1));
  ASSERT_SUCCESS(hetgpuMemFill(context_, a + 20, 0x44332211, 4, 2));
  ASSERT_SUCCESS(hetgpuMemFill(context_, a + 40, 0x8877665544332211, 8, 2));
  const auto bytes = Download<uint8_t>(a, 64);
  EXPECT_EQ(bytes[2], 0xee);
  EXPECT_EQ(bytes[3], 0x11);
  EXPECT_EQ(bytes[5], 0xee);
  EXPECT_EQ(bytes[11], 0x22);
  EXPECT_EQ(bytes[27], 0x44);
  EXPECT_EQ(bytes[28], 0xee);
  EXPECT_EQ(bytes[55], 0x88);
  EXPECT_EQ(bytes[56], 0xee);
}

TEST_P(MemorySuite, FreedMemoryIsAvailableAgain) {
  uint64_t before = 0, total = 0, after = 0;
  ASSERT_SUCCESS(hetgpuMemGetInfo(context_, &before, &total));
  EXPECT_LE(before, total);
  for (int i = 0; i < 50; ++i) {
    ASSERT_SUCCESS(hetgpuMemFree(context_, Alloc(64 << 20)));
  }
  ASSERT_SUCCESS(hetgpuMemGetInfo(context_, &after, &total));
  EXPECT_GE(after + (128 << 20), before);
}

TEST_P(MemorySuite, OutOfMemoryIsAnErrorAndNothingElse) {
  hetgpuDevicePtr address = 0;
  const uint64_t total = Property(HETGPU_DEVICE_TOTAL_MEMORY);
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY,
                hetgpuMemAlloc(context_, total + 1, &address));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY,
                hetgpuMemAlloc(context_, UINT64_MAX, &address));
  EXPECT_EQ(address, 0u);
  ExpectUsable();
}

TEST_P(MemorySuite, WrongUsesAreNamed) {
  const hetgpuDevicePtr a = Alloc(64);
  uint8_t host[128] = {};
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemAlloc(context_, 0, nullptr));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemCopyHtoD(context_, a, host, 65));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemCopyDtoH(context_, host, a + 63, 2));
  EXPECT_RESULT(HETGPU_ERROR_INTERIOR_POINTER, hetgpuMemFree(context_, a + 1));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS, hetgpuMemFree(context_, 8));
  EXPECT_SUCCESS(hetgpuMemFree(context_, a));
  EXPECT_RESULT(HETGPU_ERROR_DOUBLE_FREE, hetgpuMemFree(context_, a));
  EXPECT_RESULT(HETGPU_ERROR_USE_AFTER_FREE,
                hetgpuMemCopyHtoD(context_, a, host, 1));
}

TEST_P(MemorySuite, AdviceChangesNothing) {
  const hetgpuDevicePtr total = Zeroes(1);
  for (int advice = 0; advice <= HETGPU_MEM_ADVICE_PREFER_HOST; ++advice) {
    ASSERT_SUCCESS(
        hetgpuMemAdvise(context_, total, static_cast<hetgpuMemAdvice>(advice)));
  }
  ASSERT_SUCCESS(
      Run(Function("basic", "count"), {{2, 1, 1}, {2, 1, 1}}, total));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 4u);
}

TEST_P(MemorySuite, HostSeesDeviceMemoryWhereItSaysSo) {
  if (Property(HETGPU_DEVICE_HOST_ADDRESSABLE) == 0) {
    GTEST_SKIP() << "device memory is not host addressable here";
  }
  const hetgpuDevicePtr a = Upload(std::vector<uint32_t>{5, 6});
  EXPECT_EQ(reinterpret_cast<const uint32_t*>(a)[1], 6u);
}

TEST_P(MemorySuite, HostMemoryAllocatedAndRegistered) {
  const size_t count = (5 << 20) + 3;
  void* memory = nullptr;
  ASSERT_SUCCESS(hetgpuHostAlloc(context_, count * 4, &memory));
  auto* const from = static_cast<uint32_t*>(memory);
  for (size_t i = 0; i < count; ++i) from[i] = i * 2654435761u;
  std::vector<uint32_t> to(count);
  ASSERT_SUCCESS(hetgpuHostRegister(context_, to.data(), count * 4));
  const hetgpuDevicePtr a = Alloc(count * 4);
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(hetgpuMemCopyHtoDAsync(a, from, count * 4, stream));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(to.data(), a, count * 4, stream));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_EQ(std::memcmp(from, to.data(), count * 4), 0);
  EXPECT_SUCCESS(hetgpuHostFree(context_, memory));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS, hetgpuHostFree(context_, memory));
  EXPECT_SUCCESS(hetgpuHostUnregister(context_, to.data()));
}

TEST_P(MemorySuite, LargeCopiesOfPageableMemory) {
  const size_t bytes = (37 << 20) + 5;
  std::vector<uint8_t> in(bytes), out(bytes);
  for (size_t i = 0; i < bytes; ++i) in[i] = i * 2654435761u >> 24;
  const hetgpuDevicePtr a = Alloc(bytes);
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(hetgpuMemCopyHtoD(context_, a, in.data(), bytes));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(out.data(), a, bytes, stream));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_TRUE(in == out);
  ASSERT_SUCCESS(hetgpuMemFill(context_, a, 0, 1, bytes));
  ASSERT_SUCCESS(hetgpuMemCopyHtoDAsync(a, in.data(), bytes, stream));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  std::fill(out.begin(), out.end(), 0);
  ASSERT_SUCCESS(hetgpuMemCopyDtoH(context_, out.data(), a, bytes));
  EXPECT_TRUE(in == out);
}

HETGPU_CONFORMANCE(MemorySuite);

}  // namespace
}  // namespace hetgpu::conformance
