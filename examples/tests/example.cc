#include "examples/tests/example.h"

#include <cmath>
#include <cstdlib>

#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

template <typename T>
void ExpectCloseImpl(const std::vector<T>& got, const std::vector<double>& want,
                     double rtol, double atol) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double bound = atol + rtol * std::fabs(want[i]);
    // Written so that a NaN fails.
    ASSERT_TRUE(std::fabs(got[i] - want[i]) <= bound)
        << "element " << i << " is " << got[i] << ", expected " << want[i]
        << " within " << bound;
  }
}

}  // namespace

Example::Example(const std::string& name) {
  const char* device_name = std::getenv("HETGPU_TEST_DEVICE");
  if (device_name == nullptr) device_name = "cpu";
  hetgpuDevice device = nullptr;
  Expect(hetgpuDeviceGetByName(device_name, &device), device_name);
  if (!ok_) return;
  Expect(hetgpuContextCreate(device, 0, &context_), "context");
  if (!ok_) return;
  const std::string path = HETGPU_SOURCE_DIR "/examples/" + name + ".ptx";
  Expect(hetgpuModuleLoadFile(context_, path.c_str(), &module_), path);
  auto append = [](void* user, const char* text, size_t size) {
    static_cast<std::string*>(user)->append(text, size);
  };
  if (!ok_) return;
  const hetgpuResult set = hetgpuContextSetPrintf(context_, append, &output_);
  if (set != HETGPU_ERROR_UNSUPPORTED) Expect(set, "printf");
}

Example::~Example() {
  if (context_ != nullptr) {
    EXPECT_EQ(hetgpuContextDestroy(context_), HETGPU_SUCCESS);
  }
}

void Example::Expect(hetgpuResult result, const std::string& what) {
  if (result == HETGPU_SUCCESS) return;
  if (ok_) {
    ADD_FAILURE() << what << ": " << hetgpuResultName(result) << ": "
                  << hetgpuGetLastErrorDetail();
  }
  ok_ = false;
}

hetgpuDevicePtr Example::Allocate(const void* data, size_t bytes) {
  hetgpuDevicePtr address = 0;
  if (!ok_) return address;
  Expect(hetgpuMemAlloc(context_, bytes, &address), "allocation");
  WriteBytes(address, data, bytes);
  return address;
}

void Example::WriteBytes(hetgpuDevicePtr address, const void* data,
                         size_t bytes) {
  if (ok_) Expect(hetgpuMemCopyHtoD(context_, address, data, bytes), "upload");
}

void Example::Read(hetgpuDevicePtr address, void* data, size_t bytes) {
  if (!ok_) return;
  Expect(hetgpuMemCopyDtoH(context_, data, address, bytes), "download");
}

hetgpuDevicePtr Example::Symbol(const std::string& name, size_t bytes) {
  hetgpuDevicePtr address = 0;
  uint64_t size = 0;
  if (!ok_) return address;
  Expect(hetgpuModuleGetGlobal(module_, name.c_str(), &address, &size), name);
  EXPECT_EQ(size, bytes) << name;
  return address;
}

hetgpuResult Example::TryPointers(const char* kernel, Extent grid, Extent block,
                                  uint32_t shared, std::vector<void*> args) {
  if (!ok_) return HETGPU_SUCCESS;
  hetgpuFunction function = nullptr;
  hetgpuResult result = hetgpuModuleGetFunction(module_, kernel, &function);
  if (result != HETGPU_SUCCESS) return result;
  result = hetgpuLaunchKernel(function, {grid.x, grid.y, grid.z},
                              {block.x, block.y, block.z}, shared, nullptr,
                              args.data());
  if (result != HETGPU_SUCCESS) return result;
  return hetgpuContextSynchronize(context_);
}

std::string Example::TakeOutput() {
  std::string taken;
  taken.swap(output_);
  return taken;
}

std::vector<uint32_t> RandomBits(size_t count, uint64_t seed) {
  return Random<uint32_t>(count, seed, 0, 4294967295.0);
}

void ExpectClose(const std::vector<float>& got, const std::vector<double>& want,
                 double rtol, double atol) {
  ExpectCloseImpl(got, want, rtol, atol);
}

void ExpectClose(const std::vector<double>& got,
                 const std::vector<double>& want, double rtol, double atol) {
  ExpectCloseImpl(got, want, rtol, atol);
}

}  // namespace hetgpu::examples
