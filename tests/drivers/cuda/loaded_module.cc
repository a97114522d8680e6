#include "tests/drivers/cuda/loaded_module.h"

#include <cstring>
#include <utility>

#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"
#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {

absl::StatusOr<std::shared_ptr<const LoadedModule>> LoadedModule::Load(
    CUdevice device, std::string ptx) {
  auto parsed = ptx::Parse(ptx, "ptx");
  if (!parsed.ok()) return parsed.status();
  absl::StatusOr<ModuleInfo> info = ptx::BuildModuleInfo(**parsed);
  if (!info.ok()) return info.status();
  for (const KernelInfo& kernel : info->kernels) {
    if (!kernel.refusal.ok()) return kernel.refusal;
  }
  std::shared_ptr<LoadedModule> module(
      new LoadedModule(device, std::move(ptx), *std::move(info)));
  absl::Status placed = module->PlaceData();
  if (!placed.ok()) return placed;
  return module;
}

LoadedModule::~LoadedModule() {
  if (allocation_ != 0) Processor::Of(device_).Free(allocation_);
}

absl::Status LoadedModule::PlaceData() {
  if (info_.data_size == 0) return absl::OkStatus();
  const uint64_t align = info_.data_align;
  absl::StatusOr<uint64_t> address =
      Processor::Of(device_).Allocate(info_.data_size + align);
  if (!address.ok()) return address.status();
  allocation_ = *address;
  data_ = (allocation_ + align - 1) / align * align;
  std::string content = info_.data_init;
  content.resize(info_.data_size);
  for (const Relocation& relocation : info_.relocations) {
    const bool function = relocation.kind == Relocation::Kind::kFunction;
    const uint64_t value = (function ? 0 : data_) + relocation.addend;
    std::memcpy(content.data() + relocation.offset, &value, sizeof(value));
  }
  std::memcpy(HostPointer(device_, data_), content.data(), content.size());
  return absl::OkStatus();
}

}  // namespace hetgpu::cuda::fake
