#include "backends/remote/kernel.h"

#include <utility>

namespace hetgpu::remote {

absl::StatusOr<std::unique_ptr<Kernel>> RemoteKernel::Load(
    std::shared_ptr<Connection> connection, uint64_t module,
    const KernelInfo& info, std::string_view image) {
  LoadKernel message;
  message.kernel = connection->NewNumber();
  message.module = module;
  message.info = info;
  message.image = image;
  auto reply = connection->Call(message);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  return std::unique_ptr<Kernel>(new RemoteKernel(
      std::move(connection), message.kernel,
      "in a process of its own: " + reply->text));
}

RemoteKernel::RemoteKernel(std::shared_ptr<Connection> connection,
                           uint64_t number, std::string explanation)
    : connection_(std::move(connection)),
      number_(number),
      explanation_(std::move(explanation)) {}

RemoteKernel::~RemoteKernel() {
  Destroy message;
  message.kind = Destroy::Kind::kKernel;
  message.object = number_;
  (void)connection_->Post(message);
}

absl::StatusOr<std::unique_ptr<DeviceModule>> RemoteModule::Load(
    std::shared_ptr<Connection> connection, const ModuleInfo& info,
    std::string_view source) {
  LoadModule message;
  message.module = connection->NewNumber();
  message.info = info;
  message.source = source;
  auto reply = connection->Call(message);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  if (reply->number == 0) return nullptr;
  return std::unique_ptr<DeviceModule>(
      new RemoteModule(std::move(connection), message.module));
}

RemoteModule::RemoteModule(std::shared_ptr<Connection> connection,
                           uint64_t number)
    : connection_(std::move(connection)), number_(number) {}

RemoteModule::~RemoteModule() {
  Destroy message;
  message.kind = Destroy::Kind::kModule;
  message.object = number_;
  (void)connection_->Post(message);
}

absl::StatusOr<uint64_t> RemoteModule::SymbolAddress(
    const SymbolInfo& symbol) {
  remote::SymbolAddress message;
  message.module = number_;
  message.symbol = symbol;
  const auto reply = connection_->Call(message);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  return reply->number;
}

absl::StatusOr<std::unique_ptr<Kernel>> RemoteModule::Load(
    const KernelInfo& info) {
  return RemoteKernel::Load(connection_, number_, info, "");
}

}  // namespace hetgpu::remote
