// A queue: one stream of the present context.
//
// Commands go to the driver in the caller's thread. A kernel's failure takes its
// whole context along, so the queue skips what comes after by itself: it sees
// that the context it had work in is gone, and keeps the reason until
// Synchronize() has reported it.
#ifndef HETGPU_BACKENDS_CUDA_QUEUE_H_
#define HETGPU_BACKENDS_CUDA_QUEUE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "backends/common/driver.h"
#include "backends/cuda/address_space.h"
#include "backends/cuda/context.h"
#include "backends/cuda/host_work.h"
#include "backends/cuda/recovery.h"
#include "backends/cuda/staging.h"
#include "backends/cuda/watchdog.h"

namespace hetgpu::cuda {

class CudaQueue final : public Queue {
 public:
  // All outlive the queue.
  CudaQueue(const Context& context, const AddressSpace& space,
            Recovery& recovery, Watchdog& watchdog, StagingArena& staging);
  ~CudaQueue() override;

  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDeviceNow(uint64_t dst, const void* src,
                               uint64_t bytes) override;
  absl::Status CopyFromDeviceNow(void* dst, uint64_t src,
                                 uint64_t bytes) override;
  absl::Status CopyPeer(uint64_t dst, Device& source, uint64_t src,
                        uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(Event* event) override;
  absl::Status Wait(Event* event) override;
  bool Idle() const override;
  absl::Status Synchronize(LaunchError* error) override;
  // CUDA drops nothing that it was given: what ends within a tenth of a second
  // has run. Otherwise the context is abandoned.
  void Cancel() override;

 private:
  // All below need mutex_.

  // Has `call`, a CUresult(const Current&), hand a command to the driver.
  template <typename Call>
  absl::Status Enqueue(const char* name, Call call);
  absl::Status Check(const char* name, uint64_t generation, CUresult result);
  // Takes note of the loss of the context that the queue had work in. False
  // when commands are to be skipped.
  bool Follow(const Current& current);
  // Asks the driver; true when nothing is queued or running.
  bool Poll();
  // What the driver answers; nothing when Poll() has more to do than to ask.
  std::optional<CUresult> PollAgain();
  bool IsRunning(const Current& current) const;
  bool IsDirect(const Current& current, const void* host, uint64_t bytes,
                bool running) const;
  CUresult CopyIn(const Current& current, uint64_t dst, const void* src,
                  uint64_t bytes, bool now);
  CUresult CopyOut(const Current& current, void* dst, uint64_t src,
                   uint64_t bytes, bool now);
  void SetError(LaunchError error);
  // A launch of what was launched before, with nothing around it: CUDA_SUCCESS
  // or what went wrong; nothing was done when there is no value.
  std::optional<CUresult> LaunchAgain(const LaunchDesc& desc);
  CUresult LaunchOn(const Current& current, const LaunchDesc& desc,
                    CUfunction function);
  CUresult Give(const LaunchDesc& desc, CUfunction function) const;
  void ClearLog();

  const Context& context_;
  const AddressSpace& space_;
  Recovery& recovery_;
  Watchdog& watchdog_;
  const std::shared_ptr<LaunchLog> log_;

  mutable std::mutex mutex_;  // guards all below
  CUstream stream_ = nullptr;  // made when first needed in a context
  uint64_t generation_ = 0;    // of the context last seen
  bool busy_ = false;          // something may be queued or running
  bool prints_ = false;        // a kernel among it may print
  std::string logged_;         // a kernel that is in log_; "" for none
  bool needs_current_ = false;  // the driver launches in no other context
  LaunchError error_;          // to be reported
  HostWork host_work_;
  Staging staging_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_QUEUE_H_
