// Kernels and modules on the server, by number.
#ifndef HETGPU_BACKENDS_REMOTE_KERNEL_H_
#define HETGPU_BACKENDS_REMOTE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backends/common/driver.h"
#include "backends/remote/connection.h"

namespace hetgpu::remote {

class RemoteKernel final : public Kernel {
 public:
  // From the module of that number, or from an image when it is 0.
  static absl::StatusOr<std::unique_ptr<Kernel>> Load(
      std::shared_ptr<Connection> connection, uint64_t module,
      const KernelInfo& info, std::string_view image);
  ~RemoteKernel() override;

  std::string Explain() const override { return explanation_; }
  uint64_t number() const { return number_; }

 private:
  RemoteKernel(std::shared_ptr<Connection> connection, uint64_t number,
               std::string explanation);

  const std::shared_ptr<Connection> connection_;
  const uint64_t number_;
  const std::string explanation_;
};

class RemoteModule final : public DeviceModule {
 public:
  // Null when the device takes no sources.
  static absl::StatusOr<std::unique_ptr<DeviceModule>> Load(
      std::shared_ptr<Connection> connection, const ModuleInfo& info,
      std::string_view source);
  ~RemoteModule() override;

  absl::StatusOr<uint64_t> SymbolAddress(const SymbolInfo& symbol) override;
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const KernelInfo& info) override;

 private:
  RemoteModule(std::shared_ptr<Connection> connection, uint64_t number);

  const std::shared_ptr<Connection> connection_;
  const uint64_t number_;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_KERNEL_H_
