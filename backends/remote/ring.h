// Memory that client and server share, in which the copies of a queue take
// turns: kSlots buffers of kSlotBytes.
#ifndef HETGPU_BACKENDS_REMOTE_RING_H_
#define HETGPU_BACKENDS_REMOTE_RING_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "backends/common/unique_fd.h"

namespace hetgpu::remote {

class Ring {
 public:
  // Made by the client; `handle` is for the server.
  static absl::StatusOr<Ring> Create(UniqueFd* handle);
  // InvalidArgument unless it has the right size for good.
  static absl::StatusOr<Ring> Open(const UniqueFd& handle);
  Ring(Ring&& other) noexcept;
  ~Ring();

  // The buffer of the `use`th piece.
  char* Slot(uint64_t use) const;

 private:
  explicit Ring(void* memory) : memory_(memory) {}

  void* memory_;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_RING_H_
