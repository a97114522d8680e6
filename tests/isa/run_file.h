// Run-files: one kernel, its inputs, and the bits a real GPU gave.
// README.md beside this file defines the format.

#ifndef HETGPU_TESTS_ISA_RUN_FILE_H_
#define HETGPU_TESTS_ISA_RUN_FILE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace hetgpu::isa {

enum class ElementType {
  kB8, kB16, kB32, kB64, kF16, kBf16, kF16x2, kBf16x2, kF32, kF64
};

// Bytes of one element in memory.
size_t ElementSize(ElementType type);

// How an output element is compared with the recorded one.
struct Compare {
  enum class Kind { kExact, kNan, kUlp };
  Kind kind = Kind::kExact;
  uint64_t ulp = 0;        // kUlp: representable numbers apart
  double absolute = 0.0;   // kUlp: or this far apart; 0 = not allowed
};

struct Param {
  enum class Role { kIn, kOut, kInOut, kArg };
  enum class Source { kNone, kSet, kIota, kZero };

  bool IsBuffer() const { return role != Role::kArg; }
  bool IsOutput() const { return role == Role::kOut || role == Role::kInOut; }

  Role role = Role::kIn;
  std::string name;
  ElementType type = ElementType::kB8;
  size_t count = 0;             // elements
  Source source = Source::kNone;
  std::string set;              // Source::kSet
  Compare compare;              // outputs
  std::vector<uint8_t> value;   // kArg
};

using Values = std::vector<uint64_t>;

struct RunFile {
  std::vector<std::string> forms;
  uint32_t sm = 0;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  std::vector<Param> params;            // in kernel parameter order
  std::string ptx;
  std::map<std::string, Values> expect; // by output name; empty = unrecorded
};

struct InputSet {
  ElementType type = ElementType::kB8;
  Values values;
};
using InputSets = std::map<std::string, InputSet, std::less<>>;

// `name` stands for the text in messages: "name:line: what was found".
// A recorded file must have one value per element of every output.
absl::StatusOr<RunFile> ParseRunFile(absl::string_view text,
                                     absl::string_view name);
absl::StatusOr<InputSets> ParseInputSets(absl::string_view text,
                                         absl::string_view name);

// What a buffer holds before the launch. Error when its set is unknown, too
// short or of another element size.
absl::StatusOr<std::vector<uint8_t>> InitialBytes(const Param& param,
                                                  const InputSets& sets);

// Little-endian elements of a buffer.
Values ValuesOf(const std::vector<uint8_t>& bytes, ElementType type);

}  // namespace hetgpu::isa

#endif  // HETGPU_TESTS_ISA_RUN_FILE_H_
