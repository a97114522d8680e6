// What hetgpu-cc can print: one row per stage of the pipeline.
#ifndef HETGPU_TOOLS_HETGPU_CC_STAGES_H_
#define HETGPU_TOOLS_HETGPU_CC_STAGES_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace hetgpu::tools {

struct CompileRequest {
  std::string path;    // of the input, for messages
  std::string text;    // PTX, hetIR text or hetIR bytecode
  std::string kernel;  // empty: all
  bool locations = false;  // print the PTX place of each op
  std::string cpu_mode = "auto";  // auto, simd, scalar, fiber
  bool strict = false;            // HETGPU_FP_MODE=strict
  std::string cpu = "native";     // of the stages llvm … image
  std::string gpu = "sm_90";      // of the stages nvptx…
  std::string_view vendor;        // whose instructions are handed on; set by
                                  // the stage
};

struct Stage {
  std::string_view name;  // --emit=name
  std::string_view summary;
  absl::Status (*emit)(const CompileRequest& request, std::string* output);
};

std::span<const Stage> Stages();

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_CC_STAGES_H_
