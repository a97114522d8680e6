// The addresses that GPUs of this process use: one reservation over the arena of
// the process, made when the first GPU is opened and never given back.
//
// The driver takes an address as a hint, and honours it only while nothing is
// mapped there, nor was when the driver was initialised (library.cc). So the CPU's
// memory, which may be there already, stands aside for these moments; afterwards
// it can be mapped over the reservation: host and GPU then see different contents
// at one address.
//
// Where the driver reserves another range all the same, or is asked to by
// HETGPU_CUDA_ARENA_BASE, GPUs work at a distance ("delta") from the arena:
//
//   programs    | arena: neutral addresses |
//   the GPU                    | reservation: neutral + delta |
//
// Allocations of a GPU's own contexts then have addresses of the reservation.
// Unified memory has neutral ones: ToDevice() translates what is handed to the
// driver, and code is compiled to do the same (window.h).
#ifndef HETGPU_BACKENDS_CUDA_ADDRESS_SPACE_H_
#define HETGPU_BACKENDS_CUDA_ADDRESS_SPACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/cuda/context.h"
#include "backends/cuda/window.h"
#include "memory/arena.h"

namespace hetgpu::cuda {

// Thread-safe.
class AddressSpace {
 public:
  // That of the library's process. The context must be a device's.
  // `hint`: where it should be, if it is not anywhere yet; 0: as the
  // environment says, or else the arena.
  static absl::StatusOr<AddressSpace*> Of(const Context& context,
                                          uint64_t hint = 0);

  // What a GPU uses for an address of the arena is that much higher. Code that
  // the driver compiles knows nothing of it.
  uint64_t delta() const { return window_.delta; }
  // The addresses of the arena that a GPU can have memory for.
  const Window& window() const { return window_; }
  // The reservation.
  uint64_t base() const { return window_.base + window_.delta; }
  uint64_t bytes() const { return window_.bytes; }

  // The GPU's address for one that may be neutral.
  uint64_t ToDevice(uint64_t address) const {
    return is_apart_ && window_.Contains(address) ? address + window_.delta
                                                  : address;
  }

  // `bytes` addresses for a GPU, multiples of `unit`; 0: none are left.
  uint64_t Allocate(uint64_t bytes, uint64_t unit);
  // These addresses for a GPU; false when not all of them are free.
  bool Take(uint64_t address, uint64_t bytes);
  void Free(uint64_t address, uint64_t bytes);
  // That a GPU can have memory at these addresses of the arena.
  bool Covers(uint64_t address, uint64_t bytes) const;

 private:
  AddressSpace(memory::Arena& arena, uint64_t base, uint64_t bytes)
      : arena_(arena),
        window_{arena.base(), bytes, base - arena.base()},
        is_apart_(window_.IsApart()) {}

  memory::Arena& arena_;
  const Window window_;
  const bool is_apart_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_ADDRESS_SPACE_H_
