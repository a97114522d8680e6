#include "backends/cpu/reachable.h"

#include "backends/cpu/overlay.h"

namespace hetgpu::cpu {
namespace {

bool Lies(uint64_t address, uint32_t bytes, const uint8_t* low, uint64_t size) {
  const uint64_t offset = address - reinterpret_cast<uint64_t>(low);
  return offset < size && bytes <= size - offset;
}

bool OnStack(const BlockFrame& frame, uint64_t address, uint32_t bytes) {
  return Lies(address, bytes, frame.stack_low,
              static_cast<uint64_t>(frame.stack_high - frame.stack_low));
}

bool InWorkspace(const BlockFrame& frame, uint64_t address, uint32_t bytes) {
  const uint8_t* workspace = frame.launch->workspace();
  return workspace != nullptr &&
         Lies(address, bytes, workspace, kWorkspaceBytes);
}

bool IsReachable(const BlockFrame& frame, TestedSpace space, uint64_t address,
                 uint32_t bytes) {
  const uint64_t param_bytes = frame.launch->config().params.size();
  switch (space) {
    case TestedSpace::kGlobal:
      return InWorkspace(frame, address, bytes);
    case TestedSpace::kGeneric:
      return InWorkspace(frame, address, bytes) ||
             Lies(address, bytes, frame.shared, frame.shared_size) ||
             OnStack(frame, address, bytes) ||
             Lies(address, bytes, frame.params, param_bytes);
    case TestedSpace::kLocal:
      return OnStack(frame, address, bytes);
    case TestedSpace::kShared:
      return address <= UINT32_MAX;  // the guards see to the rest
    case TestedSpace::kParam:
      return address < param_bytes && bytes <= param_bytes - address;
  }
  return false;
}

}  // namespace

std::optional<uint64_t> DisplacementOf(const BlockFrame& frame,
                                       TestedSpace space, uint64_t address,
                                       uint32_t bytes) {
  const Overlay* overlay = frame.launch->services().overlay;
  const bool arena =
      space == TestedSpace::kGlobal || space == TestedSpace::kGeneric;
  if (arena && overlay != nullptr) {
    const ArenaWindow window = overlay->window();
    if (window.Contains(address)) return overlay->delta();
  }
  if (IsReachable(frame, space, address, bytes)) return 0;
  return std::nullopt;
}

uint64_t AddressForPeople(const BlockFrame& frame, TestedSpace space,
                          uint64_t address) {
  switch (space) {
    case TestedSpace::kShared:
      return reinterpret_cast<uint64_t>(frame.shared) + address;
    case TestedSpace::kParam:
      return reinterpret_cast<uint64_t>(frame.params) + address;
    default:
      return address;
  }
}

}  // namespace hetgpu::cpu
