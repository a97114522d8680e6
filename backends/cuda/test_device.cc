#include "backends/cuda/test_device.h"

#include <dlfcn.h>

#include "backends/cuda/device.h"

namespace hetgpu::cuda {
namespace {

constexpr char kKernels[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.extern .shared .align 4 .b8 dynamic[];
.visible .entry nothing() { ret; }
.visible .entry store(.param .u64 to, .param .u32 value) {
  .reg .b64 %address;
  .reg .b32 %value;
  ld.param.u64 %address, [to];
  ld.param.u32 %value, [value];
  st.global.u32 [%address], %value;
  ret;
}
.visible .entry wait(.param .u64 flag) {
  .reg .b64 %address;
  .reg .b32 %value;
  .reg .pred %zero;
  ld.param.u64 %address, [flag];
again:
  ld.volatile.global.u32 %value, [%address];
  setp.eq.u32 %zero, %value, 0;
  @%zero bra again;
  ret;
}
.visible .entry illegal() {
  .reg .b64 %address;
  mov.u64 %address, 16;
  st.global.u32 [%address], 1;
  ret;
}
.visible .entry misaligned(.param .u64 to) {
  .reg .b64 %address;
  ld.param.u64 %address, [to];
  st.global.u32 [%address+1], 1;
  ret;
}
.visible .entry trap() { trap; }
)";

template <typename Function>
Function Hook(const char* name) {
  static void* const handle = dlopen(HETGPU_FAKE_CUDA, RTLD_NOW);
  return reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

std::string_view TestPtx() { return kKernels; }

const Library& TestLibrary() {
  static const auto* const library =
      new absl::StatusOr<std::unique_ptr<const Library>>(
          OpenLibraryAt(HETGPU_FAKE_CUDA));
  EXPECT_TRUE(library->ok()) << library->status().message();
  return *library->value();
}

void FailCall(const char* function, CUresult result, int after) {
  Hook<fake::FailFunction>(fake::kFailSymbol)(function, result, after);
}

void ForgetFaults() { Hook<fake::ResetFunction>(fake::kResetSymbol)(); }

fake::Counts DriverCounts() {
  return Hook<fake::CountsFunction>(fake::kCountsSymbol)();
}

void CudaTest::SetUp() {
  const Library& library = TestLibrary();
  Hook<fake::ResetFunction>(fake::kResetSymbol)();
  auto info = Describe(library, 0);
  ASSERT_TRUE(info.ok()) << info.status().message();
  auto device = CudaDevice::Open(library, 0, *std::move(info));
  ASSERT_TRUE(device.ok()) << device.status().message();
  device_ = *std::move(device);
  ModuleInfo module;
  module.name = "test.ptx";
  module.ptx_version = 70;
  auto loaded = device_->LoadModule(module, TestPtx());
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  module_ = *std::move(loaded);
}

void CudaTest::TearDown() {
  kernels_.clear();
  module_.reset();
  device_.reset();
  const fake::Counts counts = DriverCounts();
  EXPECT_EQ(counts.contexts, 0u);
  EXPECT_EQ(counts.streams, 0u);
  EXPECT_EQ(counts.events, 0u);
  EXPECT_EQ(counts.modules, 0u);
  EXPECT_EQ(counts.mapped_bytes, 0u);
  EXPECT_EQ(counts.physical_bytes, 0u);
  EXPECT_EQ(counts.pinned_bytes, 0u);
  EXPECT_EQ(counts.misuses, 0u);
}

std::unique_ptr<Queue> CudaTest::NewQueue() {
  return *device_->CreateQueue();
}

uint64_t CudaTest::Alloc(uint64_t bytes) {
  const absl::StatusOr<uint64_t> address = device_->Allocate(bytes);
  EXPECT_TRUE(address.ok()) << address.status().message();
  return address.ok() ? *address : 0;
}

absl::Status CudaTest::Launch(Queue& queue, const std::string& kernel,
                              const std::string& params, uint64_t timeout_ms,
                              uint32_t dynamic_shared) {
  KernelInfo& info = infos_[kernel];
  info.name = kernel;
  if (kernels_[kernel] == nullptr) {
    auto loaded = module_->Load(info);
    if (!loaded.ok()) return loaded.status();
    kernels_[kernel] = *std::move(loaded);
  }
  LaunchDesc desc;
  desc.kernel = kernels_[kernel].get();
  desc.info = &info;
  desc.params = params;
  desc.timeout_ms = timeout_ms;
  desc.dynamic_shared_bytes = dynamic_shared;
  return queue.Launch(desc);
}

uint32_t CudaTest::Read(Queue& queue, uint64_t address) {
  uint32_t value = 0;
  EXPECT_OK(queue.CopyFromDevice(&value, address, 4));
  EXPECT_OK(queue.Synchronize(nullptr));
  return value;
}

void CudaTest::Write(Queue& queue, uint64_t address, uint32_t value) {
  EXPECT_OK(queue.Fill(address, value, 4, 1));
  EXPECT_OK(queue.Synchronize(nullptr));
}

}  // namespace hetgpu::cuda
