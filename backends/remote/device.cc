#include "backends/remote/device.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/remote/event.h"
#include "backends/remote/kernel.h"
#include "backends/remote/queue.h"
#include "backends/remote/texture.h"
#include "memory/arena.h"

namespace hetgpu::remote {
namespace {

// Where the addresses of this process lie, from now on for good.
MemoryExport::Range SettledArena() {
  memory::Arena& arena = memory::Arena::Process();
  arena.Place(arena.base(), arena.bytes());
  return {arena.base(), arena.bytes()};
}

// The devices of servers, to tell them from others.
class Registry {
 public:
  static Registry& Get() {
    static Registry* const registry = new Registry;
    return *registry;
  }
  void Add(const Device* device) {
    std::lock_guard<std::mutex> lock(mutex_);
    devices_.insert(device);
  }
  void Remove(const Device* device) {
    std::lock_guard<std::mutex> lock(mutex_);
    devices_.erase(device);
  }
  bool Has(const Device* device) {
    std::lock_guard<std::mutex> lock(mutex_);
    return devices_.count(device) != 0;
  }

 private:
  std::mutex mutex_;
  std::set<const Device*> devices_;
};

}  // namespace

RemoteDevice::RemoteDevice(DeviceInfo info,
                           std::shared_ptr<Connection> connection,
                           const OpenReply& reply, bool unified)
    : info_(std::move(info)),
      connection_(std::move(connection)),
      printing_(reply.printing),
      map_granularity_(reply.map_granularity),
      unified_(unified) {
  Registry::Get().Add(this);
}

RemoteDevice::~RemoteDevice() { Registry::Get().Remove(this); }

bool RemoteDevice::CanAccessPeer(const Device& other) const {
  return &other != this && Registry::Get().Has(&other);
}

std::function<absl::Status(char* dst, uint64_t src, uint64_t bytes)>
RemoteDevice::Reader() {
  return [connection = connection_](char* dst, uint64_t src, uint64_t bytes) {
    absl::Status lost = connection->Lost();
    if (!lost.ok()) return lost;
    ReadMemory message;
    message.address = src;
    message.bytes = bytes;
    const auto reply = connection->Call(message);
    if (!reply.ok()) return reply.status();
    if (!reply->status.ok()) return reply->status;
    if (reply->text.size() != bytes) {
      return absl::InternalError("remote: bytes of another number");
    }
    std::copy(reply->text.begin(), reply->text.end(), dst);
    return absl::OkStatus();
  };
}

// Its host functions may not wait: others' answers come by the same thread.
DeviceInfo AsRemote(DeviceInfo info) {
  info.host_addressable = false;
  info.has_host_pointers = false;
  info.host_functions_may_wait = false;
  info.address_domain = 0;
  return info;
}

absl::StatusOr<std::unique_ptr<Device>> RemoteDevice::Open(
    std::shared_ptr<ServerProcess> process, const std::string& backend,
    uint32_t ordinal, DeviceInfo info, OpenOptions options) {
  auto connection = Connection::Open(std::move(process));
  if (!connection.ok()) return connection.status();
  remote::Open message;
  message.backend = backend;
  message.ordinal = ordinal;
  MemoryExport& memory = options.memory;
  message.reserved = std::move(memory.reserved);
  message.allocations = std::move(memory.allocations);
  if (options.unified) message.arena = SettledArena();
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
  info = AsRemote(std::move(info));
  info.target = reply->target;
  return std::unique_ptr<Device>(
      new RemoteDevice(std::move(info), *std::move(connection),
                       *reply, options.unified));
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
  memory.unified = unified_;
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

absl::Status RemoteDevice::Map(uint64_t address, uint64_t bytes) {
  remote::Map message;
  message.address = address;
  message.bytes = bytes;
  return Ask(message).status();
}

absl::Status RemoteDevice::Unmap(uint64_t address, uint64_t bytes) {
  remote::Unmap message;
  message.address = address;
  message.bytes = bytes;
  return Ask(message).status();
}

absl::Status RemoteDevice::TakeMapping(Device& from, uint64_t address,
                                       uint64_t bytes) {
  absl::Status status = Map(address, bytes);
  if (!status.ok()) return status;
  status = CopyThroughHost(from, address, bytes);
  if (status.ok()) status = from.Unmap(address, bytes);
  if (!status.ok()) (void)Unmap(address, bytes);
  return status;
}

absl::Status RemoteDevice::CopyThroughHost(Device& from, uint64_t address,
                                           uint64_t bytes) {
  const auto out = from.CreateQueue();
  if (!out.ok()) return out.status();
  const auto in = CreateQueue();
  if (!in.ok()) return in.status();
  std::string piece(std::min(bytes, kSlotBytes), '\0');
  for (uint64_t done = 0; done < bytes; done += piece.size()) {
    const uint64_t count = std::min<uint64_t>(piece.size(), bytes - done);
    absl::Status status =
        (*out)->CopyFromDevice(piece.data(), address + done, count);
    if (status.ok()) status = (*out)->Synchronize(nullptr);
    if (status.ok()) {
      status = (*in)->CopyToDevice(address + done, piece.data(), count);
    }
    if (status.ok()) status = (*in)->Synchronize(nullptr);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Texture>> RemoteDevice::CreateTexture(
    const TextureDesc& desc) {
  absl::Status lost = Lost();
  if (!lost.ok()) return lost;
  return RemoteTexture::Create(connection_, desc);
}

absl::StatusOr<uint64_t> RemoteDevice::CooperativeLimit(
    const LaunchDesc& desc) {
  remote::CooperativeLimit message;
  message.kernel = static_cast<RemoteKernel*>(desc.kernel)->number();
  message.grid = desc.grid;
  message.block = desc.block;
  message.dynamic_shared_bytes = desc.dynamic_shared_bytes;
  const auto reply = Ask(message);
  if (!reply.ok()) return reply.status();
  return reply->number;
}

absl::Status RemoteDevice::SetLimit(DeviceLimit limit, uint64_t bytes) {
  remote::SetLimit message;
  message.limit = limit;
  message.bytes = bytes;
  return Ask(message).status();
}

absl::StatusOr<uint64_t> RemoteDevice::GetLimit(DeviceLimit limit) {
  remote::GetLimit message;
  message.limit = limit;
  const auto reply = Ask(message);
  if (!reply.ok()) return reply.status();
  return reply->number;
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
