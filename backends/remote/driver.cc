#include "backends/remote/driver.h"

#include <sys/resource.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/remote/device.h"

namespace hetgpu::remote {
namespace {

// As many descriptors as the process may have, for a while: exported memory
// takes one for each block.
class ManyFiles {
 public:
  ManyFiles() {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit most = before_;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
  }
  ~ManyFiles() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

class IsolatingDriver final : public Driver {
 public:
  explicit IsolatingDriver(std::unique_ptr<Driver> driver)
      : driver_(std::move(driver)) {}

  std::string_view name() const override { return driver_->name(); }

  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    auto infos = driver_->Enumerate();
    if (!infos.ok()) return infos;
    for (DeviceInfo& info : *infos) info = AsRemote(std::move(info));
    return infos;
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    return OpenWith(ordinal, {});
  }

  absl::StatusOr<std::unique_ptr<Device>> OpenWith(
      uint32_t ordinal, OpenOptions options) override {
    auto infos = Enumerate();
    if (!infos.ok()) return infos.status();
    if (ordinal >= infos->size()) {
      return absl::UnavailableError(
          absl::StrCat("remote: no device ", ordinal, ": there are ",
                       infos->size()));
    }
    return OpenRemote(std::string(name()), ordinal, (*infos)[ordinal],
                      std::move(options));
  }

  absl::StatusOr<Reopened> Reopen(uint32_t ordinal, Device& lost) override {
    return ReopenRemote(std::string(name()), ordinal, lost);
  }

 private:
  const std::unique_ptr<Driver> driver_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenRemote(const std::string& backend,
                                                   uint32_t ordinal,
                                                   const DeviceInfo& info,
                                                   OpenOptions options) {
  auto process = ServerProcess::Start();
  if (!process.ok()) return process.status();
  return RemoteDevice::Open(*std::move(process), backend, ordinal, info,
                            std::move(options));
}

absl::StatusOr<Reopened> ReopenRemote(const std::string& backend,
                                      uint32_t ordinal, Device& lost) {
  const ManyFiles many_files;
  auto memory = lost.ExportMemory();
  if (!memory.ok()) {
    return absl::UnavailableError(absl::StrCat(
        "its memory cannot be had: ", memory.status().message()));
  }
  Reopened reopened;
  for (const MemoryExport::Range& range : memory->allocations) {
    reopened.bytes_kept += range.bytes;
  }
  OpenOptions options;
  options.unified = memory->unified;
  options.memory = *std::move(memory);
  auto device =
      OpenRemote(backend, ordinal, lost.info(), std::move(options));
  if (!device.ok()) return device.status();
  // Before the new device is used: what still runs on the old one may write.
  lost.ReleaseLost();
  reopened.device = *std::move(device);
  reopened.how = "re-opened in a process of its own";
  return reopened;
}

std::unique_ptr<Driver> Isolate(std::unique_ptr<Driver> driver) {
  return std::make_unique<IsolatingDriver>(std::move(driver));
}

}  // namespace hetgpu::remote
