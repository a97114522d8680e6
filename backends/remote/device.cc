#include "backends/remote/device.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/remote/event.h"
#include "backends/remote/kernel.h"
#include "backends/remote/queue.h"

namespace hetgpu::remote {

absl::StatusOr<std::unique_ptr<Device>> RemoteDevice::Open(
    std::shared_ptr<ServerProcess> process, const std::string& backend,
    uint32_t ordinal, DeviceInfo info, MemoryExport memory) {
  auto connection = Connection::Open(std::move(process));
  if (!connection.ok()) return connection.status();
  remote::Open message;
  message.backend = backend;
  message.ordinal = ordinal;
  message.reserved = std::move(memory.reserved);
  message.allocations = std::move(memory.allocations);
  std::vector<UniqueFd> handles;
  for (MemoryExport::Block& block : memory.blocks) {
    message.blocks.push_back(block.range);
    handles.push_back(std::move(block.handle));
  }
  const absl::Status sent = (*connection)->SendHandles(std::move(handles));
  if (!sent.ok()) return sent;
  const auto reply = (*connection)->Call(message);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  info.host_addressable = false;
  return std::unique_ptr<Device>(
      new RemoteDevice(std::move(info), *std::move(connection),
                       reply->printing));
}

template <typename Message>
absl::StatusOr<typename Message::Reply> RemoteDevice::Ask(
    const Message& message) const {
  absl::Status lost = Lost();
  if (!lost.ok()) return lost;
  auto reply = connection_->Call(message);
  if (reply.ok() && !reply->status.ok()) return reply->status;
  return reply;
}

absl::StatusOr<MemoryExport> RemoteDevice::ExportMemory() {
  std::vector<UniqueFd> handles;
  auto reply =
      connection_->Call(remote::ExportMemory(), {}, &handles);
  if (!reply.ok()) return reply.status();
  if (!reply->status.ok()) return reply->status;
  if (handles.size() != reply->blocks.size()) {
    return absl::InternalError(
        absl::StrCat("remote: ", reply->blocks.size(), " blocks, but ",
                     handles.size(), " handles"));
  }
  MemoryExport memory;
  memory.reserved = std::move(reply->reserved);
  memory.allocations = std::move(reply->allocations);
  for (size_t i = 0; i < handles.size(); ++i) {
    memory.blocks.push_back({reply->blocks[i], std::move(handles[i])});
  }
  return memory;
}

void RemoteDevice::ReleaseLost() {
  connection_->process().Kill();
  (void)connection_->process().Fate();
}

absl::StatusOr<uint64_t> RemoteDevice::Allocate(uint64_t bytes) {
  remote::Allocate message;
  message.bytes = bytes;
  const auto reply = Ask(message);
  if (!reply.ok()) return reply.status();
  return reply->number;
}

absl::Status RemoteDevice::Free(uint64_t address) {
  remote::Free message;
  message.address = address;
  return Ask(message).status();
}

uint64_t RemoteDevice::FreeMemory() const {
  const auto reply = Ask(remote::FreeMemory());
  return reply.ok() ? reply->number : 0;
}

absl::StatusOr<std::unique_ptr<DeviceModule>> RemoteDevice::LoadModule(
    const ModuleInfo& info, std::string_view source) {
  absl::Status lost = Lost();
  if (!lost.ok()) return lost;
  return RemoteModule::Load(connection_, info, source);
}

absl::StatusOr<std::unique_ptr<Kernel>> RemoteDevice::Load(
    const KernelInfo& info, std::string_view image) {
  absl::Status lost = Lost();
  if (!lost.ok()) return lost;
  return RemoteKernel::Load(connection_, /*module=*/0, info, image);
}

absl::StatusOr<std::unique_ptr<Queue>> RemoteDevice::CreateQueue() {
  absl::Status lost = Lost();
  if (!lost.ok()) return lost;
  return RemoteQueue::Create(connection_);
}

absl::StatusOr<std::unique_ptr<Event>> RemoteDevice::CreateEvent() {
  return std::unique_ptr<Event>(std::make_unique<RemoteEvent>(connection_));
}

void RemoteDevice::SetPrintf(std::function<void(std::string_view)> sink) {
  connection_->SetPrintf(std::move(sink));
}

}  // namespace hetgpu::remote
