#include <cstdint>
#include <numeric>
#include <vector>

#include "runtime/testing/fake_driver.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

class ApiMemoryTest : public FakeTest {
 protected:
  std::vector<uint8_t> Read(hetgpuDevicePtr address, size_t bytes) {
    std::vector<uint8_t> host(bytes);
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(context_, host.data(), address, bytes));
    return host;
  }
};

TEST_F(ApiMemoryTest, CopiesThereAndBack) {
  std::vector<uint8_t> data(1000);
  std::iota(data.begin(), data.end(), 0);
  const hetgpuDevicePtr a = Alloc(1000), b = Alloc(1000);
  ASSERT_SUCCESS(hetgpuMemCopyHtoD(context_, a, data.data(), 1000));
  ASSERT_SUCCESS(hetgpuMemCopyDtoD(context_, b, a, 1000));
  EXPECT_EQ(Read(b, 1000), data);
}

TEST_F(ApiMemoryTest, CopiesOnAStream) {
  hetgpuStream stream;
  ASSERT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
  const hetgpuDevicePtr a = Alloc(8), b = Alloc(8);
  uint64_t in = 0x0123456789abcdef, out = 0;
  ASSERT_SUCCESS(hetgpuMemCopyHtoDAsync(a, &in, 8, stream));
  ASSERT_SUCCESS(hetgpuMemCopyDtoDAsync(b, a, 8, stream));
  ASSERT_SUCCESS(hetgpuMemFillAsync(b, 0xff, 1, 1, stream));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&out, b, 8, stream));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_EQ(out, 0x0123456789abcdffu);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuMemCopyHtoDAsync(a, &in, 8, nullptr));
}

TEST_F(ApiMemoryTest, FillsWithEachPatternSize) {
  const hetgpuDevicePtr a = Alloc(16);
  for (uint32_t size : {1, 2, 4, 8}) {
    ASSERT_SUCCESS(hetgpuMemFill(context_, a, 0, 8, 2));
    ASSERT_SUCCESS(
        hetgpuMemFill(context_, a + size, 0x8877665544332211, size, 1));
    const auto bytes = Read(a, 16);
    for (uint32_t i = 0; i < 16; ++i) {
      const bool inside = i >= size && i < 2 * size;
      EXPECT_EQ(bytes[i], inside ? 0x11 * (i - size + 1) : 0) << size;
    }
  }
}

TEST_F(ApiMemoryTest, WrongFills) {
  const hetgpuDevicePtr a = Alloc(16);
  for (uint32_t size : {0, 3, 5, 16}) {
    EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                  hetgpuMemFill(context_, a, 0, size, 1));
  }
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemFill(context_, a + 2, 0, 4, 1));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemFill(context_, a, 0, 8, UINT64_MAX / 4));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE, hetgpuMemFill(context_, a, 0, 4, 5));
  EXPECT_SUCCESS(hetgpuMemFill(context_, a, 0, 4, 0));
}

TEST_F(ApiMemoryTest, WrongCopies) {
  const hetgpuDevicePtr a = Alloc(64);
  uint8_t host[64] = {};
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemCopyHtoD(context_, a, nullptr, 1));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemCopyDtoH(context_, nullptr, a, 1));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemCopyHtoD(context_, a + 1, host, 64));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemCopyDtoH(context_, host, a, UINT64_MAX));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuMemCopyDtoH(context_, host, 0, 1));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemCopyDtoD(context_, a + 8, a, 16));
  EXPECT_SUCCESS(hetgpuMemCopyDtoD(context_, a + 16, a, 16));
  EXPECT_SUCCESS(hetgpuMemCopyHtoD(context_, 0, nullptr, 0));
}

TEST_F(ApiMemoryTest, WrongSizes) {
  hetgpuDevicePtr address = 77;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemAlloc(context_, 0, &address));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY,
                hetgpuMemAlloc(context_, UINT64_MAX, &address));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemAlloc(context_, 1, nullptr));
  EXPECT_EQ(address, 77u);
}

TEST_F(ApiMemoryTest, OutOfMemoryLeavesTheRestUsable) {
  uint64_t free_bytes = 0, total = 0;
  ASSERT_SUCCESS(hetgpuMemGetInfo(context_, &free_bytes, &total));
  EXPECT_EQ(total, kFakeMemory);
  const hetgpuDevicePtr most = Alloc(free_bytes - 100);
  hetgpuDevicePtr more;
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY,
                hetgpuMemAlloc(context_, 101, &more));
  EXPECT_SUCCESS(hetgpuMemFree(context_, most));
  EXPECT_SUCCESS(hetgpuMemAlloc(context_, 101, &more));
}

TEST_F(ApiMemoryTest, AddressesDoNotCrossContexts) {
  hetgpuContext other;
  ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &other));
  const hetgpuDevicePtr a = Alloc(64);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS, hetgpuMemFree(other, a));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS, hetgpuMemFill(other, a, 0, 1, 1));
  ASSERT_SUCCESS(hetgpuContextDestroy(other));
}

TEST_F(ApiMemoryTest, AttributesAndAdvice) {
  const hetgpuDevicePtr a = Alloc(100);
  ASSERT_SUCCESS(
      hetgpuMemAdvise(context_, a + 50, HETGPU_MEM_ADVICE_READ_ONLY));
  hetgpuMemAttributes attributes = {};
  attributes.struct_size = sizeof(attributes);
  ASSERT_SUCCESS(hetgpuMemGetAttributes(context_, a + 99, &attributes));
  EXPECT_EQ(attributes.base, a);
  EXPECT_EQ(attributes.size, 100u);
  EXPECT_EQ(attributes.device, device_);
  EXPECT_EQ(attributes.advice, HETGPU_MEM_ADVICE_READ_ONLY);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuMemGetAttributes(context_, a + 100, &attributes));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuMemAdvise(context_, a, static_cast<hetgpuMemAdvice>(42)));
  EXPECT_SUCCESS(hetgpuMemFree(context_, 0));
}

TEST_F(ApiMemoryTest, ContextReturnsItsMemory) {
  hetgpuContext other;
  ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &other));
  hetgpuDevicePtr address;
  ASSERT_SUCCESS(hetgpuMemAlloc(other, 1 << 20, &address));
  ASSERT_SUCCESS(hetgpuContextDestroy(other));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuMemFree(other, address));
}

}  // namespace
}  // namespace hetgpu::runtime
