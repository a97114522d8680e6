#ifndef HETGPU_FRONTEND_PTX_SOURCE_LOCATION_H_
#define HETGPU_FRONTEND_PTX_SOURCE_LOCATION_H_

#include <cstdint>

namespace hetgpu::ptx {

// A place in the PTX text. Lines and columns start at 1; line 0 means "none".
struct SourceLocation {
  uint32_t line = 0;
  uint32_t column = 0;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_SOURCE_LOCATION_H_
