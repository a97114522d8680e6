#include "runtime/unified_queue.h"

#include <utility>

#include "runtime/trace_move.h"

namespace hetgpu::runtime {

using memory::Access;
using memory::Use;

bool UnifiedQueue::IsUnified(uint64_t address) const {
  return member_->memory().allocations().Holding(address).has_value();
}

Access UnifiedQueue::Overwriting() const {
  return MaySkip() ? Access::kWrite : Access::kOverwrite;
}

absl::Status UnifiedQueue::Run(const std::vector<Use>& uses,
                               const std::function<absl::Status()>& enqueue) {
  return member_->memory().Run(*member_, device_, *queue_, uses, enqueue);
}

absl::Status UnifiedQueue::Launch(const LaunchDesc& desc) {
  const TraceCause cause("launch", desc.info->name);
  const std::vector<Use> uses = member_->memory().UsesOf(desc);
  return Run(uses, [&] {
    ++commands_;
    return queue_->Launch(desc);
  });
}

absl::Status UnifiedQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  const TraceCause cause("copy");
  std::vector<Use> uses;
  if (IsUnified(src)) uses.push_back({src, bytes, Access::kRead});
  if (IsUnified(dst)) uses.push_back({dst, bytes, Overwriting()});
  return Run(uses, [&] { return queue_->Copy(dst, src, bytes); });
}

absl::Status UnifiedQueue::CopyToDevice(uint64_t dst, const void* src,
                                        uint64_t bytes) {
  if (!IsUnified(dst)) {
    ++commands_;
    return queue_->CopyToDevice(dst, src, bytes);
  }
  if (!MaySkip() && queue_->Idle() &&
      member_->memory().WriteLater(dst, src, bytes)) {
    return absl::OkStatus();
  }
  const TraceCause cause("copy");
  const Access access = Overwriting();
  ++commands_;
  return Run({{dst, bytes, access}},
             [&] { return queue_->CopyToDevice(dst, src, bytes); });
}

absl::Status UnifiedQueue::CopyFromDevice(void* dst, uint64_t src,
                                          uint64_t bytes) {
  ++commands_;
  if (!IsUnified(src)) return queue_->CopyFromDevice(dst, src, bytes);
  const TraceCause cause("copy");
  return member_->memory().Read(*member_, device_, *queue_, dst, src,
                                bytes);
}

absl::Status UnifiedQueue::CopyPeer(uint64_t dst, hetgpu::Device& source,
                                    uint64_t src, uint64_t bytes) {
  ++commands_;
  return queue_->CopyPeer(dst, source, src, bytes);
}

absl::Status UnifiedQueue::Fill(uint64_t dst, uint64_t pattern,
                                uint32_t pattern_bytes, uint64_t count) {
  const TraceCause cause("fill");
  std::vector<Use> uses;
  if (IsUnified(dst)) {
    uses.push_back({dst, count * pattern_bytes, Overwriting()});
  }
  return Run(uses,
             [&] { return queue_->Fill(dst, pattern, pattern_bytes, count); });
}

absl::Status UnifiedQueue::Prefetch(uint64_t address, uint64_t bytes) {
  if (!IsUnified(address)) return absl::OkStatus();
  const TraceCause cause("prefetch");
  return Run({{address, bytes, Access::kRead}},
             [] { return absl::OkStatus(); });
}

absl::Status UnifiedQueue::HostFunction(std::function<void()> function) {
  return queue_->HostFunction(std::move(function));
}

absl::Status UnifiedQueue::Record(hetgpu::Event* event) {
  return queue_->Record(event);
}

absl::Status UnifiedQueue::Wait(hetgpu::Event* event) {
  return queue_->Wait(event);
}

bool UnifiedQueue::Idle() const { return queue_->Idle(); }

absl::Status UnifiedQueue::Synchronize(LaunchError* error) {
  const uint64_t commands = commands_;
  absl::Status status = queue_->Synchronize(error);
  settled_ = commands;
  const uint64_t doubts = member_->doubts();
  const bool is_new = doubts_.exchange(doubts) != doubts;
  if (!status.ok() || !is_new || commands == 0) return status;
  return absl::AbortedError(
      "unified memory: another device was lost before it had sent what "
      "commands "
      "here were to use: what they did is void");
}

void UnifiedQueue::Cancel() {
  ++commands_;
  queue_->Cancel();
}

}  // namespace hetgpu::runtime
