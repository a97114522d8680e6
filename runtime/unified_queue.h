// A queue of a unified context: before each command it brings what the command
// uses to the queue's device.
#ifndef HETGPU_RUNTIME_UNIFIED_QUEUE_H_
#define HETGPU_RUNTIME_UNIFIED_QUEUE_H_

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "backends/common/driver.h"
#include "runtime/unified_memory.h"

namespace hetgpu::runtime {

// Threads: any.
class UnifiedQueue final : public hetgpu::Queue {
 public:
  // `device`, which outlives it, is the queue's.
  UnifiedQueue(std::shared_ptr<UnifiedMember> member,
               const hetgpu::Device& device,
               std::unique_ptr<hetgpu::Queue> queue)
      : member_(std::move(member)),
        device_(device),
        queue_(std::move(queue)),
        doubts_(member_->doubts()) {}

  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src,
                              uint64_t bytes) override;
  absl::Status CopyPeer(uint64_t dst, hetgpu::Device& source, uint64_t src,
                        uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(hetgpu::Event* event) override;
  absl::Status Wait(hetgpu::Event* event) override;
  bool Idle() const override;
  absl::Status Synchronize(LaunchError* error) override;
  void Cancel() override;

  // Makes later commands find the data here.
  absl::Status Prefetch(uint64_t address, uint64_t bytes);

 private:
  bool IsUnified(uint64_t address) const;
  bool MaySkip() const { return commands_ != settled_; }
  // How to write a whole range: old content is not needed when nothing can make
  // the queue skip the command.
  memory::Access Overwriting() const;
  absl::Status Run(const std::vector<memory::Use>& uses,
                   const std::function<absl::Status()>& enqueue);

  const std::shared_ptr<UnifiedMember> member_;
  const hetgpu::Device& device_;
  const std::unique_ptr<hetgpu::Queue> queue_;
  // Commands enqueued that may fail, and how many of them had been when
  // Synchronize() was last called: between the two numbers a failure may lurk.
  std::atomic<uint64_t> commands_ = 0;
  std::atomic<uint64_t> settled_ = 0;
  std::atomic<uint64_t> doubts_;  // of the member, that were reported
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_UNIFIED_QUEUE_H_
