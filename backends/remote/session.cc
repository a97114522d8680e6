#include "backends/remote/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

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
  queues_.clear();
  events_.clear();
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
  if (status.ok() || told_lost_.exchange(true)) return;
  Lost message;
  message.status = status;
  (void)channel_.Send(message);
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
    case Type::kFilled:
    case Type::kTaken:
    case Type::kHostFunctionDone:
      return HandleAnswer(frame);
    case Type::kLaunch:
    case Type::kCopy:
    case Type::kCopyIn:
    case Type::kCopyOut:
    case Type::kFill:
    case Type::kHostFunction:
    case Type::kRecord:
    case Type::kWait:
    case Type::kIdle:
    case Type::kSynchronize:
    case Type::kCancel:
      return HandleCommand(frame);
    default:
      return HandleControl(frame);
  }
}

absl::Status Session::HandleAnswer(Frame& frame) {
  switch (frame.type) {
    case Type::kFilled:
      return AnswerQueue<Filled>(frame);
    case Type::kTaken:
      return AnswerQueue<Taken>(frame);
    default:
      return AnswerQueue<HostFunctionDone>(frame);
  }
}

absl::Status Session::HandleCommand(Frame& frame) {
  switch (frame.type) {
    case Type::kLaunch:
      return PostToQueue<Launch>(frame);
    case Type::kCopy:
      return PostToQueue<Copy>(frame);
    case Type::kCopyIn:
      return PostToQueue<CopyIn>(frame);
    case Type::kCopyOut:
      return PostToQueue<CopyOut>(frame);
    case Type::kFill:
      return PostToQueue<Fill>(frame);
    case Type::kHostFunction:
      return PostToQueue<HostFunction>(frame);
    case Type::kRecord:
      return PostToQueue<Record>(frame);
    case Type::kWait:
      return PostToQueue<Wait>(frame);
    case Type::kIdle:
      return PostToQueue<Idle>(frame);
    case Type::kSynchronize:
      return PostToQueue<Synchronize>(frame);
    default:
      return PostToQueue<Cancel>(frame);
  }
}

absl::Status Session::HandleControl(Frame& frame) {
  switch (frame.type) {
    case Type::kAllocate:
      return Post<Allocate>(*control_, frame);
    case Type::kFree:
      return Post<Free>(*control_, frame);
    case Type::kFreeMemory:
      return Post<FreeMemory>(*control_, frame);
    case Type::kExportMemory:
      return Post<ExportMemory>(*control_, frame);
    case Type::kLoadModule:
      return Post<LoadModule>(*control_, frame);
    case Type::kSymbolAddress:
      return Post<SymbolAddress>(*control_, frame);
    case Type::kLoadKernel:
      return Post<LoadKernel>(*control_, frame);
    case Type::kDestroy:
      return Post<Destroy>(*commands_, frame);
    case Type::kQueryEvent:
      return Post<QueryEvent>(*commands_, frame);
    case Type::kCreateQueue: {
      CreateQueue message;
      absl::Status decoded = Decode(frame.payload, message);
      if (!decoded.ok()) return decoded;
      if (frame.handles.size() != 1) {
        return absl::InvalidArgumentError("remote: a queue without its ring");
      }
      MakeQueue(message.queue, frame.handles[0], frame.call);
      return absl::OkStatus();
    }
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("remote: message of type ",
                       static_cast<int>(frame.type), " is for the client"));
  }
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
  }
}

// One that is not there was reached long ago.
void Session::On(const QueryEvent& message, uint64_t call) {
  const auto event = Find(events_, message.event);
  NumberReply reply;
  if (!event.ok()) {
    reply.number = 1;
  } else if ((*event)->Done()) {
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
