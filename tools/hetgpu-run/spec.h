// The SPEC language of the command line (see SpecHelp for its grammar): text to
// the parts of a Job. Pure text: no file is opened here except those of
// `file:`, whose content is the argument itself.
#ifndef HETGPU_TOOLS_HETGPU_RUN_SPEC_H_
#define HETGPU_TOOLS_HETGPU_RUN_SPEC_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/hetgpu-run/job.h"

namespace hetgpu::tools {

// The grammar, for --help.
std::string_view SpecHelp();

enum class Direction : uint8_t { kIn, kOut, kInOut };

struct BufferSpec {
  Direction direction = Direction::kInOut;
  BufferDef def;       // the name is left to the caller
  std::string output;  // file that an `out:` buffer is written to, or ""
};

// A buffer: "in:x.npy", "out:f32[1000]=out.npy", "ptr[2]=addr[a+0,b+64]", …
// Without a direction it is inout.
absl::StatusOr<BufferSpec> ParseBufferSpec(std::string_view text);

// What a module global starts with: a buffer without direction, one scalar,
// hex: or file:.
absl::StatusOr<BufferDef> ParseSymbolSpec(std::string_view text);

// One kernel argument: either a buffer of its own or a value.
struct ArgumentSpec {
  std::string name;  // "y" in "y=inout:…"; "" when none
  std::optional<BufferSpec> buffer;
  std::optional<Argument> value;
};
absl::StatusOr<ArgumentSpec> ParseArgumentSpec(std::string_view text);

// What may stand after "=": a generator ("rand(seed=1)") or a file name.
absl::StatusOr<Init> ParseSource(std::string_view text);

// "null", "name", "name+16"; with `sym:` before the name a module global.
absl::StatusOr<Address> ParseAddress(std::string_view text);

// "64", "64,2", "64,2,1" with values up to 2^32-1.
absl::StatusOr<Extent> ParseExtent(std::string_view text);

// Splits "name=rest".
struct Assignment {
  std::string name;
  std::string value;
};
absl::StatusOr<Assignment> ParseAssignment(std::string_view text);

// Hexadecimal digits, in memory order, to bytes.
absl::StatusOr<std::string> ParseHexBytes(std::string_view text);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_SPEC_H_
