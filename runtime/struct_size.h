// Structs of the C API that grow: the caller's `struct_size` says how many
// bytes it knows, and no byte beyond is written.
#ifndef HETGPU_RUNTIME_STRUCT_SIZE_H_
#define HETGPU_RUNTIME_STRUCT_SIZE_H_

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "absl/status/statusor.h"
#include "runtime/error.h"

namespace hetgpu::runtime {

// Copies `value` to the caller's `out` as far as out->struct_size reaches.
// INVALID_VALUE when out is null or its struct_size is smaller than the field
// itself.
template <typename Struct>
absl::Status FillStruct(Struct* out, Struct value, std::string_view what) {
  if (out == nullptr) {
    return Error(HETGPU_ERROR_INVALID_VALUE, what, ": null output");
  }
  const size_t known = out->struct_size;
  if (known <= sizeof(size_t)) {
    return Error(HETGPU_ERROR_INVALID_VALUE, what, ": struct_size is ", known,
                 ", expected sizeof(the struct), ", sizeof(Struct));
  }
  value.struct_size = known;
  std::memcpy(out, &value, std::min(known, sizeof(Struct)));
  return absl::OkStatus();
}

// The caller's `in` as far as its struct_size reaches, zeroes beyond.
// INVALID_VALUE when in is null or its struct_size is smaller than the field
// itself.
template <typename Struct>
absl::StatusOr<Struct> ReadStruct(const Struct* in, std::string_view what) {
  if (in == nullptr) {
    return Error(HETGPU_ERROR_INVALID_VALUE, what, ": null description");
  }
  const size_t known = in->struct_size;
  if (known <= sizeof(size_t)) {
    return Error(HETGPU_ERROR_INVALID_VALUE, what, ": struct_size is ", known,
                 ", expected sizeof(the struct), ", sizeof(Struct));
  }
  Struct value = {};
  std::memcpy(&value, in, std::min(known, sizeof(Struct)));
  return value;
}

// INVALID_VALUE naming the output when it is null.
template <typename T>
absl::Status CheckOutput(const T* out, std::string_view what) {
  if (out != nullptr) return absl::OkStatus();
  return Error(HETGPU_ERROR_INVALID_VALUE, what, ": null output");
}

// INVALID_VALUE when flags that do not exist yet are given.
inline absl::Status CheckFlags(uint32_t flags, std::string_view what,
                               uint32_t known = 0) {
  if ((flags & ~known) == 0) return absl::OkStatus();
  if (known == 0) {
    return Error(HETGPU_ERROR_INVALID_VALUE, what, ": flags are ", flags,
                 ", expected 0");
  }
  return Error(HETGPU_ERROR_INVALID_VALUE, what, ": flags are ", flags,
               ", expected none but those in ", known);
}

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_STRUCT_SIZE_H_
