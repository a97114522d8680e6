// The `.hetir` file: hetIR of a module with what the runtime must know of it.
//
//   0   magic "HETIR\0\r\n"
//   8   u16 format major, minor; u16 dialect major, minor
//   16  u64 size of the file
//   24  u128 xxh3 hash of everything from byte 40 on
//   40  u32 number of sections, u32 zero
//   48  per section: u32 kind, u32 zero, u64 offset, u64 size
//   …   the sections
//
// All numbers are little-endian. Readers take every minor version of their
// major ones: minor versions only append fields to records and add kinds of
// sections, which older readers skip. Nothing here depends on LLVM: the
// bytecode is a section that only the compiler looks into.
#ifndef HETGPU_HETIR_CONTAINER_CONTAINER_H_
#define HETGPU_HETIR_CONTAINER_CONTAINER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "hetir/module_info.h"

namespace hetgpu {

struct ContainerVersion {
  uint16_t format_major = 1;
  uint16_t format_minor = 0;
  // Of the ops in the bytecode: hetir/dialect.
  uint16_t dialect_major = 1;
  uint16_t dialect_minor = 0;
};

// Where PTX lines come from in the source that was compiled to PTX.
struct SourceMap {
  struct Entry {
    uint32_t ptx_line = 0;  // this line and those up to the next entry
    uint32_t file = 0;      // index into files
    uint32_t line = 0;
    uint32_t column = 0;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<std::string> files;
  std::vector<Entry> entries;  // ascending by ptx_line
};

struct Container {
  ContainerVersion version;
  ModuleInfo info;
  SourceMap source_map;
  // MLIR bytecode of a module that holds one nested module per kernel, named
  // like it. A view into the bytes that were read.
  std::string_view bytecode;
};

// Whether the bytes begin like a container.
bool IsContainer(std::string_view bytes);

std::string WriteContainer(const ModuleInfo& info, const SourceMap& source_map,
                           std::string_view bytecode);

// Writes the size and the hash of a container into its header: after changes
// by hand, in tests. At least 48 bytes.
void SealContainer(std::string* bytes);

// `name` starts the messages. kDataLoss: damaged; kUnimplemented: written by a
// newer major version. Any bytes are safe to read.
absl::StatusOr<Container> ReadContainer(std::string_view bytes,
                                        std::string_view name);

}  // namespace hetgpu

#endif  // HETGPU_HETIR_CONTAINER_CONTAINER_H_
