#include "backends/remote/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "memory/arena.h"

namespace hetgpu::remote {
namespace {

template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

MemoryExport TakeMemory(Open& message, std::vector<UniqueFd> handles) {
  MemoryExport memory;
  memory.reserved = std::move(message.reserved);
  memory.allocations = std::move(message.allocations);
  for (size_t i = 0; i < handles.size(); ++i) {
    memory.blocks.push_back({message.blocks[i], std::move(handles[i])});
  }
  return memory;
}

// Allocations of this process begin a quarter up, so that the addresses below,
// which the client uses first, are free for its mappings. False: they are not.
bool SetAside(memory::Arena& arena) {
  constexpr uint64_t kUnit = uint64_t{2} << 20;
  const bool is_free = arena.Take(arena.base(), kUnit);
  if (is_free) arena.Free(arena.base(), kUnit);
  arena.Take(arena.base() + arena.bytes() / 4, kUnit);
  return is_free;
}

absl::Status TakeOver(const MemoryExport::Range& arena) {
  constexpr uint64_t kPage = 4096, kLimit = uint64_t{1} << 47;
  const bool is_range = arena.address % kPage == 0 && arena.address != 0 &&
                        arena.bytes <= memory::kArenaBytes &&
                        arena.address <= kLimit - arena.bytes;
  if (!is_range) {
    return absl::InvalidArgumentError(
        absl::StrCat("remote: ", arena.bytes, " bytes at 0x",
                     absl::Hex(arena.address), " are no range of addresses"));
  }
  if (memory::Arena::Process().Place(arena.address, arena.bytes)) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(absl::StrCat(
      "remote: the server's addresses lie elsewhere than at 0x",
      absl::Hex(arena.address)));
}

absl::Status CheckLimit(DeviceLimit limit) {
  if (limit <= DeviceLimit::kHeapBytes) return absl::OkStatus();
  return absl::InvalidArgumentError("remote: there is no such limit");
}

// What the runtime checks before, which the device relies on.
absl::Status CheckTexture(const TextureDesc& desc) {
  constexpr uint64_t kMaxTexels = uint64_t{1} << 32;
  bool ok = desc.type <= ScalarType::kF64 &&
            (desc.channels == 1 || desc.channels == 2 || desc.channels == 4) &&
            desc.dimensions >= 1 && desc.dimensions <= 3 && desc.width != 0 &&
            desc.height != 0 && desc.depth != 0 && desc.width <= kMaxTexels &&
            desc.height <= kMaxTexels / desc.width &&
            desc.depth <= kMaxTexels / desc.width / desc.height &&
            desc.filter <= TextureDesc::Filter::kLinear;
  for (const TextureDesc::AddressMode mode : desc.address_mode) {
    ok = ok && mode <= TextureDesc::AddressMode::kBorder;
  }
  return ok ? absl::OkStatus()
            : absl::InvalidArgumentError("remote: there is no such texture");
}

}  // namespace

Session::Session(UniqueFd socket, FindDriver find_driver,
                 std::function<void()> lost)
    : find_driver_(std::move(find_driver)),
      lost_(std::move(lost)),
      channel_(std::move(socket)),
      commands_(std::make_unique<Worker>()),
      control_(std::make_unique<Worker>()) {}

Session::~Session() {
  channel_.Close();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [number, queue] : queues_) queue->Close();
    for (const auto& [number, queue] : queues_) queue->Cancel();
  }
  commands_.reset();
  control_.reset();
  reader_.reset();
  queues_.clear();
  events_.clear();
  textures_.clear();
  kernels_.clear();
  modules_.clear();
}

absl::Status Session::Serve() {
  const absl::Status status =
      channel_.Serve([this](Frame& frame) { return Handle(frame); });
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [number, queue] : queues_) queue->Close();
  return status;
}

void Session::Refuse(const absl::Status& status) { channel_.Close(); }

void Session::CheckLost() {
  if (!opened_) return;
  const absl::Status status = device_->Lost();
  if (status.ok()) return;
  {
    // Nobody goes on before the message is sent.
    std::lock_guard<std::mutex> lock(lost_mutex_);
    if (std::exchange(told_lost_, true)) return;
    Lost message;
    message.status = status;
    (void)channel_.Send(message);
  }
  lost_();
}

template <typename T>
absl::StatusOr<std::shared_ptr<T>> Session::Find(const Objects<T>& objects,
                                                 uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = objects.find(number);
  if (found != objects.end()) return found->second;
  return absl::InvalidArgumentError(
      absl::StrCat("remote: there is no object ", number));
}

template <typename Reply>
void Session::Answer(uint64_t call, const Reply& reply) {
  if (!reply.status.ok()) CheckLost();
  (void)channel_.SendFrame(Type::kReply, call, Encode(reply), {}, false);
}

template <typename Message>
absl::Status Session::Post(Worker& worker, Frame& frame) {
  auto message = std::make_shared<Message>();
  absl::Status decoded = Decode(frame.payload, *message);
  if (!decoded.ok()) return decoded;
  worker.Post([this, message, call = frame.call] { On(*message, call); });
  return absl::OkStatus();
}

template <typename Message>
absl::Status Session::PostToQueue(Frame& frame) {
  auto message = std::make_shared<Message>();
  absl::Status decoded = Decode(frame.payload, *message);
  if (!decoded.ok()) return decoded;
  auto queue = Find(queues_, message->queue);
  if (!queue.ok()) return queue.status();
  commands_->Post([this, message, queue = *std::move(queue),
                   call = frame.call] { Do(*queue, *message, call); });
  return absl::OkStatus();
}

template <typename Message>
absl::Status Session::AnswerQueue(const Frame& frame) {
  Message message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  const auto queue = Find(queues_, message.queue);
  if (queue.ok()) (*queue)->Answer(message);
  return absl::OkStatus();  // the queue may be gone
}

absl::Status Session::Handle(Frame& frame) {
  if (frame.type == Type::kHandles) {
    for (UniqueFd& handle : frame.handles) {
      handles_.push_back(std::move(handle));
    }
    return absl::OkStatus();
  }
  if (!opened_) return HandleFirst(frame);
  switch (frame.type) {
#define HETGPU_CASE(name) \
  case Type::k##name:     \
    return AnswerQueue<name>(frame);
    HETGPU_REMOTE_ANSWERS(HETGPU_CASE)
#undef HETGPU_CASE
#define HETGPU_CASE(name) \
  case Type::k##name:     \
    return PostToQueue<name>(frame);
    HETGPU_REMOTE_QUEUE(HETGPU_CASE)
#undef HETGPU_CASE
#define HETGPU_CASE(name) \
  case Type::k##name:     \
    return Post<name>(*commands_, frame);
    HETGPU_REMOTE_COMMANDS(HETGPU_CASE)
#undef HETGPU_CASE
#define HETGPU_CASE(name) \
  case Type::k##name:     \
    return Post<name>(*control_, frame);
    HETGPU_REMOTE_CONTROL(HETGPU_CASE)
#undef HETGPU_CASE
    case Type::kCreateQueue:
      return HandleCreateQueue(frame);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("remote: message of type ",
                       static_cast<int>(frame.type), " is for the client"));
  }
}

absl::Status Session::HandleCreateQueue(Frame& frame) {
  CreateQueue message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  if (frame.handles.size() != 1) {
    return absl::InvalidArgumentError("remote: a queue without its ring");
  }
  MakeQueue(message.queue, frame.handles[0], frame.call);
  return absl::OkStatus();
}

absl::Status Session::HandleFirst(Frame& frame) {
  if (frame.type != Type::kOpen) {
    return absl::InvalidArgumentError("remote: the first message is not Open");
  }
  Open message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  auto device = OpenDevice(message);
  OpenReply reply;
  reply.status = device.status();
  if (device.ok()) {
    device_ = *std::move(device);
    reply.printing = device_->CanRedirectPrintf();
    reply.target = device_->info().target;
    const bool imported = !message.blocks.empty();
    const uint64_t granularity = device_->MapGranularity();
    if (granularity != 0 && (SetAside(memory::Arena::Process()) || imported)) {
      reply.map_granularity = granularity;
    }
    device_->SetPrintf([this](std::string_view text) {
      Printed printed;
      printed.text = text;
      (void)channel_.Send(printed);
    });
    opened_ = true;
  }
  Answer(frame.call, reply);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Device>> Session::OpenDevice(Open& message) {
  if (message.version != kVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("remote: the server speaks version ", kVersion,
                     ", the client ", message.version));
  }
  auto handles = std::exchange(handles_, {});
  if (handles.size() != message.blocks.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("remote: ", message.blocks.size(), " blocks, but ",
                     handles.size(), " handles"));
  }
  const auto driver = find_driver_(message.backend);
  if (!driver.ok()) return driver.status();
  OpenOptions options;
  options.disposable_process = true;
  options.unified = message.arena.bytes != 0;
  if (options.unified) {
    absl::Status placed = TakeOver(message.arena);
    if (!placed.ok()) return placed;
  }
  options.memory = TakeMemory(message, std::move(handles));
  return (*driver)->OpenWith(message.ordinal, std::move(options));
}

void Session::On(const Allocate& message, uint64_t call) {
  const auto address = device_->Allocate(message.bytes);
  NumberReply reply;
  reply.status = address.status();
  if (address.ok()) reply.number = *address;
  Answer(call, reply);
}

void Session::On(const Free& message, uint64_t call) {
  StatusReply reply;
  reply.status = device_->Free(message.address);
  Answer(call, reply);
}

void Session::On(const FreeMemory& message, uint64_t call) {
  NumberReply reply;
  reply.number = device_->FreeMemory();
  Answer(call, reply);
}

void Session::On(const ExportMemory& message, uint64_t call) {
  auto memory = device_->ExportMemory();
  MemoryReply reply;
  reply.status = memory.status();
  if (memory.ok()) {
    reply.reserved = memory->reserved;
    reply.allocations = memory->allocations;
    std::vector<UniqueFd> handles;
    for (MemoryExport::Block& block : memory->blocks) {
      reply.blocks.push_back(block.range);
      handles.push_back(std::move(block.handle));
    }
    (void)channel_.SendHandles(std::move(handles));
  }
  Answer(call, reply);
}

// What is imported holds its addresses already.
void Session::On(const Map& message, uint64_t call) {
  memory::Arena& arena = memory::Arena::Process();
  StatusReply reply;
  if (!arena.Take(message.address, message.bytes)) {
    reply.status = absl::UnavailableError(absl::StrCat(
        "remote: ", message.bytes, " bytes at 0x", absl::Hex(message.address),
        " are in use in the server"));
  } else {
    reply.status = device_->Map(message.address, message.bytes);
    if (!reply.status.ok()) arena.Free(message.address, message.bytes);
  }
  Answer(call, reply);
}

void Session::On(const Unmap& message, uint64_t call) {
  StatusReply reply;
  reply.status = device_->Unmap(message.address, message.bytes);
  if (reply.status.ok()) {
    memory::Arena::Process().Free(message.address, message.bytes);
  }
  Answer(call, reply);
}

void Session::On(const SetLimit& message, uint64_t call) {
  StatusReply reply;
  reply.status = CheckLimit(message.limit);
  if (reply.status.ok()) {
    reply.status = device_->SetLimit(message.limit, message.bytes);
  }
  Answer(call, reply);
}

void Session::On(const GetLimit& message, uint64_t call) {
  NumberReply reply;
  reply.status = CheckLimit(message.limit);
  if (reply.status.ok()) {
    const auto bytes = device_->GetLimit(message.limit);
    reply.status = bytes.status();
    if (bytes.ok()) reply.number = *bytes;
  }
  Answer(call, reply);
}

void Session::On(const CooperativeLimit& message, uint64_t call) {
  const auto kernel = Find(kernels_, message.kernel);
  if (!kernel.ok()) return Refuse(kernel.status());
  LaunchDesc desc;
  desc.kernel = (*kernel)->kernel.get();
  desc.info = &(*kernel)->info;
  desc.grid = message.grid;
  desc.block = message.block;
  desc.dynamic_shared_bytes = message.dynamic_shared_bytes;
  desc.cooperative = true;
  const auto limit = device_->CooperativeLimit(desc);
  NumberReply reply;
  reply.status = limit.status();
  if (limit.ok()) reply.number = *limit;
  Answer(call, reply);
}

void Session::On(const CreateTexture& message, uint64_t call) {
  NumberReply reply;
  reply.status = CheckTexture(message.desc);
  if (!reply.status.ok()) return Answer(call, reply);
  auto created = device_->CreateTexture(message.desc);
  reply.status = created.status();
  if (created.ok()) {
    auto texture = std::make_shared<ServerTexture>();
    texture->bytes = message.desc.Bytes();
    texture->texture = *std::move(created);
    reply.number = texture->texture->handle();
    std::lock_guard<std::mutex> lock(mutex_);
    textures_[message.texture] = std::move(texture);
  }
  Answer(call, reply);
}

void Session::On(const WriteTexture& message, uint64_t call) {
  const auto texture = Find(textures_, message.texture);
  if (!texture.ok()) return Refuse(texture.status());
  StatusReply reply;
  reply.status =
      message.texels.size() == (*texture)->bytes
          ? (*texture)->texture->Write(message.texels.data())
          : absl::InvalidArgumentError("remote: texels of another size");
  Answer(call, reply);
}

void Session::On(const ReadTexture& message, uint64_t call) {
  const auto texture = Find(textures_, message.texture);
  if (!texture.ok()) return Refuse(texture.status());
  TextReply reply;
  if ((*texture)->bytes > kMaxTexelBytes) {
    reply.status = absl::InvalidArgumentError("remote: too many texels");
  } else {
    reply.text.resize((*texture)->bytes);
    reply.status = (*texture)->texture->Read(reply.text.data());
  }
  Answer(call, reply);
}

void Session::On(const ReadMemory& message, uint64_t call) {
  TextReply reply;
  if (message.bytes > kSlotBytes) {
    reply.status = absl::InvalidArgumentError("remote: too many bytes to read");
    return Answer(call, reply);
  }
  if (reader_ == nullptr) {
    auto made = device_->CreateQueue();
    reply.status = made.status();
    if (made.ok()) reader_ = *std::move(made);
  }
  if (reader_ != nullptr) {
    reply.text.resize(message.bytes);
    reply.status = reader_->CopyFromDeviceNow(reply.text.data(),
                                              message.address, message.bytes);
    const absl::Status passed = reader_->Synchronize(nullptr);
    if (reply.status.ok()) reply.status = passed;
  }
  Answer(call, reply);
}

void Session::On(const LoadModule& message, uint64_t call) {
  auto module = device_->LoadModule(message.info, message.source);
  NumberReply reply;
  reply.status = module.status();
  if (module.ok() && *module != nullptr) {
    reply.number = 1;
    std::lock_guard<std::mutex> lock(mutex_);
    modules_[message.module] = *std::move(module);
  }
  Answer(call, reply);
}

void Session::On(const SymbolAddress& message, uint64_t call) {
  const auto module = Find(modules_, message.module);
  if (!module.ok()) return Refuse(module.status());
  const auto address = (*module)->SymbolAddress(message.symbol);
  NumberReply reply;
  reply.status = address.status();
  if (address.ok()) reply.number = *address;
  Answer(call, reply);
}

absl::StatusOr<std::unique_ptr<Kernel>> Session::Load(
    const LoadKernel& message) {
  if (message.module == 0) return device_->Load(message.info, message.image);
  const auto module = Find(modules_, message.module);
  if (!module.ok()) return module.status();
  return (*module)->Load(message.info);
}

void Session::On(const LoadKernel& message, uint64_t call) {
  auto loaded = Load(message);
  TextReply reply;
  reply.status = loaded.status();
  if (loaded.ok()) {
    reply.text = (*loaded)->Explain();
    auto kernel = std::make_shared<ServerKernel>();
    kernel->info = message.info;
    kernel->kernel = *std::move(loaded);
    std::lock_guard<std::mutex> lock(mutex_);
    kernels_[message.kernel] = std::move(kernel);
  }
  Answer(call, reply);
}

void Session::On(const Destroy& message, uint64_t call) {
  // Destroyed without the lock: it may wait.
  std::shared_ptr<void> dropped;
  const auto take = [&](auto& objects) {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = objects.find(message.object);
    if (found == objects.end()) return;
    dropped = std::move(found->second);
    objects.erase(found);
  };
  switch (message.kind) {
    case Destroy::Kind::kModule:
      return take(modules_);
    case Destroy::Kind::kKernel:
      return take(kernels_);
    case Destroy::Kind::kQueue:
      return take(queues_);
    case Destroy::Kind::kEvent:
      return take(events_);
    case Destroy::Kind::kTexture:
      return take(textures_);
  }
}

// One that is not there was reached long ago.
void Session::On(const QueryEvent& message, uint64_t call) {
  const auto event = Find(events_, message.event);
  NumberReply reply;
  if (!event.ok()) {
    reply.number = 1;
  } else if ((*event)->Done()) {
    CheckLost();
    reply.number = std::max<uint64_t>(1, (*event)->TimestampNs());
  }
  Answer(call, reply);
}

void Session::MakeQueue(uint64_t number, const UniqueFd& ring, uint64_t call) {
  StatusReply reply;
  auto opened = Ring::Open(ring);
  auto queue = device_->CreateQueue();
  reply.status = opened.ok() ? queue.status() : opened.status();
  if (reply.status.ok()) {
    std::lock_guard<std::mutex> lock(mutex_);
    queues_[number] = std::make_shared<ServerQueue>(
        number, *std::move(queue), *std::move(opened), channel_,
        [this] { CheckLost(); });
  }
  Answer(call, reply);
}

void Session::Do(ServerQueue& queue, const Launch& message, uint64_t call) {
  auto kernel = Find(kernels_, message.kernel);
  if (!kernel.ok()) return Refuse(kernel.status());
  queue.Enqueue(message, *std::move(kernel));
}

void Session::Do(ServerQueue& queue, const Record& message, uint64_t call) {
  auto made = device_->CreateEvent();
  if (!made.ok()) {
    // Nothing can be waited for: the event is reached.
    EventReached reached;
    reached.event = message.event;
    (void)channel_.Send(reached);
    return CheckLost();
  }
  std::shared_ptr<Event> event = *std::move(made);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    events_[message.event] = event;
  }
  queue.Enqueue(message, std::move(event));
}

void Session::Do(ServerQueue& queue, const Wait& message, uint64_t call) {
  auto event = Find(events_, message.event);
  // One that is not there was reached long ago.
  if (event.ok()) queue.Enqueue(message, *std::move(event));
}

void Session::Do(ServerQueue& queue, const Idle& message, uint64_t call) {
  NumberReply reply;
  reply.number = queue.Idle();
  Answer(call, reply);
}

void Session::Do(ServerQueue& queue, const Synchronize& message,
                 uint64_t call) {
  queue.Synchronize(call);
}

void Session::Do(ServerQueue& queue, const Cancel& message, uint64_t call) {
  queue.Cancel();
  Answer(call, StatusReply());
}

}  // namespace hetgpu::remote
