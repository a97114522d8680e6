#include "backends/cuda/recompiled.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/image.h"
#include "backends/cuda/kernel.h"
#include "backends/cuda/module.h"
#include "backends/cuda/route.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {

absl::StatusOr<std::unique_ptr<Kernel>> LoadRecompiled(
    const Context& context, const KernelInfo& info, std::string_view image) {
  absl::StatusOr<ImageHeader> header = ParseHeader(image);
  if (!header.ok()) return header.status();
  auto ptx = std::make_shared<LoadedPtx>(context, std::string(image),
                                         info.name, /*has_lines=*/false);
  const Current current(context);
  const absl::StatusOr<CUmodule> module = ptx->Get(current);
  if (!module.ok()) return module.status();
  CUfunction function = nullptr;
  HETGPU_CUDA_RETURN_IF_ERROR(
      current.library(), ModuleGetFunction,
      (&function, *module, header->entry.c_str()));
  std::string text = absl::StrCat("recompiled (", WhyRecompiled(header->why),
                                  "): ", ResourcesOf(current, function));
  std::string entry = header->entry;
  return std::unique_ptr<Kernel>(std::make_unique<CudaKernel>(
      std::move(ptx), std::move(entry), std::move(text), *std::move(header)));
}

}  // namespace hetgpu::cuda
