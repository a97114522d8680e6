#include "backends/cuda/driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/device.h"
#include "backends/cuda/library.h"
#include "backends/cuda/status_util.h"
#include "backends/remote/driver.h"

namespace hetgpu::cuda {
namespace {

absl::StatusOr<std::vector<DeviceInfo>> DescribeAll(const Library& library) {
  int count = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(library, DeviceGetCount, (&count));
  if (count == 0) return absl::UnavailableError("cuda: the driver has no GPU");
  std::vector<DeviceInfo> infos;
  for (int i = 0; i < count; ++i) {
    CUdevice device = 0;
    HETGPU_CUDA_RETURN_IF_ERROR(library, DeviceGet, (&device, i));
    absl::StatusOr<DeviceInfo> info = Describe(library, device);
    if (!info.ok()) return info.status();
    infos.push_back(*std::move(info));
  }
  return infos;
}

class CudaDriver final : public Driver {
 public:
  std::string_view name() const override { return "cuda"; }

  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    const absl::StatusOr<const Library*> library = OpenLibrary();
    if (!library.ok()) return library.status();
    return DescribeAll(**library);
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    return OpenWith(ordinal, {});
  }

  absl::StatusOr<std::unique_ptr<Device>> OpenWith(
      uint32_t ordinal, OpenOptions options) override {
    const absl::StatusOr<const Library*> library = OpenLibrary();
    if (!library.ok()) return library.status();
    absl::StatusOr<std::vector<DeviceInfo>> infos = DescribeAll(**library);
    if (!infos.ok()) return infos.status();
    if (ordinal >= infos->size()) {
      return absl::UnavailableError(absl::StrCat(
          "cuda: no device ", ordinal, ": there are ", infos->size()));
    }
    CUdevice device = 0;
    HETGPU_CUDA_RETURN_IF_ERROR(**library, DeviceGet,
                                (&device, static_cast<int>(ordinal)));
    const DeviceInfo info = (*infos)[ordinal];
    const bool can_end = options.disposable_process;
    const bool unified = options.unified;
    auto opened =
        CudaDevice::Open(**library, device, info, std::move(options));
    // A kernel has failed in this process before: no context can be made.
    if (absl::IsAborted(opened.status()) && !can_end) {
      OpenOptions elsewhere;
      elsewhere.unified = unified;
      return remote::OpenRemote("cuda", ordinal, info, std::move(elsewhere));
    }
    return opened;
  }

  absl::StatusOr<Reopened> Reopen(uint32_t ordinal, Device& lost) override {
    return remote::ReopenRemote("cuda", ordinal, lost);
  }
};

}  // namespace

std::unique_ptr<Driver> CreateDriver() {
  return std::make_unique<CudaDriver>();
}

}  // namespace hetgpu::cuda
