// Reader and writer of .npy files (format versions 1, 2 and 3).
//
//   "\x93NUMPY" major minor | header length (2 bytes in v1, else 4) | header
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }     | data
//
// Little-endian booleans, integers and floats of 1 to 8 bytes in C order are
// read; everything else is refused by name. The file is foreign: every length
// is checked against what is there before it is used.
#ifndef HETGPU_TOOLS_COMMON_NPY_H_
#define HETGPU_TOOLS_COMMON_NPY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/common/element_type.h"
#include "tools/common/host_bytes.h"

namespace hetgpu::tools {

struct NpyHeader {
  ElementType type = ElementType::kU8;  // booleans are u8
  bool is_bool = false;
  std::vector<uint64_t> shape;  // empty: one element
  uint64_t count = 1;           // product of the shape
  uint64_t data_offset = 0;     // bytes before the first element
};

struct NpyArray {
  NpyHeader header;
  HostBytes data;  // the elements alone
};

// Parses the header at the start of `file`, the whole content, and checks that
// exactly the data it announces follows. DataLoss with the reason otherwise.
absl::StatusOr<NpyHeader> ParseNpy(std::string_view file);

// Reads a file; errors name it.
absl::StatusOr<NpyArray> ReadNpy(const std::string& path);

// The bytes before the data, for an array of this type and shape (version 1,
// padded to 64 bytes).
std::string MakeNpyHeader(ElementType type, const std::vector<uint64_t>& shape);

absl::Status WriteNpy(const std::string& path, ElementType type,
                      const std::vector<uint64_t>& shape,
                      std::string_view data);

// True when a file name says .npy.
bool IsNpyPath(std::string_view path);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_NPY_H_
