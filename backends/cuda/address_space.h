// The addresses that GPUs of this process use: one reservation over the arena of
// the process, made when the first GPU is opened and never given back.
//
// The driver takes an address as a hint, and honours it only while nothing is
// mapped there, nor was when the driver was initialised (library.cc). So the CPU's
// memory, which may be there already, stands aside for these moments; afterwards
// it can be mapped over the reservation: host and GPU then see different contents
// at one address. Where the driver reserves another range
// all the same, GPUs work at a distance ("delta") from the arena.
#ifndef HETGPU_BACKENDS_CUDA_ADDRESS_SPACE_H_
#define HETGPU_BACKENDS_CUDA_ADDRESS_SPACE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/cuda/context.h"
#include "memory/arena.h"

namespace hetgpu::cuda {

// Thread-safe.
class AddressSpace {
 public:
  // That of the library's process. The context must be a device's.
  // `hint`: where it should be, if it is not anywhere yet; 0: as the arena says.
  static absl::StatusOr<AddressSpace*> Of(const Context& context,
                                          uint64_t hint = 0);

  // What a GPU uses for an address of the arena is that much higher. Code that
  // the driver compiles knows nothing of it.
  uint64_t delta() const { return delta_; }
  // The reservation.
  uint64_t base() const { return arena_.base() + delta_; }
  uint64_t bytes() const { return bytes_; }

  // `bytes` addresses for a GPU, multiples of `unit`; 0: none are left.
  uint64_t Allocate(uint64_t bytes, uint64_t unit);
  // These addresses for a GPU; false when not all of them are free.
  bool Take(uint64_t address, uint64_t bytes);
  void Free(uint64_t address, uint64_t bytes);
  // That a GPU can have memory at these addresses of the arena.
  bool Covers(uint64_t address, uint64_t bytes) const;

 private:
  AddressSpace(memory::Arena& arena, uint64_t base, uint64_t bytes)
      : arena_(arena), delta_(base - arena.base()), bytes_(bytes) {}

  memory::Arena& arena_;
  const uint64_t delta_;
  const uint64_t bytes_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_ADDRESS_SPACE_H_
