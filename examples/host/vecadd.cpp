// Adds two vectors with the C++ wrapper: vecadd [PTX file] [device].
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "hetgpu/hetgpu.hpp"

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "vecadd.ptx";
  const std::string device = argc > 2 ? argv[2] : "cpu";
  constexpr uint32_t kCount = 1000000, kBlock = 256;
  std::vector<float> a(kCount), b(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * static_cast<float>(i);
  }

  auto context = hetgpu::Context::Create(device).value();
  auto module = hetgpu::Module::FromFile(context, path).value();
  auto vecadd = module.GetFunction("vecadd").value();
  auto device_a = hetgpu::Buffer<float>::FromHost(context, a).value();
  auto device_b = hetgpu::Buffer<float>::FromHost(context, b).value();
  auto device_c = hetgpu::Buffer<float>::Create(context, kCount).value();
  vecadd
      .Launch({(kCount + kBlock - 1) / kBlock}, {kBlock}, device_a, device_b,
              device_c, kCount)
      .Check();
  const std::vector<float> c = device_c.ToHost().value();

  for (uint32_t i = 0; i < kCount; ++i) {
    if (c[i] != a[i] + b[i]) {
      std::fprintf(stderr, "c[%u] is %g, expected %g\n", i, c[i], a[i] + b[i]);
      return 1;
    }
  }
  std::printf("%u sums are right\n", kCount);
  return 0;
}
