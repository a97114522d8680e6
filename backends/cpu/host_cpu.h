// What processor this is, from the operating system alone.
#ifndef HETGPU_BACKENDS_CPU_HOST_CPU_H_
#define HETGPU_BACKENDS_CPU_HOST_CPU_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hetgpu::cpu {

// The levels of the x86-64 psABI that this processor has, of "x86-64-v2",
// "x86-64-v3" (AVX2, FMA) and "x86-64-v4" (AVX-512); others have none.
std::vector<std::string> HostLevels();

struct HostCpu {
  std::string name;        // "AMD EPYC 9655", or the architecture
  std::string target;      // target_name.h
  uint32_t clock_khz = 0;  // nominal, 0 = not known
};

// Of a text in the form of /proc/cpuinfo; the first processor counts.
HostCpu ParseCpuInfo(std::string_view text);

HostCpu DetectHostCpu();

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_HOST_CPU_H_
