// What may be accessed where the test in emitted code said no.
#include <bit>

#include "backends/cpu/helpers.h"
#include "backends/cpu/reachable.h"

namespace hetgpu::cpu {
namespace helper {

uint64_t check_address(BlockContext* block, uint64_t address, uint32_t access,
                       uint32_t lane, uint32_t line) {
  auto* frame = static_cast<BlockFrame*>(block);
  const auto space = static_cast<TestedSpace>(access >> 16);
  const std::optional<uint64_t> displacement =
      DisplacementOf(*frame, space, address, access & 0xffff);
  if (displacement.has_value()) return *displacement;
  frame->owner->RaiseAddress(AddressForPeople(*frame, space, address), lane,
                             line, "");
}

uint64_t check_lanes(BlockContext* block, const uint64_t* addresses,
                     uint32_t access, uint32_t lanes, uint32_t line) {
  uint64_t first = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t displacement =
        check_address(block, addresses[lane], access, lane, line);
    if (rest == lanes) first = displacement;
  }
  return first;
}

}  // namespace helper
}  // namespace hetgpu::cpu
