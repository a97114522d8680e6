#include "backends/cpu/target_name.h"

namespace hetgpu::cpu {
namespace {

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#else
constexpr std::string_view kArchitecture = "unknown";
#endif

}  // namespace

std::string TargetName(std::string_view processor, std::string_view features) {
  std::string name(kArchitecture);
  name.append("/").append(processor).append("/").append(features);
  return name;
}

std::string_view ArchitectureOf(std::string_view target) {
  return target.substr(0, target.find('/'));
}

std::string_view ProcessorOf(std::string_view target) {
  const size_t slash = target.find('/');
  if (slash == std::string_view::npos) return kNativeTarget;
  const std::string_view rest = target.substr(slash + 1);
  const std::string_view processor = rest.substr(0, rest.find('/'));
  return processor.empty() ? kNativeTarget : processor;
}

}  // namespace hetgpu::cpu
