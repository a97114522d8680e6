#ifndef HETGPU_FRONTEND_PTX_LOWERING_TESTING_H_
#define HETGPU_FRONTEND_PTX_LOWERING_TESTING_H_

#include <string>

#include "absl/status/status.h"

namespace hetgpu::ptx {

// Parses and lowers every kernel of a PTX text. No LLVM in this header.
absl::Status LowerText(const std::string& text, const std::string& name);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_TESTING_H_
