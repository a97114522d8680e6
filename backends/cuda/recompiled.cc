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
namespace {

// The kernel of `image`, whose entry is in `ptx`.
absl::StatusOr<std::unique_ptr<Kernel>> KernelOf(
    const Current& current, std::shared_ptr<LoadedPtx> ptx,
    std::string_view image) {
  absl::StatusOr<ImageHeader> header = ParseHeader(image);
  if (!header.ok()) return header.status();
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

absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> LoadJoined(
    const Context& context, const std::vector<KernelImage>& images) {
  std::vector<std::string_view> texts;
  for (const KernelImage& image : images) texts.push_back(image.bytes);
  absl::StatusOr<std::string> joined = JoinPtx(texts);
  if (!joined.ok()) return joined.status();
  auto ptx = std::make_shared<LoadedPtx>(context, *std::move(joined),
                                         images.front().info->name,
                                         /*has_lines=*/false);
  const Current current(context);
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const KernelImage& image : images) {
    auto kernel = KernelOf(current, ptx, image.bytes);
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(*std::move(kernel));
  }
  return kernels;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> LoadRecompiled(
    const Context& context, const KernelInfo& info, std::string_view image) {
  const absl::StatusOr<ImageHeader> header = ParseHeader(image);
  if (!header.ok()) return header.status();
  auto ptx = std::make_shared<LoadedPtx>(context, std::string(image),
                                         info.name, /*has_lines=*/false);
  return KernelOf(Current(context), std::move(ptx), image);
}

absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> LoadRecompiledTogether(
    const Context& context, const std::vector<KernelImage>& images) {
  if (images.size() > 1) {
    auto kernels = LoadJoined(context, images);
    if (!absl::IsInvalidArgument(kernels.status())) return kernels;
  }
  // The driver's messages then name the kernel that is to blame.
  std::vector<std::unique_ptr<Kernel>> kernels;
  for (const KernelImage& image : images) {
    auto kernel = LoadRecompiled(context, *image.info, image.bytes);
    if (!kernel.ok()) return kernel.status();
    kernels.push_back(*std::move(kernel));
  }
  return kernels;
}

}  // namespace hetgpu::cuda
