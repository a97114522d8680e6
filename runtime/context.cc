#include "runtime/context.h"

#include <optional>
#include <utility>

#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/function.h"
#include "runtime/module.h"
#include "runtime/shared_device.h"
#include "runtime/status_macros.h"
#include "runtime/stream.h"
#include "runtime/texture.h"
#include "runtime/traced_queue.h"

namespace hetgpu::runtime {
namespace {

constexpr size_t kMaxRetiredEvents = 1024;

template <typename T>
void RemoveHandle(uint64_t handle) {
  (void)HandleTable<T>::Get().Remove(
      reinterpret_cast<typename T::Handle>(handle));
}

void RemoveChildHandle(uint64_t handle) {
  switch (static_cast<HandleKind>(handle >> 60)) {
    case HandleKind::kStream:
      return RemoveHandle<Stream>(handle);
    case HandleKind::kEvent:
      return RemoveHandle<Event>(handle);
    case HandleKind::kTexture:
      return RemoveHandle<Texture>(handle);
    case HandleKind::kModule:
      return RemoveHandle<Module>(handle);
    case HandleKind::kFunction:
      return RemoveHandle<Function>(handle);
    case HandleKind::kDevice:
    case HandleKind::kContext:
      return;
  }
}

std::optional<DeviceLimit> DeviceLimitOf(hetgpuLimit limit) {
  switch (limit) {
    case HETGPU_LIMIT_STACK_BYTES:
      return DeviceLimit::kStackBytes;
    case HETGPU_LIMIT_HEAP_BYTES:
      return DeviceLimit::kHeapBytes;
    default:
      return std::nullopt;
  }
}

absl::Status NotUnified() {
  return Error(HETGPU_ERROR_UNSUPPORTED,
               "limit HETGPU_LIMIT_RESIDENT_BYTES: the context is not unified");
}

absl::Status NoLimit(hetgpuLimit limit) {
  return Error(HETGPU_ERROR_INVALID_VALUE, "limit ", static_cast<int>(limit),
               " does not exist");
}

absl::Status LimitError(DeviceLimit limit, const absl::Status& status) {
  return Annotate(ResultOf(status),
                  limit == DeviceLimit::kStackBytes
                      ? "limit HETGPU_LIMIT_STACK_BYTES"
                      : "limit HETGPU_LIMIT_HEAP_BYTES",
                  status);
}

}  // namespace

Context::Context(std::shared_ptr<Device> device,
                 std::unique_ptr<hetgpu::Device> backend)
    : device_(std::move(device)),
      opening_(std::make_shared<Opening>(std::move(backend))),
      present_(opening_.get()),
      trace_process_(TraceContext(
          Cat(info().backend, ":", device_->backend_ordinal()))) {}

Context::~Context() { host_memory_.Clear(opening_->device()); }

absl::StatusOr<std::shared_ptr<Context>> Context::Create(
    std::shared_ptr<Device> device, uint32_t flags) {
  std::shared_ptr<UnifiedMember> unified;
  std::unique_ptr<hetgpu::Device> backend;
  if ((flags & HETGPU_CONTEXT_UNIFIED) != 0) {
    HETGPU_ASSIGN_OR_RETURN(UnifiedMemory* const memory, UnifiedMemory::Get());
    HETGPU_ASSIGN_OR_RETURN(unified, memory->Join(device));
    backend = Share(unified->device());
  } else {
    HETGPU_ASSIGN_OR_RETURN(backend, device->Open());
  }
  std::shared_ptr<Context> context(
      new Context(std::move(device), std::move(backend)));
  if (unified) {
    context->allocations_.SetShared(&unified->memory().allocations());
    context->unified_ = std::move(unified);
    context->unified_->OnLoss([weak = std::weak_ptr(context)] {
      if (const auto alive = weak.lock()) alive->LeaveStreams();
    });
  }
  context->handle_ = HandleTable<Context>::Get().Insert(context);
  auto stream = Stream::Create(context);
  if (!stream.ok()) {
    (void)HandleTable<Context>::Get().Remove(context->handle_);
    return stream.status();
  }
  context->default_stream_ = *std::move(stream);
  return context;
}

std::shared_ptr<Opening> Context::opening() const {
  std::lock_guard lock(mutex_);
  return opening_;
}

bool Context::IsClosed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

void Context::MoveTo(std::unique_ptr<hetgpu::Device> device,
                     std::string account) {
  auto next = std::make_shared<Opening>(std::move(device));
  std::lock_guard lock(mutex_);
  if (print_) next->device().SetPrintf(print_);
  for (const auto& [limit, value] : limits_) {
    if (auto set = next->device().SetLimit(limit, value); !set.ok()) {
      account += Cat("; not kept: ", LimitError(limit, set).message());
    }
  }
  opening_->SetAccount(std::move(account));
  opening_.swap(next);
  present_ = opening_.get();
  host_memory_.MoveTo(opening_->device());
}

void Context::LeaveStreams() {
  const std::shared_ptr<Opening> used = opening();
  for (const auto& stream : Streams()) stream->Leave(*used);
}

absl::StatusOr<Reopened> Context::Reopen(Opening& lost) {
  if (!unified_) return device_->Reopen(lost.device());
  HETGPU_ASSIGN_OR_RETURN(auto moved,
                          unified_->memory().Reopen(unified_->location()));
  return Reopened{Share(std::move(moved.device)), moved.how, moved.bytes_kept};
}

bool Context::MoveIfLost(Opening& opening) {
  if (!IsPresent(opening)) return true;
  if (opening.device().Lost().ok()) return false;
  std::lock_guard moving(move_mutex_);
  if (!IsPresent(opening)) return true;
  if (IsClosed() || !opening.account().empty()) return false;
  for (const auto& stream : Streams()) stream->Leave(opening);
  auto reopened = Reopen(opening);
  if (!reopened.ok()) {
    opening.SetAccount(Cat("the device could not be re-opened: ",
                           reopened.status().message()));
    return false;
  }
  const uint64_t lost = LeaveModules();
  MoveTo(std::move(reopened->device),
         Cat("the device was ", reopened->how, "; kept: ", reopened->bytes_kept,
             " bytes of allocations, at their addresses; lost: work in flight",
             lost == 0 ? ""
                       : Cat(", ", lost,
                             " bytes of module variables that the driver held "
                             "(they are initialised anew and may lie elsewhere)")));
  return true;
}

std::shared_ptr<Stream> Context::default_stream() const {
  std::lock_guard lock(mutex_);
  return default_stream_;
}

absl::StatusOr<uint64_t> Context::Allocate(uint64_t bytes) {
  if (bytes == 0) {
    return Error(HETGPU_ERROR_INVALID_VALUE,
                 "allocation of 0 bytes, expected at least 1");
  }
  if (unified_) return AllocateUnified(bytes);
  if (bytes > info().total_memory) {
    return Error(HETGPU_ERROR_OUT_OF_MEMORY, "allocation of ", bytes,
                 " bytes: the device has ", info().total_memory);
  }
  auto address = OnDevice(
      [&](Opening& opening) { return opening.device().Allocate(bytes); });
  if (!address.ok()) {
    return Annotate(ResultOf(address.status()),
                    Cat("allocation of ", bytes, " bytes"), address.status());
  }
  allocations_.Add({*address, bytes});
  Count(HETGPU_COUNTER_ALLOCATIONS);
  return address;
}

absl::StatusOr<uint64_t> Context::AllocateUnified(uint64_t bytes) {
  auto address = unified_->memory().Allocate(bytes);
  if (!address.ok()) {
    return Annotate(HETGPU_ERROR_OUT_OF_MEMORY,
                    Cat("unified allocation of ", bytes, " bytes"),
                    address.status());
  }
  Count(HETGPU_COUNTER_ALLOCATIONS);
  return address;
}

absl::Status Context::Advise(uint64_t address, hetgpuMemAdvice advice) {
  if (unified_ && !allocations_.Holding(address)) {
    return unified_->memory().Advise(address, advice);
  }
  return allocations_.SetAdvice(address, advice);
}

absl::Status Context::Free(uint64_t address) {
  if (address == 0) return absl::OkStatus();
  if (unified_ && !allocations_.Holding(address)) {
    WaitIdle();
    return unified_->memory().Free(address);
  }
  HETGPU_RETURN_IF_ERROR(allocations_.Remove(address));
  WaitIdle();
  return OnDevice(
      [&](Opening& opening) { return opening.device().Free(address); });
}

uint64_t Context::FreeMemory() {
  const std::shared_ptr<Opening> used = opening();
  if (!MoveIfLost(*used)) return used->device().FreeMemory();
  return opening()->device().FreeMemory();
}

void Context::Disown(uint64_t handle) {
  std::lock_guard lock(mutex_);
  children_.erase(handle);
}

void Context::AddStream(const std::shared_ptr<Stream>& stream) {
  std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& weak) { return weak.expired(); });
  streams_.push_back(stream);
}

void Context::AddModule(const std::shared_ptr<ModuleState>& module) {
  std::lock_guard lock(mutex_);
  std::erase_if(modules_, [](const auto& weak) { return weak.expired(); });
  modules_.push_back(module);
}

uint64_t Context::LeaveModules() {
  std::vector<std::shared_ptr<ModuleState>> alive;
  {
    std::lock_guard lock(mutex_);
    for (const auto& weak : modules_) {
      if (auto module = weak.lock()) alive.push_back(std::move(module));
    }
  }
  uint64_t bytes = 0;
  for (const auto& module : alive) bytes += module->Leave();
  return bytes;
}

std::vector<std::shared_ptr<Stream>> Context::Streams() {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> alive;
  for (const auto& weak : streams_) {
    if (auto stream = weak.lock()) alive.push_back(std::move(stream));
  }
  return alive;
}

absl::Status Context::Synchronize() {
  const std::vector<RetiredEvent> passed = TakeRetired();
  absl::Status first;
  for (const auto& stream : Streams()) {
    // A second failure stays with its stream.
    if (first.ok()) {
      first = stream->Synchronize();
    } else {
      stream->Settle();
    }
  }
  return first;
}

void Context::WaitIdle() {
  const std::vector<RetiredEvent> passed = TakeRetired();
  for (const auto& stream : Streams()) stream->Settle();
}

std::vector<Context::RetiredEvent> Context::TakeRetired() {
  std::lock_guard lock(mutex_);
  return std::exchange(retired_, {});
}

void Context::Retire(std::shared_ptr<hetgpu::Event> event, bool awaited) {
  std::lock_guard lock(mutex_);
  // A program that records in a loop may never wait for the whole context.
  if (retired_.size() >= kMaxRetiredEvents) {
    std::erase_if(retired_, [](const RetiredEvent& retired) {
      return !retired.awaited && retired.event->Done();
    });
  }
  retired_.push_back({std::move(event), awaited});
}

void Context::Close() {
  std::set<uint64_t> children;
  std::shared_ptr<Stream> default_stream;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    children.swap(children_);
    default_stream.swap(default_stream_);
  }
  WaitIdle();
  for (const uint64_t handle : children) RemoveChildHandle(handle);
}

absl::Status Context::SetLimit(hetgpuLimit limit, uint64_t value) {
  if (limit == HETGPU_LIMIT_LAUNCH_TIMEOUT_MS) {
    launch_timeout_ms_ = value;
    return absl::OkStatus();
  }
  if (limit == HETGPU_LIMIT_RESIDENT_BYTES) {
    if (!unified_) return NotUnified();
    unified_->memory().SetResidentLimit(unified_->location(), value);
    return absl::OkStatus();
  }
  const auto of_device = DeviceLimitOf(limit);
  if (!of_device) return NoLimit(limit);
  std::lock_guard lock(mutex_);
  if (auto set = opening_->device().SetLimit(*of_device, value); !set.ok()) {
    return LimitError(*of_device, set);
  }
  limits_[*of_device] = value;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Context::GetLimit(hetgpuLimit limit) const {
  if (limit == HETGPU_LIMIT_LAUNCH_TIMEOUT_MS) return launch_timeout_ms_.load();
  if (limit == HETGPU_LIMIT_RESIDENT_BYTES) {
    if (!unified_) return NotUnified();
    return unified_->memory().ResidentLimit(unified_->location());
  }
  const auto of_device = DeviceLimitOf(limit);
  if (!of_device) return NoLimit(limit);
  auto value = opening()->device().GetLimit(*of_device);
  if (!value.ok()) return LimitError(*of_device, value.status());
  return value;
}

absl::Status Context::SetPrintf(hetgpuPrintfCallback callback, void* user) {
  std::function<void(std::string_view)> print;
  if (callback != nullptr) {
    print = [callback, user](std::string_view text) {
      callback(user, text.data(), text.size());
    };
  }
  std::lock_guard lock(mutex_);
  if (auto can = opening_->device().CanRedirectPrintf(); print && !can.ok()) {
    return Annotate(HETGPU_ERROR_UNSUPPORTED, "printf callback", can);
  }
  print_ = print;
  opening_->device().SetPrintf(std::move(print));
  return absl::OkStatus();
}

absl::Status CheckSameContext(const Context& a, const Context& b,
                              std::string_view what) {
  if (&a == &b) return absl::OkStatus();
  return Error(HETGPU_ERROR_WRONG_CONTEXT, what,
               ": belong to two contexts, on ", a.info().backend, ":",
               a.device().backend_ordinal(), " and ", b.info().backend, ":",
               b.device().backend_ordinal());
}

}  // namespace hetgpu::runtime
