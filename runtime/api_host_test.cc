#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

class ApiHostTest : public FakeTest {
 protected:
  void* Allocated(uint64_t bytes) {
    void* memory = nullptr;
    EXPECT_SUCCESS(hetgpuHostAlloc(context_, bytes, &memory));
    return memory;
  }
};

TEST_F(ApiHostTest, AllocatedMemoryIsCopiedFromAndTo) {
  char* const memory = static_cast<char*>(Allocated(10000));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uint64_t>(memory) % 4096, 0u);
  std::memset(memory, 7, 10000);
  const hetgpuDevicePtr address = Alloc(10000);
  ASSERT_SUCCESS(hetgpuMemCopyHtoD(context_, address, memory, 10000));
  std::memset(memory, 0, 10000);
  ASSERT_SUCCESS(hetgpuMemCopyDtoH(context_, memory, address, 10000));
  EXPECT_EQ(memory[9999], 7);
  EXPECT_SUCCESS(hetgpuHostFree(context_, memory));
  EXPECT_SUCCESS(hetgpuHostFree(context_, nullptr));
}

TEST_F(ApiHostTest, ContextsFreeWhatIsLeft) {
  Allocated(100);
  static std::vector<char> own(100);
  EXPECT_SUCCESS(hetgpuHostRegister(context_, own.data(), own.size()));
}

TEST_F(ApiHostTest, BadAllocationsAreNamed) {
  void* memory = nullptr;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuHostAlloc(context_, 0, &memory));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuHostAlloc(context_, 8, nullptr));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuHostAlloc(nullptr, 8, &memory));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY,
                hetgpuHostAlloc(context_, uint64_t{1} << 60, &memory));
  EXPECT_EQ(memory, nullptr);
}

TEST_F(ApiHostTest, OnlyStartsOfAllocationsCanBeFreed) {
  char* const memory = static_cast<char*>(Allocated(100));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuHostFree(context_, memory + 1));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuHostUnregister(context_, memory));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("registered"));
  EXPECT_SUCCESS(hetgpuHostFree(context_, memory));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS, hetgpuHostFree(context_, memory));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuHostFree(nullptr, memory));
}

TEST_F(ApiHostTest, MemoryIsRegisteredOnce) {
  std::vector<char> own(1000);
  EXPECT_SUCCESS(hetgpuHostRegister(context_, own.data() + 100, 100));
  for (const int start : {100, 150, 199, 50, 0}) {
    EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                  hetgpuHostRegister(context_, own.data() + start, 150));
    EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("overlaps 100 bytes"));
  }
  EXPECT_SUCCESS(hetgpuHostRegister(context_, own.data() + 200, 100));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuHostUnregister(context_, own.data()));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuHostFree(context_, own.data() + 100));
  EXPECT_SUCCESS(hetgpuHostUnregister(context_, own.data() + 100));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuHostUnregister(context_, own.data() + 100));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuHostUnregister(nullptr, own.data() + 200));
}

TEST_F(ApiHostTest, BadRegistrationsAreNamed) {
  char byte = 0;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuHostRegister(context_, nullptr, 5));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuHostRegister(context_, &byte, 0));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuHostRegister(context_, &byte, UINT64_MAX));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuHostRegister(nullptr, &byte, 1));
}

}  // namespace
}  // namespace hetgpu::runtime
