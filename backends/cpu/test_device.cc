#include "backends/cpu/test_device.h"

#include <utility>

namespace hetgpu::cpu {

TestDevice::TestDevice(uint32_t threads) {
  absl::StatusOr<Options> options = ReadOptions();
  EXPECT_TRUE(options.ok()) << options.status();
  if (threads != 0) options->threads = threads;
  auto device = CpuDevice::Open(*options);
  EXPECT_TRUE(device.ok()) << device.status();
  device_ = *std::move(device);
  device_->SetPrintf([this](std::string_view text) { printed_ += text; });
  queue_ = NewQueue();
}

std::unique_ptr<Queue> TestDevice::NewQueue() {
  auto queue = device_->CreateQueue();
  EXPECT_TRUE(queue.ok()) << queue.status();
  return *std::move(queue);
}

uint64_t TestDevice::Text(std::string_view text) {
  absl::StatusOr<uint64_t> address = device_->Allocate(text.size() + 1);
  EXPECT_TRUE(address.ok()) << address.status();
  const std::string copy(text);
  EXPECT_TRUE(queue_->CopyToDevice(*address, copy.c_str(), copy.size() + 1)
                  .ok());
  EXPECT_TRUE(queue_->Synchronize(nullptr).ok());
  return *address;
}

KernelCode TestDevice::Code(Entry entry, bool fibers, uint32_t lanes_per_unit) {
  KernelCode code;
  code.name = "kernel";
  code.entry = entry;
  code.begin = reinterpret_cast<uintptr_t>(__start_hetgpu_emitted);
  code.end = reinterpret_cast<uintptr_t>(__stop_hetgpu_emitted);
  // The entry's code is line 7, what comes after it line 8.
  const auto start = reinterpret_cast<uintptr_t>(entry) - code.begin;
  code.lines = {{static_cast<uint32_t>(start), 7}};
  code.lanes_per_unit = lanes_per_unit;
  code.needs_fibers = fibers;
  return code;
}

void TestDevice::StartWithBytes(const KernelCode& code,
                                const LaunchShape& shape, std::string params) {
  kernels_.push_back(std::make_unique<Loaded>());
  Loaded& loaded = *kernels_.back();
  loaded.kernel = std::make_unique<CpuKernel>(code);
  loaded.info.name = code.name;
  loaded.info.uses_dynamic_shared = true;
  LaunchDesc desc;
  desc.kernel = loaded.kernel.get();
  desc.info = &loaded.info;
  desc.grid = shape.grid;
  desc.block = shape.block;
  desc.dynamic_shared_bytes = shape.shared;
  desc.params = std::move(params);
  desc.timeout_ms = shape.timeout_ms;
  const absl::Status status = queue_->Launch(desc);
  EXPECT_TRUE(status.ok()) << status;
}

LaunchError TestDevice::Finish() {
  LaunchError error;
  const absl::Status status = queue_->Synchronize(&error);
  EXPECT_EQ(status.ok(), error.kind == LaunchError::Kind::kNone) << status;
  return error;
}

}  // namespace hetgpu::cpu
