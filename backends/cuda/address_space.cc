#include "backends/cuda/address_space.h"

#include <map>
#include <memory>
#include <mutex>

#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kSmallestReservation = uint64_t{1} << 33;
// Of the hint; the driver maps in smaller units.
constexpr uint64_t kAlignment = uint64_t{2} << 20;

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
  if (hint == 0) hint = arena.base();
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
  space.reset(new AddressSpace(arena, base, bytes));
  return space.get();
}

bool AddressSpace::Covers(uint64_t address, uint64_t bytes) const {
  const uint64_t offset = address - arena_.base();
  return offset < bytes_ && bytes <= bytes_ - offset;
}

uint64_t AddressSpace::Allocate(uint64_t bytes, uint64_t unit) {
  const uint64_t address = arena_.Allocate(bytes, unit);
  if (address == 0) return 0;
  if (Covers(address, bytes)) return address + delta_;
  arena_.Free(address, bytes);
  return 0;
}

bool AddressSpace::Take(uint64_t address, uint64_t bytes) {
  return Covers(address - delta_, bytes) && arena_.Take(address - delta_, bytes);
}

void AddressSpace::Free(uint64_t address, uint64_t bytes) {
  arena_.Free(address - delta_, bytes);
}

}  // namespace hetgpu::cuda
