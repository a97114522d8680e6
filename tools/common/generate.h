// Data made rather than read: fill, iota and the random generator of
// docs/plan-format.md, bit for bit as that page defines them.
#ifndef HETGPU_TOOLS_COMMON_GENERATE_H_
#define HETGPU_TOOLS_COMMON_GENERATE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "tools/common/element_type.h"
#include "tools/common/literal.h"

namespace hetgpu::tools {

// All write `count` elements of `type` at `out`, which is aligned to the type.

void GenerateFill(ElementType type, uint64_t bits, uint64_t count, void* out);

// start + step * i. Errors: a bound that is no integer for an integer type.
absl::Status GenerateIota(ElementType type, const Literal& start,
                          const Literal& step, uint64_t count, void* out);

struct RandRange {
  uint64_t seed = 0;
  std::optional<Literal> min, max;  // absent: the default of the page
};

// Errors: bounds out of range or reversed, or the type `ptr`.
absl::Status GenerateRand(ElementType type, const RandRange& range,
                          uint64_t count, void* out);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_GENERATE_H_
