#include "runtime/testing/fakes.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/module_readers.h"
#include "runtime/platform.h"
#include "runtime/testing/fake_driver.h"
#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

namespace fs = std::filesystem;

struct Folders {
  ~Folders() {
    std::error_code error;
    for (const std::string& path : paths) fs::remove_all(path, error);
  }
  std::vector<std::string> paths;
};

Folders& AllFolders() {
  static Folders folders;
  return folders;
}

ParamInfo Param(const char* name, uint32_t offset, ScalarType type) {
  ParamInfo param;
  param.name = name;
  param.offset = offset;
  param.type = type;
  param.size = param.align = SizeOf(type);
  param.is_pointer = type == ScalarType::kU64;
  return param;
}

KernelInfo Named(const std::string& name) {
  KernelInfo kernel;
  kernel.name = name;
  kernel.line = 5;
  return kernel;
}

KernelInfo Store() {
  KernelInfo kernel = Named("store");
  kernel.params = {Param("where", 0, ScalarType::kU64),
                   Param("what", 8, ScalarType::kU32)};
  kernel.param_bytes = 12;
  return kernel;
}

KernelInfo Shared() {
  KernelInfo kernel = Named("shared");
  kernel.static_shared_bytes = 1000;
  kernel.dynamic_shared_offset = 1024;
  kernel.uses_dynamic_shared = true;
  return kernel;
}

KernelInfo Refused() {
  KernelInfo kernel = Named("refused");
  kernel.refusal = absl::UnimplementedError("fake.ptx:9:2: tex is not known");
  return kernel;
}

KernelInfo Blocked(const char* name, bool exact, uint32_t threads) {
  KernelInfo kernel = Named(name);
  uint32_t* const limit = exact ? kernel.required_threads : kernel.max_threads;
  limit[0] = threads;
  limit[1] = limit[2] = 1;
  return kernel;
}

void AddGlobals(ModuleInfo& module) {
  module.symbols = {
      {"table", AddressSpace::kGlobal, 0, 16, 4, ScalarType::kU32},
      {"pointer", AddressSpace::kGlobal, 16, 8, 8, ScalarType::kU64},
      {"settings", AddressSpace::kConst, 24, 8, 8, ScalarType::kB8}};
  module.data_size = 32;
  module.data_align = 8;
  for (char value : {1, 2, 3, 4}) {
    module.data_init.push_back(value);
    module.data_init.append(3, '\0');
  }
  Relocation relocation;
  relocation.offset = 16;
  relocation.addend = 4;
  module.relocations = {relocation};
}

absl::StatusOr<ModuleInfo> ReadFake(std::string_view bytes,
                                    std::string_view name) {
  if (bytes.rfind("bad", 0) == 0) {
    return absl::InvalidArgumentError(Cat(name, ":1:1: found bad"));
  }
  if (bytes.rfind("unknown", 0) == 0) {
    return absl::UnimplementedError(Cat(name, ":1:1: found unknown"));
  }
  return FakeModule();
}

std::vector<std::unique_ptr<Driver>> FakeDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(CreateFakeDriver());
  drivers.push_back(CreateAbsentDriver());
  return drivers;
}

const bool installed = [] {
  setenv("HETGPU_COMPILER_LIBRARY", HETGPU_FAKE_COMPILER, 1);
  setenv("HETGPU_JIT_CACHE_DIR", FreshFolder().c_str(), 1);
  Platform::OverrideDrivers(FakeDrivers);
  OverrideModuleReader(ReadFake);
  return true;
}();

}  // namespace

ModuleInfo FakeModule() {
  ModuleInfo module;
  module.name = "fake.ptx";
  for (const char* name :
       {"nothing", "print", "spin", "broken", "unsupported", "slow", "lose",
        "lose_all"}) {
    module.kernels.push_back(Named(name));
  }
  for (int kind = 1; kind <= 10; ++kind) {
    module.kernels.push_back(Named(Cat("fail_", kind)));
  }
  module.kernels.push_back(Store());
  module.kernels.push_back(Shared());
  module.kernels.push_back(Refused());
  module.kernels.push_back(Blocked("limited", false, 64));
  module.kernels.push_back(Blocked("exact", true, 32));
  AddGlobals(module);
  return module;
}

std::string FreshFolder() {
  std::string path =
      (fs::temp_directory_path() / "hetgpu-test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) std::abort();
  AllFolders().paths.push_back(path);
  return path;
}

void FakeTest::SetUp() {
  ASSERT_TRUE(installed);
  ASSERT_SUCCESS(hetgpuDeviceGetByName("fake", &device_));
  ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &context_));
  ASSERT_SUCCESS(hetgpuModuleLoadData(context_, "ok", 2, "fake.ptx", &module_));
}

void FakeTest::TearDown() {
  if (context_ != nullptr) hetgpuContextDestroy(context_);
}

hetgpuFunction FakeTest::Function(const char* name) {
  hetgpuFunction function = nullptr;
  EXPECT_SUCCESS(hetgpuModuleGetFunction(module_, name, &function));
  return function;
}

hetgpuResult FakeTest::Launch(const char* name, hetgpuStream stream) {
  return hetgpuLaunchKernel(Function(name), {1, 1, 1}, {1, 1, 1}, 0, stream,
                            nullptr);
}

hetgpuDevicePtr FakeTest::Alloc(uint64_t bytes) {
  hetgpuDevicePtr address = 0;
  EXPECT_SUCCESS(hetgpuMemAlloc(context_, bytes, &address));
  return address;
}

}  // namespace hetgpu::runtime
