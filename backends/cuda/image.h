// The image of a kernel on the recompiled route, where compile side and run
// side meet: PTX text for the driver, behind comment lines that say how to run
// it:
//
//   // hetgpu cuda image 1
//   // entry NAME
//   // const SYMBOL OFFSET BYTES     of the data segment; any number of lines
//   // why TEXT                      for --debug-kernel; - for nothing to say
//
// The entry takes the address of the data segment, then, at byte
// kParamOffset, the parameter block. Each `const` names a variable of the PTX
// that must hold a copy of a stretch of the data segment when a launch begins.
//
// Images for one device, of different kernels of a module, have the same
// directives up to .address_size and define no symbol twice, so that the driver
// can be given several as one PTX.
#ifndef HETGPU_BACKENDS_CUDA_IMAGE_H_
#define HETGPU_BACKENDS_CUDA_IMAGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hetgpu::cuda {

inline constexpr uint64_t kParamOffset = 16;

struct ConstCopy {
  std::string symbol;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct ImageHeader {
  std::string entry;
  std::vector<ConstCopy> const_copies;
  std::string why;
};

std::string FormatHeader(const ImageHeader& header);
// InvalidArgument when `image` does not begin with a header of this version.
absl::StatusOr<ImageHeader> ParseHeader(std::string_view image);
// InvalidArgument when the images are not for one device.
absl::StatusOr<std::string> JoinPtx(
    const std::vector<std::string_view>& images);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_IMAGE_H_
