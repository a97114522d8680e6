// The server's half of a queue: commands from the client go to the device's own
// queue in order; what must happen in the client in that order (host functions,
// reading and writing its memory) is asked for by host functions here, which
// wait for the answer.
#ifndef HETGPU_BACKENDS_REMOTE_SERVER_QUEUE_H_
#define HETGPU_BACKENDS_REMOTE_SERVER_QUEUE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backends/common/driver.h"
#include "backends/remote/channel.h"
#include "backends/remote/ring.h"
#include "backends/remote/worker.h"

namespace hetgpu::remote {

struct ServerKernel {
  KernelInfo info;
  std::unique_ptr<Kernel> kernel;
};

// Commands and requests: one thread. Answers of the client: another.
class ServerQueue {
 public:
  // `failed` is called after what may be a failure. The channel outlives the
  // queue.
  ServerQueue(uint64_t number, std::unique_ptr<Queue> queue, Ring ring,
              Channel& channel, std::function<void()> failed);
  // Close() was called.
  ~ServerQueue();

  void Enqueue(const Launch& message, std::shared_ptr<ServerKernel> kernel);
  void Enqueue(const Copy& message);
  void Enqueue(CopyIn message);
  void Enqueue(const CopyOut& message);
  void Enqueue(const Fill& message);
  void Enqueue(const HostFunction& message);
  void Enqueue(const Record& message, std::shared_ptr<Event> event);
  void Enqueue(const Wait& message, std::shared_ptr<Event> event);
  bool Idle() const { return queue_->Idle(); }
  // Replies to the call when all that was enqueued has been passed.
  void Synchronize(uint64_t call);
  void Cancel() { queue_->Cancel(); }

  void Answer(const Filled& message);
  void Answer(const Taken& message);
  void Answer(const HostFunctionDone& message);
  // The client answers no more: nobody waits for it any longer.
  void Close();

 private:
  struct Slot {
    uint64_t filled = 0;  // uses up to this number have been filled
    bool lent = false;    // the client has yet to take what is there
  };

  // Keeps the first refusal for the next Synchronize.
  void Keep(const absl::Status& status);
  void FinishSynchronize(uint64_t call);
  void KeepInFlight(std::shared_ptr<void> object);
  // Host functions.
  void Fetch(const CopyIn& copy, uint64_t first_use, uint64_t piece,
             uint64_t* requested);
  void Lend(uint64_t use, const Data& data);
  void WaitUntilTaken(uint64_t use);
  void CallHostFunction(uint64_t function);

  const uint64_t number_;
  const std::unique_ptr<Queue> queue_;
  const Ring ring_;
  Channel& channel_;
  const std::function<void()> failed_;
  uint64_t next_use_ = 0;
  // What commands in flight refer to.
  std::vector<std::shared_ptr<void>> in_flight_;

  std::mutex mutex_;  // guards all below
  std::condition_variable answered_;
  Slot slots_[kSlots];
  std::set<uint64_t> called_;  // host functions not yet done
  bool closed_ = false;
  absl::Status refused_;
  std::unique_ptr<Worker> waiter_;  // waits for events and synchronises
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_SERVER_QUEUE_H_
