// An executor whose runs take as long as the test says.
#ifndef HETGPU_BENCH_TESTS_FAKE_EXECUTOR_H_
#define HETGPU_BENCH_TESTS_FAKE_EXECUTOR_H_

#include <cstring>
#include <string>
#include <vector>

#include "bench/runner/executor.h"

namespace hetgpu::bench {

class FakeExecutor final : public Executor {
 public:
  using Executor::Executor;

  std::string Describe() const override { return "fake"; }
  absl::Status Load(const Workload&) override { return absl::OkStatus(); }
  void Unload() override {}
  absl::Status Enqueue(int times) override {
    runs += times;
    return status;
  }
  absl::Status Wait() override { return absl::OkStatus(); }
  absl::Status Write(int, uint64_t, const void*, uint64_t) override {
    return absl::OkStatus();
  }
  absl::Status Read(int buffer, uint64_t offset, void* to,
                    uint64_t bytes) override {
    std::memcpy(to, buffers[buffer].data() + offset, bytes);
    return absl::OkStatus();
  }

  int runs = 0;
  absl::Status status;
  std::vector<std::string> buffers;
};

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_TESTS_FAKE_EXECUTOR_H_
