#ifndef HETGPU_BACKENDS_REMOTE_EVENT_H_
#define HETGPU_BACKENDS_REMOTE_EVENT_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/common/driver.h"
#include "backends/remote/connection.h"

namespace hetgpu::remote {

// Reached when the server says so, or is gone. One that was never recorded is
// done.
class RemoteEvent final : public Event {
 public:
  explicit RemoteEvent(std::shared_ptr<Connection> connection);
  ~RemoteEvent() override;

  // Asks the server: what another queue was told to wait for may be reached
  // before its message comes.
  bool Done() const override;
  absl::Status Wait() override;
  uint64_t TimestampNs() const override;

  uint64_t number() const { return number_; }
  // About to be recorded on the server.
  void Expect();
  // Reached now, without the server.
  void Reach() { state_->On(EventReached()); }

 private:
  class State final : public EventClient {
   public:
    bool Done() const;
    void Reset();
    void Wait();
    uint64_t TimestampNs() const;
    void On(const EventReached& message) override;

   private:
    mutable std::mutex mutex_;
    std::condition_variable reached_;
    bool done_ = true;
    uint64_t timestamp_ns_ = 0;
  };

  const std::shared_ptr<Connection> connection_;
  const uint64_t number_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  bool recorded_ = false;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_EVENT_H_
