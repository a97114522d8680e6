// A compiler library for tests: the image of a kernel is "image of <name>".
// Kernel "broken" fails, "unsupported" is refused, "slow" takes 50 ms.
// HETGPU_FAKE_ABI makes a library of another interface.
#include <chrono>
#include <string>
#include <thread>

#include "backends/common/compiler_api.h"

#ifndef HETGPU_FAKE_ABI
#define HETGPU_FAKE_ABI hetgpu::kCompilerAbi
#endif

namespace {

absl::StatusOr<std::string> Compile(const hetgpu::CompileRequest& request) {
  if (request.kernel == "broken") {
    return absl::InvalidArgumentError("fake.ptx:3:1: broken on purpose");
  }
  if (request.kernel == "unsupported") {
    return absl::UnimplementedError("fake.ptx:4:1: no such instruction");
  }
  if (request.kernel == "slow") {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return "image of " + std::string(request.kernel);
}

constexpr hetgpu::CompilerApi kApi = {HETGPU_FAKE_ABI, "fake", Compile};

}  // namespace

extern "C" __attribute__((visibility("default"))) const hetgpu::CompilerApi*
hetgpuGetCompilerApi() {
  return &kApi;
}
