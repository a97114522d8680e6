// Compares a result with its reference, as docs/plan-format.md defines it.
#ifndef HETGPU_TOOLS_HETGPU_RUN_COMPARE_H_
#define HETGPU_TOOLS_HETGPU_RUN_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/common/element_type.h"
#include "tools/hetgpu-run/job.h"

namespace hetgpu::tools {

struct Mismatch {
  uint64_t index = 0;
  std::string got, expected;
};

struct CompareResult {
  uint64_t count = 0;  // elements compared
  uint64_t mismatches = 0;
  std::optional<Mismatch> first;
  std::optional<Mismatch> worst;  // largest absolute difference
  double max_abs_error = 0;       // over finite pairs
  double max_rel_error = 0;

  bool passed() const { return mismatches == 0; }
};

// Both arrays have `count` elements of `type`.
CompareResult Compare(ElementType type, uint64_t count, const void* got,
                      const void* expected, const Tolerance& tolerance);

// "3 of 1000 elements differ; first at [17]: got 1.5, expected 2.5; …".
std::string Describe(const CompareResult& result);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_COMPARE_H_
