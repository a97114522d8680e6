#include "backends/cuda/address_space.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kSmallestReservation = uint64_t{1} << 33;
// Of the hint; the driver maps in smaller units.
constexpr uint64_t kAlignment = uint64_t{2} << 20;

// Whether and where the environment wants the reservation; the runtime has
// checked the variable.
uint64_t ForcedBase() {
  const char* const text = std::getenv("HETGPU_CUDA_ARENA_BASE");
  return text == nullptr ? 0 : memory::ParseArenaBase(text).value_or(0);
}

// Keeps the driver from putting anything of its own at addresses of the arena:
// they would be taken for neutral ones.
void KeepFree(const Library& library, memory::Arena& arena, uint64_t bytes) {
  CUdeviceptr base = 0;
  CUresult result = CUDA_SUCCESS;
  arena.Vacate([&] {
    result = library.MemAddressReserve(&base, bytes, kAlignment, arena.base(),
                                       0);
  });
  if (result != CUDA_SUCCESS) return;
  if (base == arena.base()) {
    arena.Settle(base, bytes);
  } else {
    library.MemAddressFree(base, bytes);
  }
}

}  // namespace

absl::StatusOr<AddressSpace*> AddressSpace::Of(const Context& context,
                                               uint64_t hint) {
  static auto* const mutex = new std::mutex;
  // By driver, however often it was opened: tests have more than one.
  using Driver = decltype(Library::MemAddressReserve);
  static auto* const spaces =
      new std::map<Driver, std::unique_ptr<AddressSpace>>;
  std::lock_guard<std::mutex> lock(*mutex);
  const Library& library = context.library();
  std::unique_ptr<AddressSpace>& space = (*spaces)[library.MemAddressReserve];
  if (space != nullptr) return space.get();
  const Current current(context);
  if (!current.status().ok()) return current.status();
  memory::Arena& arena = memory::Arena::Process();
  const uint64_t forced = hint == 0 ? ForcedBase() : 0;
  // The arena does not follow.
  if (forced != 0) arena.Place(arena.base(), arena.bytes());
  if (hint == 0) hint = forced != 0 ? forced : arena.base();
  CUdeviceptr base = 0;
  uint64_t bytes = arena.bytes();
  CUresult result = CUDA_SUCCESS;
  arena.Vacate([&] {
    for (; bytes >= kSmallestReservation; bytes /= 2) {
      result = library.MemAddressReserve(&base, bytes, kAlignment, hint, 0);
      if (result == CUDA_SUCCESS) return;
    }
  });
  if (result != CUDA_SUCCESS) {
    return ToStatus(library, result, "cuMemAddressReserve");
  }
  arena.Settle(base, bytes);
  if (base != arena.base()) KeepFree(library, arena, bytes);
  space.reset(new AddressSpace(arena, base, bytes));
  return space.get();
}

bool AddressSpace::Covers(uint64_t address, uint64_t bytes) const {
  const uint64_t offset = address - window_.base;
  return offset < window_.bytes && bytes <= window_.bytes - offset;
}

uint64_t AddressSpace::Allocate(uint64_t bytes, uint64_t unit) {
  const uint64_t address = arena_.Allocate(bytes, unit);
  if (address == 0) return 0;
  if (Covers(address, bytes)) return address + delta();
  arena_.Free(address, bytes);
  return 0;
}

bool AddressSpace::Take(uint64_t address, uint64_t bytes) {
  address -= delta();
  return Covers(address, bytes) && arena_.Take(address, bytes);
}

void AddressSpace::Free(uint64_t address, uint64_t bytes) {
  arena_.Free(address - delta(), bytes);
}

}  // namespace hetgpu::cuda
