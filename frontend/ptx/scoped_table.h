// A hash table of names with nested scopes: declaring in an inner scope hides,
// leaving the scope restores. All operations are O(1) amortised.
#ifndef HETGPU_FRONTEND_PTX_SCOPED_TABLE_H_
#define HETGPU_FRONTEND_PTX_SCOPED_TABLE_H_

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hetgpu::ptx {

// Differs between processes, so that text cannot be made to collide.
inline uint64_t HashSeed() {
  static const char anchor = 0;
  return reinterpret_cast<uintptr_t>(&anchor) * 0x9e3779b97f4a7c15u;
}

// At most 8 bytes as a number; with the length known, no two texts share one.
inline uint64_t HashTail(const char* data, size_t size) {
  auto byte = [data](size_t i) {
    return uint64_t{static_cast<uint8_t>(data[i])};
  };
  if (size == 0) return 0;
  if (size < 4) return byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
  uint32_t first, last;
  std::memcpy(&first, data, 4);
  std::memcpy(&last, data + size - 4, 4);
  return first | uint64_t{last} << 32;
}

inline uint64_t HashName(std::string_view name) {
  auto mix = [](uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^
           static_cast<uint64_t>(product >> 64);
  };
  const char* data = name.data();
  size_t left = name.size();
  uint64_t hash = HashSeed() ^ left;
  while (left > 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    hash = mix(hash ^ word, 0xa0761d6478bd642fu);
    data += 8;
    left -= 8;
  }
  return mix(hash ^ HashTail(data, left), 0xe7037ed1a0b428dbu);
}

template <typename Value>
class ScopedTable {
 public:
  ScopedTable() : slots_(16, 0) {}

  const Value* Find(std::string_view name) const {
    uint32_t entry = slots_[Slot(name, HashName(name))];
    return entry == 0 ? nullptr : &entries_[entry - 1].value;
  }

  // The entry declared since `mark`, or null.
  Value* FindSince(size_t mark, std::string_view name) {
    uint32_t entry = slots_[Slot(name, HashName(name))];
    return entry == 0 || entry - 1 < mark ? nullptr
                                          : &entries_[entry - 1].value;
  }

  // Declares `name`, hiding an earlier entry of that name.
  void Declare(std::string_view name, const Value& value) {
    if ((entries_.size() + 1) * 2 > slots_.size()) Grow();
    uint64_t hash = HashName(name);
    size_t slot = Slot(name, hash);
    entries_.push_back({name, hash, slots_[slot], value});
    slots_[slot] = static_cast<uint32_t>(entries_.size());
  }

  // A mark for PopTo: everything declared later goes away.
  size_t Mark() const { return entries_.size(); }
  // Entries are removed newest first, so probe sequences stay unbroken.
  void PopTo(size_t mark) {
    while (entries_.size() > mark) {
      const Entry& entry = entries_.back();
      slots_[Slot(entry.name, entry.hash)] = entry.hidden;
      entries_.pop_back();
    }
  }
  // The values declared since `mark`, oldest first.
  template <typename Visit>
  void ForEachSince(size_t mark, Visit visit) {
    for (size_t i = mark; i < entries_.size(); ++i) {
      visit(entries_[i].name, entries_[i].value);
    }
  }

 private:
  struct Entry {
    std::string_view name;
    uint64_t hash;
    uint32_t hidden;  // slot content before: entry index + 1, or 0
    Value value;
  };

  // The slot that holds `name`, or the empty one where it would go.
  size_t Slot(std::string_view name, uint64_t hash) const {
    size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot] != 0) {
      const Entry& entry = entries_[slots_[slot] - 1];
      if (entry.hash == hash && entry.name == name) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void Grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (size_t i = 0; i < entries_.size(); ++i) {
      slots_[Slot(entries_[i].name, entries_[i].hash)] =
          static_cast<uint32_t>(i + 1);
    }
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_SCOPED_TABLE_H_
