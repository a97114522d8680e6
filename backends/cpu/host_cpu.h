// What processor this is, from the operating system alone.
#ifndef HETGPU_BACKENDS_CPU_HOST_CPU_H_
#define HETGPU_BACKENDS_CPU_HOST_CPU_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hetgpu::cpu {

// As a processor to compile for: the one that this is.
inline constexpr std::string_view kNativeTarget = "native";

// The levels of the x86-64 psABI that this processor has, of "x86-64-v2",
// "x86-64-v3" (AVX2, FMA) and "x86-64-v4" (AVX-512); others have none.
std::vector<std::string> HostLevels();

struct HostCpu {
  std::string name;        // "AMD EPYC 9655", or the architecture
  std::string target;      // "x86_64/native/avx,avx2,…": features, sorted
  uint32_t clock_khz = 0;  // nominal, 0 = not known
};

// Of a text in the form of /proc/cpuinfo; the first processor counts.
HostCpu ParseCpuInfo(std::string_view text);

HostCpu DetectHostCpu();

// HostCpu::target for a level instead of for this very processor.
std::string TargetOfLevel(std::string_view level);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_HOST_CPU_H_
