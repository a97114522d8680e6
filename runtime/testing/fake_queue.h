// The queue and event of the fake backend.
#ifndef HETGPU_RUNTIME_TESTING_FAKE_QUEUE_H_
#define HETGPU_RUNTIME_TESTING_FAKE_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>

#include "backends/common/driver.h"

namespace hetgpu::runtime {

class FakeEvent : public Event {
 public:
  bool Done() const override;
  absl::Status Wait() override;
  uint64_t TimestampNs() const override;

  // Outlives the event in commands that wait for it or reach it.
  struct State {
    std::mutex mutex;
    std::condition_variable reached;
    uint64_t timestamp_ns = 0;
    void Reach();
    void Await();
  };
  std::shared_ptr<State> state() const { return state_; }

 private:
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

using Print = std::function<void(std::string_view)>;

// What has become of a device. It is lost once nothing runs on it any more.
struct FakeLoss {
  std::shared_mutex running;  // shared: a command is
  std::atomic<bool> lost = false;
  std::atomic<bool> for_good = false;
  absl::Status Check() const {
    if (!lost) return absl::OkStatus();
    return absl::UnavailableError("fake: the device is lost");
  }
};

class FakeKernel : public Kernel {
 public:
  FakeKernel(std::string name, Print print)
      : name_(std::move(name)), print_(std::move(print)) {}
  std::string Explain() const override { return "fake: does what it says"; }
  LaunchError Run(const LaunchDesc& desc, const std::atomic<bool>& cancelled);

 private:
  const std::string name_;
  const Print print_;
};

class FakeQueue : public Queue {
 public:
  explicit FakeQueue(FakeLoss* loss);
  ~FakeQueue() override;
  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(Event* event) override;
  absl::Status Wait(Event* event) override;
  bool Idle() const override;
  absl::Status Synchronize(LaunchError* error) override;
  void Cancel() override;

 protected:
  absl::Status Enqueue(std::function<void()> run, bool always = false);
  absl::Status EnqueueLaunch(std::function<LaunchError()> run);

 private:
  struct Command {
    std::function<LaunchError()> run;
    bool always = false;  // also when the queue has failed
    bool is_launch = false;
  };

  absl::Status Push(Command command);
  LaunchError RunOnDevice(const Command& command);
  void Work();

  FakeLoss* const loss_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Command> commands_;
  std::optional<LaunchError> error_;
  bool busy_ = false;
  bool stop_ = false;
  std::atomic<bool> cancelled_ = false;
  std::thread thread_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TESTING_FAKE_QUEUE_H_
