#include "backends/cuda/route.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace hetgpu::cuda {
namespace {

constexpr char kVariable[] = "HETGPU_CUDA_ROUTE";

std::string_view Variable(const char* name, std::string_view otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::string_view Asked() { return Variable(kVariable, "auto"); }

}  // namespace

absl::StatusOr<bool> TakesNativeRoute(const ModuleInfo& info) {
  const std::string_view asked = Asked();
  const bool is_ptx = info.ptx_version != 0;
  if (asked == "recompiled") return false;
  if (asked == "auto") {
    return is_ptx && Variable("HETGPU_FP_MODE", "native") != "strict";
  }
  if (asked != "native") {
    return absl::InvalidArgumentError(
        absl::StrCat(kVariable, " is \"", std::string(asked),
                     "\", expected auto, native or recompiled"));
  }
  if (!is_ptx) {
    return absl::UnimplementedError(absl::StrCat(
        "cuda: ", info.name, ": ", kVariable,
        " is native, but only PTX text can be given to the driver"));
  }
  return true;
}

absl::Status CheckRouteOfDistant(const Window& window) {
  if (Asked() != "native") return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      "cuda: ", kVariable, " is native, but the GPU has the unified memory of "
      "0x", absl::Hex(window.base), " at 0x",
      absl::Hex(window.base + window.delta), ", which only recompiled code knows"));
}

std::string WhyRecompiled(std::string_view image_says) {
  if (Asked() == "recompiled") {
    return absl::StrCat(kVariable, " is recompiled");
  }
  if (image_says != "-") return std::string(image_says);
  return "the module is no PTX text";
}

}  // namespace hetgpu::cuda
