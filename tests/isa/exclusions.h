// Forms that a backend refuses by name. An exclusion is a promise that is
// tested: the form must be refused, so a backend that learns it fails the
// replay until its line is removed.

#ifndef HETGPU_TESTS_ISA_EXCLUSIONS_H_
#define HETGPU_TESTS_ISA_EXCLUSIONS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hetgpu::isa {

struct Exclusion {
  std::string backend;  // "*" for all
  std::string pattern;  // of run-file stems; '*' any characters, '?' one
  std::string reason;
};

// Lines "BACKEND PATTERN REASON…"; '#' starts a comment line.
absl::StatusOr<std::vector<Exclusion>> ParseExclusions(absl::string_view text,
                                                       absl::string_view name);

// The first line that applies, or null.
const Exclusion* FindExclusion(const std::vector<Exclusion>& exclusions,
                               absl::string_view backend,
                               absl::string_view stem);

}  // namespace hetgpu::isa

#endif  // HETGPU_TESTS_ISA_EXCLUSIONS_H_
