// Small writes of the host, held back so that neighbours travel together.
#ifndef HETGPU_MEMORY_WRITE_COMBINER_H_
#define HETGPU_MEMORY_WRITE_COMBINER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hetgpu::memory {

inline constexpr uint64_t kCombinedWriteBytes = 4096;  // larger ones go alone

// Not thread-safe.
class WriteCombiner {
 public:
  struct Run {
    uint64_t address = 0;
    std::string bytes;
    friend bool operator==(const Run&, const Run&) = default;
  };

  // Holds back a write to an allocation; later ones win over earlier ones. False
  // when that allocation has as much held back as is worth it: take first.
  bool Add(uint64_t allocation, uint64_t address, std::string_view bytes);
  bool Has(uint64_t allocation) const { return held_.count(allocation) != 0; }
  // What is held back of an allocation, in order of address, none touching
  // another; it is not held any more.
  std::vector<Run> Take(uint64_t allocation);

 private:
  std::map<uint64_t, std::map<uint64_t, std::string>> held_;
};

}  // namespace hetgpu::memory

#endif  // HETGPU_MEMORY_WRITE_COMBINER_H_
