#include "tests/isa/exclusions.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace hetgpu::isa {
namespace {

bool Glob(absl::string_view pattern, absl::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*') {
    bool same = !text.empty() && (pattern[0] == '?' || text[0] == pattern[0]);
    return same && Glob(pattern.substr(1), text.substr(1));
  }
  for (size_t skip = 0; skip <= text.size(); ++skip) {
    if (Glob(pattern.substr(1), text.substr(skip))) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<Exclusion>> ParseExclusions(
    absl::string_view text, absl::string_view name) {
  std::vector<Exclusion> exclusions;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() < 3) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ":", line_number,
                       ": expected a backend, a pattern and a reason"));
    }
    std::string reason =
        absl::StrJoin(words.begin() + 2, words.end(), " ");
    exclusions.push_back({words[0], words[1], reason});
  }
  return exclusions;
}

const Exclusion* FindExclusion(const std::vector<Exclusion>& exclusions,
                               absl::string_view backend,
                               absl::string_view stem) {
  for (const Exclusion& exclusion : exclusions) {
    if (exclusion.backend != "*" && exclusion.backend != backend) continue;
    if (Glob(exclusion.pattern, stem)) return &exclusion;
  }
  return nullptr;
}

}  // namespace hetgpu::isa
