// The target string of a CPU device: what kernels are compiled for, and part of
// the key of compiled code.
//
//   x86_64/native/avx,avx2,…    this very processor: its features, sorted
//   x86_64/x86-64-v3/           a level of the x86-64 psABI
//
// Parts with names of their own may follow (arena_window.h).
#ifndef HETGPU_BACKENDS_CPU_TARGET_NAME_H_
#define HETGPU_BACKENDS_CPU_TARGET_NAME_H_

#include <string>
#include <string_view>

namespace hetgpu::cpu {

// As a processor: the one that this is.
inline constexpr std::string_view kNativeTarget = "native";

// For the architecture of this host.
std::string TargetName(std::string_view processor,
                       std::string_view features = "");

// The first part of a target; "" of none.
std::string_view ArchitectureOf(std::string_view target);
// The second part; kNativeTarget where there is none.
std::string_view ProcessorOf(std::string_view target);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_TARGET_NAME_H_
