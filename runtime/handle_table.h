// Handles of the C API. A handle is a number dressed as a pointer, never
// dereferenced, so that stale and foreign ones are recognised:
//
//   63       60 59            28 27          0
//   +----------+----------------+-------------+
//   |   kind   |   generation   |  slot + 1   |
//   +----------+----------------+-------------+
//
// A slot's generation grows with each reuse, so a destroyed handle never names
// a newer object. Tables are process-wide and never destroyed: handles may be
// used by other threads while the process exits.
#ifndef HETGPU_RUNTIME_HANDLE_TABLE_H_
#define HETGPU_RUNTIME_HANDLE_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/error.h"

namespace hetgpu::runtime {

enum class HandleKind : uint8_t {
  kDevice = 1,
  kContext,
  kModule,
  kFunction,
  kStream,
  kEvent,
  kTexture,
};

// "stream"; "" for numbers that are no kind.
std::string_view NameOf(HandleKind kind);

// Why `handle` does not name a live object of `kind`.
absl::Status BadHandle(HandleKind kind, uint64_t handle);

// Objects of type T, which has `Handle` (the C type) and `kKind`.
// Threads: any.
template <typename T>
class HandleTable {
 public:
  using Handle = typename T::Handle;

  static HandleTable& Get() {
    static HandleTable* const table = new HandleTable;
    return *table;
  }

  Handle Insert(std::shared_ptr<T> object) {
    std::unique_lock lock(mutex_);
    uint64_t slot = slots_.size();
    if (!free_.empty()) {
      slot = free_.back();
      free_.pop_back();
    } else {
      slots_.emplace_back();
    }
    slots_[slot].object = std::move(object);
    return Encode(slot, slots_[slot].generation);
  }

  // Launching in a loop asks for the same objects again and again, and locks
  // cost more than all else here: each thread remembers what it found last.
  absl::StatusOr<std::shared_ptr<T>> Find(Handle handle) const {
    thread_local Found last;
    const uint64_t removals = removals_.load(std::memory_order_acquire);
    if (last.handle == handle && last.removals == removals) {
      if (auto object = last.object.lock()) return object;
    }
    std::shared_lock lock(mutex_);
    const Slot* slot = Locate(handle);
    if (slot == nullptr) return BadHandle(T::kKind, Number(handle));
    last = {handle, removals, slot->object};
    return slot->object;
  }

  // Takes the object out; the handle is stale from then on.
  absl::StatusOr<std::shared_ptr<T>> Remove(Handle handle) {
    std::unique_lock lock(mutex_);
    Slot* slot = const_cast<Slot*>(Locate(handle));
    if (slot == nullptr) return BadHandle(T::kKind, Number(handle));
    removals_.fetch_add(1, std::memory_order_release);
    std::shared_ptr<T> object = std::move(slot->object);
    slot->generation = (slot->generation + 1) & kGenerationMask;
    free_.push_back(slot - slots_.data());
    return object;
  }

 private:
  static constexpr int kSlotBits = 28;
  static constexpr int kKindShift = 60;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr uint64_t kGenerationMask = 0xffffffffu;

  struct Found {
    Handle handle = nullptr;
    uint64_t removals = 0;
    std::weak_ptr<T> object;
  };

  struct Slot {
    std::shared_ptr<T> object;
    uint64_t generation = 0;
  };

  static uint64_t Number(Handle handle) {
    return reinterpret_cast<uint64_t>(handle);
  }

  static Handle Encode(uint64_t slot, uint64_t generation) {
    return reinterpret_cast<Handle>(uint64_t(T::kKind) << kKindShift |
                                    generation << kSlotBits | (slot + 1));
  }

  const Slot* Locate(Handle handle) const {
    const uint64_t number = Number(handle);
    const uint64_t slot = (number & kSlotMask) - 1;
    if (number >> kKindShift != uint64_t(T::kKind) || slot >= slots_.size() ||
        (number >> kSlotBits & kGenerationMask) != slots_[slot].generation ||
        slots_[slot].object == nullptr) {
      return nullptr;
    }
    return &slots_[slot];
  }

  mutable std::shared_mutex mutex_;
  std::atomic<uint64_t> removals_ = 0;
  std::vector<Slot> slots_;
  std::vector<uint64_t> free_;
};

// The live object of a handle, or INVALID_HANDLE.
template <typename T>
absl::StatusOr<std::shared_ptr<T>> Lookup(typename T::Handle handle) {
  return HandleTable<T>::Get().Find(handle);
}

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_HANDLE_TABLE_H_
