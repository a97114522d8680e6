// The client's half of a queue: commands become messages; the server asks back
// for what must happen here in their order.
#ifndef HETGPU_BACKENDS_REMOTE_QUEUE_H_
#define HETGPU_BACKENDS_REMOTE_QUEUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "backends/common/driver.h"
#include "backends/remote/connection.h"
#include "backends/remote/ring.h"
#include "backends/remote/worker.h"

namespace hetgpu::remote {

class RemoteQueue final : public Queue {
 public:
  static absl::StatusOr<std::unique_ptr<Queue>> Create(
      std::shared_ptr<Connection> connection);
  ~RemoteQueue() override;

  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) override;
  // Through the host, in pieces. That the other device failed is reported by
  // Synchronize().
  absl::Status CopyPeer(uint64_t dst, Device& source, uint64_t src,
                        uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(Event* event) override;
  absl::Status Wait(Event* event) override;
  bool Idle() const override;
  // A command that the device refused is reported here too, not when enqueued.
  absl::Status Synchronize(LaunchError* error) override;
  void Cancel() override;

 private:
  // What the connection's thread works on.
  class State final : public QueueClient {
   public:
    State(Connection& connection, Ring ring)
        : connection_(connection), ring_(std::move(ring)) {}

    void AddCopy(uint64_t copy, char* memory, uint64_t bytes);
    void AddFunction(uint64_t number, std::function<void()> function);
    // Everything with a lower number has been passed or dropped.
    void Forget(uint64_t below);
    // The first failure of what commands do here is kept until it is taken.
    void Keep(const absl::Status& failure);
    absl::Status TakeFailure();

    void On(const Need& message) override;
    void On(const Data& message) override;
    void On(const CallHost& message) override;

   private:
    struct HostCopy {
      char* memory = nullptr;
      uint64_t bytes = 0;
      uint64_t done = 0;
    };
    // Calls `move(memory, slot)` when the message fits a copy of ours.
    template <typename Message, typename Move>
    void Transfer(const Message& message, Move move);

    Connection& connection_;
    const Ring ring_;
    std::mutex failure_mutex_;  // guards failure_
    absl::Status failure_;
    std::mutex mutex_;  // guards all below; held while host memory is used
    std::map<uint64_t, HostCopy> copies_;
    std::map<uint64_t, std::function<void()>> functions_;
    std::unique_ptr<Worker> caller_;  // of host functions; made when needed
  };

  RemoteQueue(std::shared_ptr<Connection> connection,
              std::shared_ptr<State> state, uint64_t number);

  // Sends a command; on a device that is lost it is skipped when a failure is
  // to be reported, else refused.
  template <typename Message>
  absl::Status Enqueue(Message& message);
  absl::Status EnqueueFunction(std::function<void()> function);
  absl::Status EnqueueCopyIn(uint64_t dst, const void* src, uint64_t bytes);
  bool IsIdleHere() const;

  const std::shared_ptr<Connection> connection_;
  const std::shared_ptr<State> state_;
  const uint64_t number_;
  mutable std::mutex mutex_;  // guards both below; held while sending
  // Something was enqueued that no Synchronize has passed.
  mutable bool busy_ = false;
  uint64_t commands_ = 0;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_QUEUE_H_
