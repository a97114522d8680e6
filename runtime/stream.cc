#include "runtime/stream.h"

#include <utility>

#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/function.h"
#include "runtime/launch.h"
#include "runtime/status_macros.h"
#include "runtime/traced_queue.h"
#include "runtime/unified_queue.h"

namespace hetgpu::runtime {
namespace {

absl::Status CheckHost(const void* pointer, std::string_view what) {
  if (pointer != nullptr) return absl::OkStatus();
  return Error(HETGPU_ERROR_INVALID_VALUE, what, ": null host pointer");
}

// Counts a launch when it has been given to the queue, or will not be.
class Given {
 public:
  explicit Given(std::atomic<uint64_t>& count) : count_(count) {}
  ~Given() { count_.fetch_add(1, std::memory_order_release); }

 private:
  std::atomic<uint64_t>& count_;
};

bool Overlap(uint64_t a, uint64_t b, uint64_t bytes) {
  return a < b ? b - a < bytes : a - b < bytes;
}

absl::Status CheckFill(uint64_t dst, uint32_t pattern_bytes, uint64_t count) {
  if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4 &&
      pattern_bytes != 8) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "fill: pattern of ", pattern_bytes,
                 " bytes, expected 1, 2, 4 or 8");
  }
  if (dst % pattern_bytes != 0) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "fill: address 0x", absl::Hex(dst),
                 " is not a multiple of the pattern's ", pattern_bytes,
                 " bytes");
  }
  if (count > UINT64_MAX / pattern_bytes) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "fill: ", count, " times ",
                 pattern_bytes, " bytes overflows");
  }
  return absl::OkStatus();
}

}  // namespace

Stream::Stream(std::shared_ptr<Context> context)
    : context_(std::move(context)) {}

Stream::~Stream() { Settle(); }

absl::StatusOr<std::shared_ptr<Stream>> Stream::Create(
    std::shared_ptr<Context> context) {
  std::shared_ptr<Stream> stream(new Stream(std::move(context)));
  HETGPU_RETURN_IF_ERROR(
      stream->Enqueue([](const Place&) { return absl::OkStatus(); }));
  HETGPU_ASSIGN_OR_RETURN(stream->handle_, stream->context_->Adopt(stream));
  stream->context_->AddStream(stream);
  return stream;
}

// Nothing runs on a device that is lost, so this does not wait.
absl::Status Stream::Follow(std::shared_ptr<Opening> opening) {
  bool skips = false;
  if (place_) {
    LaunchError error;
    absl::Status status = place_->queue->Synchronize(&error);
    skips = place_->skips || !status.ok();
    KeepFailure(std::move(status), std::move(error), place_->opening);
    // Who is about to launch in another thread holds the kernel by this alone;
    // the next Settle() lets it go.
    if (launches_given_ == launches_begun_) in_flight_.clear();
  }
  HETGPU_ASSIGN_OR_RETURN(auto queue, opening->device().CreateQueue());
  queue = WithTrace(context_->trace_process(), opening->device(),
                    std::move(queue));
  if (const auto& member = context_->unified()) {
    queue = std::make_unique<UnifiedQueue>(member, opening->device(),
                                           std::move(queue));
  }
  auto place = std::make_shared<Place>();
  place->queue = opening->Own(std::move(queue));
  place->opening = std::move(opening);
  place->skips = skips;
  SetPlace(std::move(place));
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Stream::Place>> Stream::Enter(
    std::shared_ptr<Opening>* tried) {
  std::lock_guard lock(mutex_);
  if (!place_ || !context_->IsPresent(*place_->opening)) {
    *tried = context_->opening();
    HETGPU_RETURN_IF_ERROR(Follow(*tried));
  }
  return place_;
}

template <typename Command>
absl::Status Stream::Enqueue(Command command, bool always) {
  for (int moves = 0;; ++moves) {
    std::shared_ptr<Opening> tried;
    const auto place = Enter(&tried);
    if (place.ok() && (*place)->skips && !always) return absl::OkStatus();
    const absl::Status status = place.ok() ? command(**place) : place.status();
    if (status.ok() || moves == Context::kMaxMoves) return status;
    const auto used = place.ok() ? (*place)->opening : tried;
    if (!context_->MoveIfLost(*used)) return status;
  }
}

absl::Status Stream::CopyToDevice(uint64_t dst, const void* src,
                                  uint64_t bytes, bool now) {
  if (bytes == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(CheckHost(src, "copy to device, source"));
  HETGPU_RETURN_IF_ERROR(context_->allocations().CheckRange(
      "copy to device, destination", dst, bytes));
  HETGPU_RETURN_IF_ERROR(Enqueue([&](const Place& place) {
    return now ? place.queue->CopyToDeviceNow(dst, src, bytes)
               : place.queue->CopyToDevice(dst, src, bytes);
  }));
  Count(HETGPU_COUNTER_BYTES_TO_DEVICE, bytes);
  return absl::OkStatus();
}

absl::Status Stream::CopyFromDevice(void* dst, uint64_t src, uint64_t bytes,
                                    bool now) {
  if (bytes == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(CheckHost(dst, "copy from device, destination"));
  HETGPU_RETURN_IF_ERROR(context_->allocations().CheckRange(
      "copy from device, source", src, bytes));
  HETGPU_RETURN_IF_ERROR(Enqueue([&](const Place& place) {
    return now ? place.queue->CopyFromDeviceNow(dst, src, bytes)
               : place.queue->CopyFromDevice(dst, src, bytes);
  }));
  Count(HETGPU_COUNTER_BYTES_FROM_DEVICE, bytes);
  return absl::OkStatus();
}

absl::Status Stream::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const AllocationTable& allocations = context_->allocations();
  HETGPU_RETURN_IF_ERROR(
      allocations.CheckRange("copy on device, source", src, bytes));
  HETGPU_RETURN_IF_ERROR(
      allocations.CheckRange("copy on device, destination", dst, bytes));
  if (Overlap(dst, src, bytes)) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "copy on device: ", bytes,
                 " bytes at 0x", absl::Hex(src), " and 0x", absl::Hex(dst),
                 " overlap");
  }
  HETGPU_RETURN_IF_ERROR(Enqueue([&](const Place& place) {
    return place.queue->Copy(dst, src, bytes);
  }));
  Count(HETGPU_COUNTER_BYTES_ON_DEVICE, bytes);
  return absl::OkStatus();
}

absl::Status Stream::Fill(uint64_t dst, uint64_t pattern,
                          uint32_t pattern_bytes, uint64_t count) {
  HETGPU_RETURN_IF_ERROR(CheckFill(dst, pattern_bytes, count));
  if (count == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(context_->allocations().CheckRange(
      "fill, destination", dst, count * pattern_bytes));
  HETGPU_RETURN_IF_ERROR(Enqueue([&](const Place& place) {
    return place.queue->Fill(dst, pattern, pattern_bytes, count);
  }));
  Count(HETGPU_COUNTER_BYTES_ON_DEVICE, count * pattern_bytes);
  return absl::OkStatus();
}

absl::Status Stream::Prefetch(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(
      context_->allocations().CheckRange("prefetch", address, bytes));
  if (!context_->unified()) return absl::OkStatus();
  return Enqueue([&](const Place& place) {
    return static_cast<UnifiedQueue&>(*place.queue).Prefetch(address, bytes);
  });
}

absl::Status Stream::HostFunction(hetgpuHostFunction function, void* user) {
  if (function == nullptr) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "host function: null function");
  }
  return Enqueue([&](const Place& place) {
    return place.queue->HostFunction([function, user] { function(user); });
  });
}

void Stream::SetPlace(std::shared_ptr<const Place> place) {
  place_ = std::move(place);
  last_.reset();
}

std::shared_ptr<const Stream::Place> Stream::LikeLast(LaunchDesc& desc) {
  std::lock_guard lock(mutex_);
  if (!last_ || last_->info != desc.info || desc.cooperative ||
      last_->grid != desc.grid || last_->block != desc.block ||
      last_->dynamic_shared_bytes != desc.dynamic_shared_bytes ||
      !context_->IsPresent(*place_->opening)) {
    return nullptr;
  }
  if (!last_in_flight_) {
    auto prepared = last_->prepared.lock();
    if (!prepared) return nullptr;
    in_flight_.insert(std::move(prepared));
    last_in_flight_ = true;
  }
  desc.kernel = last_->kernel;
  ++launches_begun_;
  return place_;
}

absl::StatusOr<std::shared_ptr<const PreparedKernel>> Stream::Engage(
    const Place& place, const LaunchDesc& desc, Function& function) {
  HETGPU_ASSIGN_OR_RETURN(auto prepared, function.Prepare(*place.opening));
  std::lock_guard lock(mutex_);
  in_flight_.insert(prepared);
  ++launches_begun_;
  if (place_.get() == &place) {
    last_ = {prepared,   desc.info,  prepared->kernel.get(),
             desc.grid,  desc.block, desc.dynamic_shared_bytes};
    last_in_flight_ = true;
  }
  return prepared;
}

absl::Status Stream::LaunchAnew(LaunchDesc& desc, Function& function) {
  HETGPU_RETURN_IF_ERROR(CheckShape(
      *desc.info, context_->info(),
      {desc.grid, desc.block, desc.dynamic_shared_bytes, desc.cooperative}));
  return Enqueue([&](const Place& place) -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto prepared,
                            Engage(place, desc, function));
    const Given given(launches_given_);
    desc.kernel = prepared->kernel.get();
    if (desc.cooperative) {
      HETGPU_RETURN_IF_ERROR(
          CheckCooperative(place.opening->device(), desc));
    }
    return place.queue->Launch(desc);
  });
}

absl::Status Stream::Launch(LaunchDesc& desc, Function& function) {
  absl::Status status;
  const auto place = LikeLast(desc);
  if (place) {
    const Given given(launches_given_);
    status = place->queue->Launch(desc);
  }
  if (!place || (!status.ok() && context_->MoveIfLost(*place->opening))) {
    status = LaunchAnew(desc, function);
  }
  if (status.ok()) Count(HETGPU_COUNTER_LAUNCHES);
  return status;
}

absl::Status Stream::Record(Event& event) {
  return Enqueue(
      [&](const Place& place) {
        return event.Record(*place.opening, *place.queue);
      },
      /*always=*/true);
}

absl::Status Stream::Wait(Event& event) {
  return Enqueue([&](const Place& place) {
    return event.Delay(*place.opening, *place.queue);
  });
}

void Stream::KeepFailure(absl::Status status, LaunchError error,
                         std::shared_ptr<Opening> opening) {
  if (status.ok() || failure_) return;
  failure_.emplace();
  failure_->opening = std::move(opening);
  if (error.kind == LaunchError::Kind::kNone) {
    failure_->status = std::move(status);
    return;
  }
  failure_->status = Error(ResultOf(error.kind), status.message());
  failure_->launch = std::move(error);
}

void Stream::Leave(const Opening& opening) {
  std::lock_guard lock(mutex_);
  if (!place_ || place_->opening.get() != &opening) return;
  LaunchError error;
  absl::Status status = place_->queue->Synchronize(&error);
  if (status.ok()) return;
  KeepFailure(std::move(status), std::move(error), place_->opening);
  auto place = std::make_shared<Place>(*place_);
  place->skips = true;
  SetPlace(std::move(place));
}

void Stream::Settle() {
  std::shared_ptr<const Place> place;
  uint64_t begun = 0;
  bool all_given = false;
  {
    std::lock_guard lock(mutex_);
    place = place_;
    begun = launches_begun_;
    all_given = launches_given_ == begun;
  }
  if (!place) return;
  LaunchError error;
  absl::Status status = place->queue->Synchronize(&error);
  // The failure tells what became of the device.
  if (!status.ok()) context_->MoveIfLost(*place->opening);
  std::lock_guard lock(mutex_);
  // What other threads launch meanwhile has not passed: then all stay.
  if (place_ == place && all_given && launches_begun_ == begun) {
    in_flight_.clear();
    last_in_flight_ = false;
  }
  KeepFailure(std::move(status), std::move(error), place->opening);
}

absl::Status Stream::TakeFailure() {
  std::lock_guard lock(mutex_);
  if (!failure_) return absl::OkStatus();
  absl::Status status = std::move(failure_->status);
  const std::string account = failure_->opening->account();
  if (!account.empty()) {
    status = Error(ResultOf(status), status.message(), "; ", account);
  }
  if (failure_->launch) {
    std::string& detail = failure_->launch->detail;
    detail += Cat(detail.empty() || account.empty() ? "" : "; ", account);
    RememberLaunchError(*failure_->launch);
  }
  failure_.reset();
  if (place_->skips) {
    auto place = std::make_shared<Place>(*place_);
    place->skips = false;
    SetPlace(std::move(place));
  }
  return status;
}

// The failure may have been noted before the context moved, which tells what
// became of the device.
absl::Status Stream::Synchronize() {
  Settle();
  std::shared_ptr<Opening> failed;
  {
    std::lock_guard lock(mutex_);
    if (failure_) failed = failure_->opening;
  }
  if (failed) context_->MoveIfLost(*failed);
  return TakeFailure();
}

absl::Status Stream::Query() {
  std::shared_ptr<Opening> tried;
  HETGPU_ASSIGN_OR_RETURN(const auto place, Enter(&tried));
  if (!place->queue->Idle()) {
    return Error(HETGPU_ERROR_NOT_READY, "stream has work in flight");
  }
  return Synchronize();
}

void Stream::Cancel() {
  // A queue of a device that is lost has nothing to cancel.
  std::shared_ptr<Opening> tried;
  const auto place = Enter(&tried);
  if (place.ok()) (*place)->queue->Cancel();
}

}  // namespace hetgpu::runtime
