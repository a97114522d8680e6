#ifndef HETGPU_BACKENDS_REMOTE_DEVICE_H_
#define HETGPU_BACKENDS_REMOTE_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backends/common/driver.h"
#include "backends/remote/connection.h"

namespace hetgpu::remote {

// What is true of such a device when its server has it in another process: its
// addresses are its own, and the host sees none of them.
DeviceInfo AsRemote(DeviceInfo info);

// A device of a server process. Lost when the server's device is, or when the
// server is gone.
class RemoteDevice final : public Device {
 public:
  // Has the server open device `ordinal` of `backend`. `info` is what the
  // device is; the host cannot address its memory.
  static absl::StatusOr<std::unique_ptr<Device>> Open(
      std::shared_ptr<ServerProcess> process, const std::string& backend,
      uint32_t ordinal, DeviceInfo info, OpenOptions options);

  ~RemoteDevice() override;

  const DeviceInfo& info() const override { return info_; }
  absl::Status Lost() const override { return connection_->Lost(); }
  absl::StatusOr<MemoryExport> ExportMemory() override;
  // Returns when the server has ended, and with it what ran on its device.
  void ReleaseLost() override;
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override;
  absl::Status Free(uint64_t address) override;
  uint64_t FreeMemory() const override;
  uint64_t MapGranularity() const override { return map_granularity_; }
  absl::Status Map(uint64_t address, uint64_t bytes) override;
  absl::Status Unmap(uint64_t address, uint64_t bytes) override;
  // From any device: the contents go through the host.
  absl::Status TakeMapping(Device& from, uint64_t address,
                           uint64_t bytes) override;
  // Another device of a server: the contents go through the host.
  bool CanAccessPeer(const Device& other) const override;
  // A way to what the device has at an address now, for up to kSlotBytes; it
  // may outlive the device.
  std::function<absl::Status(char* dst, uint64_t src, uint64_t bytes)> Reader();
  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      const ModuleInfo& info, std::string_view source) override;
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const KernelInfo& info,
                                               std::string_view image) override;
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override;
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override;
  // Textures with storage of their own are written and read up to
  // kMaxTexelBytes.
  absl::StatusOr<std::unique_ptr<Texture>> CreateTexture(
      const TextureDesc& desc) override;
  absl::StatusOr<uint64_t> CooperativeLimit(const LaunchDesc& desc) override;
  absl::Status SetLimit(DeviceLimit limit, uint64_t bytes) override;
  absl::StatusOr<uint64_t> GetLimit(DeviceLimit limit) override;
  absl::Status CanRedirectPrintf() const override { return printing_; }
  void SetPrintf(std::function<void(std::string_view)> sink) override;

  pid_t server_pid() const { return connection_->process().pid(); }

 private:
  RemoteDevice(DeviceInfo info, std::shared_ptr<Connection> connection,
               const OpenReply& reply, bool unified);
  absl::Status CopyThroughHost(Device& from, uint64_t address, uint64_t bytes);
  // The reply, unless it or the way to it failed.
  template <typename Message>
  absl::StatusOr<typename Message::Reply> Ask(const Message& message) const;

  const DeviceInfo info_;
  const std::shared_ptr<Connection> connection_;
  const absl::Status printing_;
  const uint64_t map_granularity_;
  const bool unified_;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_DEVICE_H_
