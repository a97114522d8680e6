// Where unified memory lies on a GPU that works at a distance from the arena
// (address_space.h), as part of its target, in hex:
// "sm_90/arena=<base>:<bytes>:<delta>". Code compiled for such a target adds the delta to addresses in
// [base, base + bytes).
#ifndef HETGPU_BACKENDS_CUDA_WINDOW_H_
#define HETGPU_BACKENDS_CUDA_WINDOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hetgpu::cuda {

struct Window {
  uint64_t base = 0;
  uint64_t bytes = 0;
  uint64_t delta = 0;

  bool operator==(const Window&) const = default;
  bool Contains(uint64_t address) const { return address - base < bytes; }
  // That no address is both one of the arena and one of the GPU's memory.
  bool IsApart() const { return delta >= bytes && -delta >= bytes; }
};

// "" without a delta.
std::string TargetSuffix(const Window& window);
// The window that a target names, of no size when none; nullopt when what it
// names is no window.
std::optional<Window> WindowOf(std::string_view target);
// The target without it.
std::string_view WithoutWindow(std::string_view target);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_WINDOW_H_
