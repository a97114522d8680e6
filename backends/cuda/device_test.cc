// Loading the driver, describing devices, and memory.
#include <vector>

#include "backends/cuda/device.h"
#include "backends/cuda/driver.h"
#include "backends/cuda/route.h"
#include "backends/cuda/test_device.h"
#include "memory/arena.h"

namespace hetgpu::cuda {
namespace {

using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(LibraryTest, AbsentLibraryIsUnavailableWithItsName) {
  const auto library = OpenLibraryAt("libno-such-cuda.so.9");
  EXPECT_TRUE(absl::IsUnavailable(library.status()));
  EXPECT_THAT(Message(library.status()), HasSubstr("libno-such-cuda.so.9"));
}

TEST(LibraryTest, MissingFunctionIsNamed) {
  const auto library = OpenLibraryAt("libm.so.6");
  EXPECT_TRUE(absl::IsUnavailable(library.status()));
  EXPECT_EQ(Message(library.status()),
            "cuda: libm.so.6 has no cuGetErrorName: the driver is too old");
}

TEST(DriverTest, EnumeratesTheLibraryInTheEnvironment) {
  setenv("HETGPU_CUDA_LIBRARY", HETGPU_FAKE_CUDA, 1);
  setenv("HETGPU_FAKE_CUDA_DEVICES", "2", 1);
  const auto driver = CreateDriver();
  const auto infos = driver->Enumerate();
  ASSERT_TRUE(infos.ok()) << infos.status().message();
  ASSERT_EQ(infos->size(), 2u);
  EXPECT_EQ((*infos)[1].name, "Test GPU 1");
  EXPECT_EQ((*infos)[1].target, "sm_90");
  EXPECT_EQ((*infos)[1].max_shared_per_block, 232448u);
  EXPECT_TRUE(driver->Open(1).ok());
  EXPECT_TRUE(absl::IsUnavailable(driver->Open(2).status()));
  setenv("HETGPU_FAKE_CUDA_DEVICES", "0", 1);
  EXPECT_TRUE(absl::IsUnavailable(driver->Enumerate().status()));
  unsetenv("HETGPU_FAKE_CUDA_DEVICES");
}

class MemoryTest : public CudaTest {};

TEST_F(MemoryTest, SmallAllocationsShareAMapping) {
  const uint64_t before = DriverCounts().mapped_bytes;
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 1000; ++i) {
    addresses.push_back(Alloc(1 + i));
    EXPECT_EQ(addresses.back() % 256, 0u);
  }
  EXPECT_EQ(DriverCounts().mapped_bytes - before, 32 * kMiB);
  for (const uint64_t address : addresses) EXPECT_OK(device_->Free(address));
}

TEST_F(MemoryTest, EmptySlabsAreGivenBackButOne) {
  std::vector<uint64_t> addresses;
  for (int i = 0; i < 100; ++i) addresses.push_back(Alloc(kMiB));
  EXPECT_EQ(DriverCounts().mapped_bytes, 128 * kMiB);
  for (const uint64_t address : addresses) EXPECT_OK(device_->Free(address));
  EXPECT_EQ(DriverCounts().mapped_bytes, 32 * kMiB);
}

TEST_F(MemoryTest, LargeAllocationsAreGivenBack) {
  const uint64_t a = Alloc(5 * kMiB);
  EXPECT_EQ(DriverCounts().mapped_bytes, 6 * kMiB);
  EXPECT_EQ(device_->FreeMemory(), 250 * kMiB);
  EXPECT_OK(device_->Free(a));
  EXPECT_EQ(DriverCounts().mapped_bytes, 0u);
  const uint64_t b = Alloc(5 * kMiB);
  EXPECT_NE(b, a);  // dangling pointers are not to find new data
  EXPECT_OK(device_->Free(b));
}

TEST_F(MemoryTest, AddressesAreThoseOfTheProcess) {
  memory::Arena& arena = memory::Arena::Process();
  const uint64_t small = Alloc(100), large = Alloc(4 * kMiB);
  EXPECT_TRUE(arena.Contains(small));
  EXPECT_TRUE(arena.Contains(large));
  EXPECT_TRUE(arena.is_reserved());
  EXPECT_OK(device_->Free(small));
  EXPECT_OK(device_->Free(large));
}

TEST_F(MemoryTest, MemoryIsMappedAtChosenAddresses) {
  ASSERT_EQ(device_->MapGranularity(), 2 * kMiB);
  memory::Arena& arena = memory::Arena::Process();
  const uint64_t address = arena.Allocate(4 * kMiB, 2 * kMiB);
  EXPECT_OK(device_->Map(address, 4 * kMiB));
  EXPECT_EQ(DriverCounts().mapped_bytes, 4 * kMiB);
  const auto queue = NewQueue();
  Write(*queue, address + 3 * kMiB, 42);
  EXPECT_EQ(Read(*queue, address + 3 * kMiB), 42u);
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Free(address)));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Unmap(address, 2 * kMiB)));
  EXPECT_OK(device_->Unmap(address, 4 * kMiB));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Unmap(address, 4 * kMiB)));
  EXPECT_EQ(DriverCounts().mapped_bytes, 0u);
  EXPECT_TRUE(absl::IsResourceExhausted(device_->Map(address, 300 * kMiB)));
  EXPECT_TRUE(absl::IsResourceExhausted(
      device_->Map(arena.base() + arena.bytes(), 2 * kMiB)));
  for (const char* call : {"cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    FailCall(call, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_TRUE(absl::IsResourceExhausted(device_->Map(address, 4 * kMiB)));
    EXPECT_EQ(DriverCounts().physical_bytes, 0u) << call;
  }
  arena.Free(address, 4 * kMiB);
}

TEST_F(MemoryTest, OnlyStartsOfAllocationsCanBeFreed) {
  const uint64_t small = Alloc(1000), large = Alloc(4 * kMiB);
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Free(small + 256)));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Free(large + 2 * kMiB)));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Free(12345)));
  EXPECT_OK(device_->Free(small));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Free(small)));
  EXPECT_OK(device_->Free(large));
  EXPECT_TRUE(absl::IsInvalidArgument(device_->Free(large)));
}

TEST_F(MemoryTest, OutOfMemorySaysHowMuchWasAskedFor) {
  const auto address = device_->Allocate(257 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(address.status()));
  EXPECT_THAT(Message(address.status()), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_THAT(Message(address.status()), HasSubstr("269484032 bytes"));
  EXPECT_TRUE(
      absl::IsResourceExhausted(device_->Allocate(UINT64_MAX).status()));
}

TEST_F(MemoryTest, AFailedStepLeavesNothingBehind) {
  for (const char* call : {"cuMemCreate", "cuMemMap", "cuMemSetAccess"}) {
    FailCall(call, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_TRUE(
        absl::IsResourceExhausted(device_->Allocate(4 * kMiB).status()));
    EXPECT_EQ(DriverCounts().mapped_bytes, 0u) << call;
    EXPECT_EQ(DriverCounts().physical_bytes, 0u) << call;
  }
  const uint64_t address = Alloc(4 * kMiB);
  EXPECT_OK(device_->Free(address));
}

using ModuleTest = CudaTest;

TEST_F(ModuleTest, RefusedPtxComesWithTheDriversMessages) {
  ModuleInfo info;
  info.name = "bad.ptx";
  info.ptx_version = 70;
  const auto module = device_->LoadModule(info, ".version 7.0\nrefuse me");
  EXPECT_TRUE(absl::IsInvalidArgument(module.status()));
  EXPECT_THAT(Message(module.status()),
              testing::StartsWith("bad.ptx: cuda: cuModuleLoadDataEx: "
                                  "CUDA_ERROR_INVALID_PTX: ptx:2:1: "));
}

TEST_F(ModuleTest, OnlyPtxTakesTheNativeRoute) {
  ModuleInfo info;
  info.name = "container";
  const auto module = device_->LoadModule(info, "\x01\x02");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(*module, nullptr);
}

TEST_F(ModuleTest, StrictFloatsAreRecompiled) {
  ModuleInfo info;
  info.ptx_version = 80;
  setenv("HETGPU_FP_MODE", "strict", 1);
  const auto module = device_->LoadModule(info, "any");
  unsetenv("HETGPU_FP_MODE");
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_EQ(*module, nullptr);
}

TEST_F(ModuleTest, TheRouteCanBeAskedFor) {
  ModuleInfo ptx;
  ptx.ptx_version = 80;
  ModuleInfo container;
  container.name = "container";
  setenv("HETGPU_CUDA_ROUTE", "recompiled", 1);
  EXPECT_FALSE(*TakesNativeRoute(ptx));
  setenv("HETGPU_CUDA_ROUTE", "native", 1);
  EXPECT_TRUE(*TakesNativeRoute(ptx));
  const auto refused = TakesNativeRoute(container);
  EXPECT_TRUE(absl::IsUnimplemented(refused.status()));
  EXPECT_THAT(Message(refused.status()),
              HasSubstr("container: HETGPU_CUDA_ROUTE is native"));
  setenv("HETGPU_CUDA_ROUTE", "fast", 1);
  EXPECT_TRUE(absl::IsInvalidArgument(TakesNativeRoute(ptx).status()));
  unsetenv("HETGPU_CUDA_ROUTE");
}

TEST_F(ModuleTest, VariablesAndKernelsByName) {
  SymbolInfo symbol;
  symbol.name = "counter";
  const auto address = module_->SymbolAddress(symbol);
  ASSERT_TRUE(address.ok()) << address.status().message();
  const auto queue = NewQueue();
  const uint32_t value = 77;
  EXPECT_OK(queue->CopyToDevice(*address, &value, 4));
  EXPECT_EQ(Read(*queue, *address), 77u);
  symbol.name = "absent";
  EXPECT_TRUE(absl::IsNotFound(module_->SymbolAddress(symbol).status()));
  KernelInfo kernel;
  kernel.name = "absent";
  EXPECT_TRUE(absl::IsNotFound(module_->Load(kernel).status()));
  kernel.name = "nothing";
  kernel.refusal = absl::UnimplementedError("x.ptx:7:1: no such thing");
  const auto loaded = module_->Load(kernel);
  ASSERT_TRUE(loaded.ok());
  EXPECT_THAT((*loaded)->Explain(), HasSubstr("native"));
  EXPECT_THAT((*loaded)->Explain(), HasSubstr("x.ptx:7:1"));
}

}  // namespace
}  // namespace hetgpu::cuda
