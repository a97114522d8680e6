// What hetgpu-run does, whether it came from the command line or a plan file:
// buffers and symbols with initial content, steps, and outputs. Data alone; the
// words are those of docs/plan-format.md.
#ifndef HETGPU_TOOLS_HETGPU_RUN_JOB_H_
#define HETGPU_TOOLS_HETGPU_RUN_JOB_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/common/element_type.h"
#include "tools/common/generate.h"
#include "tools/common/literal.h"

namespace hetgpu::tools {

// A device address: of a buffer or a module global, plus bytes; or null.
struct Address {
  enum class Base : uint8_t { kNull, kBuffer, kSymbol } base = Base::kNull;
  std::string name;
  uint64_t offset = 0;
};

// ------------------------------------------------------------ initial content

struct ZeroInit {};
struct FillInit {
  Literal value;
};
struct ValuesInit {
  std::vector<Literal> values;
};
struct IotaInit {
  Literal start = Literal::Unsigned(0), step = Literal::Unsigned(1);
};
struct RandInit {
  RandRange range;
};
struct FileInit {
  std::string path;
};
struct BytesInit {
  std::string bytes;
};
struct AddressesInit {
  std::vector<Address> addresses;
};
using Init = std::variant<ZeroInit, FillInit, ValuesInit, IotaInit, RandInit,
                          FileInit, BytesInit, AddressesInit>;

struct BufferDef {
  std::string name;
  // Absent when the content of a file decides.
  std::optional<ElementType> type;
  std::optional<uint64_t> count;
  Init init;
  bool readonly = false;  // a change is an error
};

// ---------------------------------------------------------------------- steps

// A kernel argument, before it is packed into the parameter block.
struct Argument {
  struct Scalar {
    ElementType type;
    Literal value;  // may be a loop variable
  };
  struct Bytes {
    std::string bytes;
  };
  struct Struct {
    std::vector<Argument> members;
  };
  std::variant<Address, Scalar, Bytes, Struct> form;
};

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

struct Step;
using Steps = std::vector<Step>;

struct LaunchStep {
  std::string kernel;
  Extent grid, block;
  uint32_t shared = 0;
  bool cooperative = false;
  std::vector<Argument> args;
  double flops = 0, bytes = 0;  // of one launch; 0 = not given
};

struct Until {
  enum class Test : uint8_t { kEquals, kLessThan } test = Test::kEquals;
  std::string buffer;
  uint64_t index = 0;
  Literal value;
};

struct RepeatStep {
  uint64_t times = 0;
  std::string variable;  // "" when none
  std::optional<Until> until;
  Steps steps;
};

struct ForStep {
  std::string variable;
  std::vector<Literal> values;
  Steps steps;
};

struct SwapStep {
  std::string a, b;
};

struct CopyStep {
  std::string from, to;
  uint64_t from_offset = 0, to_offset = 0;
  std::optional<uint64_t> size;
};

struct FillStep {
  std::string buffer;
  Literal value;
};

struct Step {
  // Where it was written ("$.steps[2]"), for messages; "" on the command line.
  std::string place;
  std::variant<LaunchStep, RepeatStep, ForStep, SwapStep, CopyStep, FillStep>
      action;
};

// -------------------------------------------------------------------- outputs

struct Tolerance {
  double atol = 0, rtol = 0;
  bool bits = false;  // with both 0: equal bits, not equal values
};

struct Check {
  Init reference;
  Tolerance tolerance;
};

struct Picture {
  uint64_t width = 0, height = 0;
  double min = 0, max = 1;
  std::string ramp = " .:-=+*#%@";
};

struct Output {
  std::string name;    // for messages and --json
  std::string buffer;  // or
  std::string symbol;  // a module global with:
  std::optional<ElementType> type;
  std::optional<uint64_t> count;
  std::string file;             // "" = not written
  std::vector<uint64_t> shape;  // empty = one dimension
  std::optional<uint64_t> print;
  std::optional<Picture> picture;
  std::optional<Check> check;
};

struct Job {
  std::string module;  // path
  std::string description;
  std::vector<BufferDef> buffers;
  std::vector<BufferDef> symbols;
  Steps steps;
  std::vector<Output> outputs;

  const BufferDef* FindBuffer(std::string_view name) const {
    for (const BufferDef& buffer : buffers) {
      if (buffer.name == name) return &buffer;
    }
    return nullptr;
  }
};

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_JOB_H_
