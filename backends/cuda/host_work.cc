#include "backends/cuda/host_work.h"

#include <map>
#include <mutex>
#include <utility>

namespace hetgpu::cuda {

struct HostWork::State {
  std::mutex mutex;
  std::mutex running;  // held by the function that runs
  bool dropped = false;
  std::map<Item*, std::function<void()>> waiting;
};

// What the driver holds: survives the queue, and leaks when never called.
struct HostWork::Item {
  std::shared_ptr<State> state;
};

HostWork::HostWork() : state_(std::make_shared<State>()) {}

void HostWork::Call(void* pointer) {
  const std::unique_ptr<Item> item(static_cast<Item*>(pointer));
  State& state = *item->state;
  std::lock_guard<std::mutex> running(state.running);
  std::function<void()> function;
  {
    std::lock_guard<std::mutex> lock(state.mutex);
    if (state.dropped) return;
    function = std::move(state.waiting.at(item.get()));
    state.waiting.erase(item.get());
  }
  function();
}

CUresult HostWork::Enqueue(const Current& current, CUstream stream,
                           std::function<void()> function) {
  auto item = std::make_unique<Item>(Item{state_});
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    state_->waiting.emplace(item.get(), std::move(function));
  }
  const CUresult result =
      current.library().LaunchHostFunc(stream, &HostWork::Call, item.get());
  if (result == CUDA_SUCCESS) {
    (void)item.release();
    return result;
  }
  std::lock_guard<std::mutex> lock(state_->mutex);
  state_->waiting.erase(item.get());
  return result;
}

void HostWork::Drop() {
  const auto dropped = std::exchange(state_, std::make_shared<State>());
  {
    std::lock_guard<std::mutex> lock(dropped->mutex);
    dropped->dropped = true;
    dropped->waiting.clear();
  }
  std::lock_guard<std::mutex> nothing_runs(dropped->running);
}

}  // namespace hetgpu::cuda
