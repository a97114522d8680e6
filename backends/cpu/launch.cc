#include "backends/cpu/launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "backends/cpu/watchdog.h"
#include "backends/cpu/worker.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kMaxChunk = 1 << 16;
constexpr uint64_t kChunksPerWorker = 8;

uint64_t NextGridId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Launch::Launch(const LaunchConfig& config, const LaunchServices& services)
    : config_(config), services_(services), grid_id_(NextGridId()) {
  block_count_ =
      static_cast<uint64_t>(config.grid.x) * config.grid.y * config.grid.z;
  thread_count_ = config.block.x * config.block.y * config.block.z;
  const uint32_t lanes = code().lanes_per_unit;
  unit_count_ = (thread_count_ + lanes - 1) / lanes;
  params_ = inline_params_;
  if (config.params.size() > sizeof(inline_params_)) {
    params_memory_ = GuardedMemory::Map(config.params.size());
    if (!params_memory_) {
      params_ = nullptr;
      RunOutOfMemory("the parameter block");
      return;
    }
    params_ = params_memory_.low();
  }
  std::memcpy(params_, config.params.data(), config.params.size());
  if (!config.cooperative) return;
  workspace_memory_ = GuardedMemory::Map(kWorkspaceBytes);
  if (!workspace_memory_) RunOutOfMemory("the workspace of the grid");
}

void Launch::RunOutOfMemory(const char* what) {
  LaunchError error;
  error.kind = LaunchError::Kind::kOutOfMemory;
  error.detail = std::string("no memory for ") + what;
  Fail(std::move(error));
}

Launch::~Launch() {
  // A Cancel() that came too late to matter has told the watchdog all the same.
  if (services_.watchdog != nullptr) services_.watchdog->Forget(this);
}

uint64_t Launch::ChunkSize(uint64_t remaining) const {
  if (code().needs_fibers) return 1;
  return std::clamp<uint64_t>(remaining / (kChunksPerWorker * config_.workers),
                              1, kMaxChunk);
}

bool Launch::ClaimBlocks(uint64_t* first, uint64_t* last) {
  uint64_t next = next_block_.load(std::memory_order_relaxed);
  uint64_t end;
  do {
    if (next >= block_count_) return false;
    end = next + ChunkSize(block_count_ - next);
  } while (
      !next_block_.compare_exchange_weak(next, end, std::memory_order_relaxed));
  *first = next;
  *last = end;
  return true;
}

bool Launch::HasUnclaimedBlocks() const {
  return next_block_.load(std::memory_order_relaxed) < block_count_;
}

void Launch::Record(LaunchError error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (error_.kind == LaunchError::Kind::kNone) {
    error_ = std::move(error);
    error_.kernel = code().name;
  }
  stopped_.store(true, std::memory_order_relaxed);
}

void Launch::Fail(LaunchError error) {
  Record(std::move(error));
  if (services_.watchdog != nullptr) services_.watchdog->Stop(this);
}

void Launch::RecordTimeout(uint64_t timeout_ms) {
  LaunchError error;
  error.kind = LaunchError::Kind::kTimeout;
  error.detail = "stopped after " + std::to_string(timeout_ms) + " ms";
  Record(std::move(error));
}

void Launch::FinishUp() {
  if (stopped() || !HasUnclaimedBlocks()) return;
  LaunchError error;
  error.kind = LaunchError::Kind::kOutOfMemory;
  error.detail = "no memory for the stacks and shared memory of a block";
  Record(std::move(error));
}

void Launch::Join(Worker* worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  workers_.push_back(worker);
}

void Launch::Leave(Worker* worker) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase(workers_, worker);
}

bool Launch::InterruptWorkers() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Worker* worker : workers_) worker->Interrupt();
  return !workers_.empty();
}

Dim3 Launch::BlockOf(uint64_t linear) const {
  const Dim3& grid = config_.grid;
  Dim3 block;
  block.x = static_cast<uint32_t>(linear % grid.x);
  linear /= grid.x;
  block.y = static_cast<uint32_t>(linear % grid.y);
  block.z = static_cast<uint32_t>(linear / grid.y);
  return block;
}

Dim3 Launch::ThreadOf(uint32_t linear) const {
  const Dim3& block = config_.block;
  return {linear % block.x, linear / block.x % block.y,
          linear / block.x / block.y};
}

}  // namespace hetgpu::cpu
