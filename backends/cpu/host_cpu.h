// What processor this is, from the operating system alone.
#ifndef HETGPU_BACKENDS_CPU_HOST_CPU_H_
#define HETGPU_BACKENDS_CPU_HOST_CPU_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace hetgpu::cpu {

struct HostCpu {
  std::string name;        // "AMD EPYC 9655", or the architecture
  std::string target;      // "x86_64/native/avx,avx2,…": features, sorted
  uint32_t clock_khz = 0;  // nominal, 0 = not known
};

// Of a text in the form of /proc/cpuinfo; the first processor counts.
HostCpu ParseCpuInfo(std::string_view text);

HostCpu DetectHostCpu();

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_HOST_CPU_H_
