#include "tools/hetgpu-run/runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/float_bits.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

// Commands queued at most before waiting: bounds memory and lets the progress
// bar move.
constexpr uint64_t kMaxBatch = 256;
constexpr auto kLongBatch = std::chrono::milliseconds(50);
constexpr uint64_t kMaxValidated = 10000;

absl::Status At(const Step& step, const absl::Status& status) {
  if (step.place.empty()) return status;
  return Annotate(status, step.place);
}

// Less in the order of the type; NaN is less than nothing.
bool Less(uint64_t a, uint64_t b, ElementType type) {
  switch (InfoOf(type).kind) {
    case ElementKind::kSigned:
      return SignExtend(a, type) < SignExtend(b, type);
    case ElementKind::kFloat:
      return BitsToDouble(a, type) < BitsToDouble(b, type);
    default:
      return a < b;
  }
}

bool Equal(uint64_t a, uint64_t b, ElementType type) {
  if (!IsFloat(type)) return a == b;
  return BitsToDouble(a, type) == BitsToDouble(b, type);
}

}  // namespace

absl::StatusOr<std::string> Runner::Pack(const Kernel& kernel,
                                         const LaunchStep& launch,
                                         const Variables& variables) {
  std::vector<ParameterSlot> slots;
  slots.reserve(kernel.params.size());
  for (const hetgpuParameterInfo& param : kernel.params) {
    slots.push_back({param.name, param.offset, param.size});
  }
  auto block = PackArguments(
      launch.args, slots, kernel.param_bytes, variables,
      [this](const Address& address) { return memory_->Resolve(address); });
  if (!block.ok()) {
    return Annotate(block.status(), Cat("kernel '", kernel.name, "'"));
  }
  return block;
}

// ------------------------------------------------------------------ running

absl::Status Runner::Run(const Steps& steps) {
  Variables variables;
  queued_ = 0;
  batch_ = 1;
  absl::Status status = RunSteps(steps, variables);
  if (status.ok()) status = Synchronize();
  if (progress_->interrupted) return absl::CancelledError("interrupted");
  return status;
}

absl::Status Runner::RunSteps(const Steps& steps, Variables& variables) {
  for (const Step& step : steps) {
    if (progress_->interrupted) return absl::CancelledError("interrupted");
    const absl::Status status = std::visit(
        [&](const auto& action) { return Do(action, variables); }, step.action);
    // Loops pass on what their own steps have named already.
    const bool loop = std::holds_alternative<RepeatStep>(step.action) ||
                      std::holds_alternative<ForStep>(step.action);
    if (!status.ok()) return loop ? status : At(step, status);
  }
  return absl::OkStatus();
}

absl::Status Runner::Enqueue(const Kernel& kernel, const LaunchStep& launch,
                             const std::string& block) {
  const hetgpuDim3 grid = {launch.grid.x, launch.grid.y, launch.grid.z};
  const hetgpuDim3 threads = {launch.block.x, launch.block.y, launch.block.z};
  if (!launch.cooperative) {
    return ToStatus(hetgpuLaunchKernelPacked(
        kernel.handle, grid, threads, launch.shared, session_->stream(),
        block.data(), block.size()));
  }
  std::vector<void*> args;  // only read
  for (const hetgpuParameterInfo& param : kernel.params) {
    args.push_back(const_cast<char*>(block.data()) + param.offset);
  }
  return ToStatus(hetgpuLaunchCooperativeKernel(
      kernel.handle, grid, threads, launch.shared, session_->stream(),
      args.data()));
}

absl::Status Runner::Do(const LaunchStep& launch, Variables& variables) {
  ASSIGN_OR_RETURN(const Kernel* kernel, session_->FindKernel(launch.kernel));
  ASSIGN_OR_RETURN(const std::string block, Pack(*kernel, launch, variables));
  if (prepare_ != nullptr && compiled_.insert(kernel).second) {
    RETURN_IF_ERROR(prepare_->Wait(*kernel, *progress_));
  }
  RETURN_IF_ERROR(Enqueue(*kernel, launch, block));
  ++work_.launches;
  work_.flops += launch.flops;
  work_.bytes += launch.bytes;
  return SynchronizeSometimes();
}

absl::Status Runner::SynchronizeSometimes() {
  if (++queued_ < batch_) return absl::OkStatus();
  const auto start = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(Synchronize());
  const auto elapsed = std::chrono::steady_clock::now() - start;
  batch_ = elapsed > kLongBatch ? std::max<uint64_t>(batch_ / 2, 1)
                                : std::min(batch_ * 2, kMaxBatch);
  return absl::OkStatus();
}

absl::Status Runner::Synchronize() {
  const absl::Status status =
      ToStatus(hetgpuStreamSynchronize(session_->stream()));
  progress_->launches_done = earlier_launches_ + work_.launches;
  queued_ = 0;
  return status;
}

absl::Status Runner::Do(const RepeatStep& repeat, Variables& variables) {
  for (uint64_t i = 0; i < repeat.times; ++i) {
    if (progress_->interrupted) return absl::CancelledError("interrupted");
    if (!repeat.variable.empty()) {
      variables[repeat.variable] = Literal::Unsigned(i);
    }
    RETURN_IF_ERROR(RunSteps(repeat.steps, variables));
    if (!repeat.until) continue;
    ASSIGN_OR_RETURN(const bool done, Holds(*repeat.until));
    if (done) break;
  }
  variables.erase(repeat.variable);
  return absl::OkStatus();
}

absl::StatusOr<bool> Runner::Holds(const Until& until) {
  RETURN_IF_ERROR(Synchronize());
  ASSIGN_OR_RETURN(const DeviceArray array, memory_->Find(until.buffer));
  ASSIGN_OR_RETURN(const uint64_t want, EncodeLiteral(until.value, array.type));
  uint64_t got = 0;
  const uint32_t size = SizeOf(array.type);
  RETURN_IF_ERROR(ToStatus(hetgpuMemCopyDtoH(
      session_->context(), &got, array.address + until.index * size, size)));
  return until.test == Until::Test::kEquals ? Equal(got, want, array.type)
                                            : Less(got, want, array.type);
}

absl::Status Runner::Do(const ForStep& loop, Variables& variables) {
  for (const Literal& value : loop.values) {
    variables[loop.variable] = value;
    RETURN_IF_ERROR(RunSteps(loop.steps, variables));
  }
  variables.erase(loop.variable);
  return absl::OkStatus();
}

absl::Status Runner::Do(const SwapStep& swap, Variables&) {
  return memory_->Swap(swap.a, swap.b);
}

absl::Status Runner::Do(const CopyStep& copy, Variables&) {
  ASSIGN_OR_RETURN(const DeviceArray from, memory_->Find(copy.from));
  ASSIGN_OR_RETURN(const DeviceArray to, memory_->Find(copy.to));
  const uint64_t size = copy.size.value_or(from.bytes - copy.from_offset);
  if (size == 0) return absl::OkStatus();
  RETURN_IF_ERROR(ToStatus(hetgpuMemCopyDtoDAsync(
      to.address + copy.to_offset, from.address + copy.from_offset, size,
      session_->stream())));
  return SynchronizeSometimes();
}

absl::Status Runner::Do(const FillStep& fill, Variables& variables) {
  ASSIGN_OR_RETURN(const DeviceArray array, memory_->Find(fill.buffer));
  ASSIGN_OR_RETURN(const Literal value, Substitute(fill.value, variables));
  ASSIGN_OR_RETURN(const uint64_t bits, EncodeLiteral(value, array.type));
  if (array.count == 0) return absl::OkStatus();
  RETURN_IF_ERROR(
      ToStatus(hetgpuMemFillAsync(array.address, bits, SizeOf(array.type),
                                  array.count, session_->stream())));
  return SynchronizeSometimes();
}

// --------------------------------------------------------------- validation

absl::Status Runner::Validate(const Steps& steps) {
  Variables variables;
  for (const Step& step : steps) {
    RETURN_IF_ERROR(ValidateStep(step, variables));
  }
  return absl::OkStatus();
}

absl::Status Runner::ValidateStep(const Step& step, Variables& variables) {
  if (++validated_ > kMaxValidated) return absl::OkStatus();
  const bool loop = std::holds_alternative<RepeatStep>(step.action) ||
                    std::holds_alternative<ForStep>(step.action);
  const absl::Status status =
      std::visit([&](const auto& action) { return Check(action, variables); },
                 step.action);
  return loop ? status : At(step, status);
}

absl::Status Runner::Check(const LaunchStep& launch, Variables& variables) {
  ASSIGN_OR_RETURN(const Kernel* kernel, session_->FindKernel(launch.kernel));
  kernel_names_.insert(kernel->name);
  return Pack(*kernel, launch, variables).status();
}

absl::Status Runner::Check(const RepeatStep& repeat, Variables& variables) {
  if (repeat.until) {
    ASSIGN_OR_RETURN(const DeviceArray array,
                     memory_->Find(repeat.until->buffer));
    if (repeat.until->index >= array.count) {
      return absl::InvalidArgumentError(
          Cat("until: index ", repeat.until->index, " is past the ",
              array.count, " elements of '", repeat.until->buffer, "'"));
    }
    RETURN_IF_ERROR(EncodeLiteral(repeat.until->value, array.type).status());
  }
  if (!repeat.variable.empty()) {
    if (variables.count(repeat.variable) != 0) {
      return absl::InvalidArgumentError(
          Cat("an outer loop has the variable '", repeat.variable, "'"));
    }
    variables[repeat.variable] = Literal::Unsigned(0);
  }
  for (const Step& step : repeat.steps) {
    RETURN_IF_ERROR(ValidateStep(step, variables));
  }
  variables.erase(repeat.variable);
  return absl::OkStatus();
}

absl::Status Runner::Check(const ForStep& loop, Variables& variables) {
  if (variables.count(loop.variable) != 0) {
    return absl::InvalidArgumentError(
        Cat("an outer loop has the variable '", loop.variable, "'"));
  }
  for (const Literal& value : loop.values) {
    if (validated_ > kMaxValidated) break;
    variables[loop.variable] = value;
    for (const Step& step : loop.steps) {
      RETURN_IF_ERROR(ValidateStep(step, variables));
    }
  }
  variables.erase(loop.variable);
  return absl::OkStatus();
}

absl::Status Runner::Check(const SwapStep& swap, Variables&) {
  // Swapping back at once only checks that both fit together.
  RETURN_IF_ERROR(memory_->Swap(swap.a, swap.b));
  return memory_->Swap(swap.a, swap.b);
}

absl::Status Runner::Check(const CopyStep& copy, Variables&) {
  ASSIGN_OR_RETURN(const DeviceArray from, memory_->Find(copy.from));
  ASSIGN_OR_RETURN(const DeviceArray to, memory_->Find(copy.to));
  if (copy.from == copy.to) {
    return absl::InvalidArgumentError(
        Cat("copy from '", copy.from, "' to itself"));
  }
  if (copy.from_offset > from.bytes || copy.to_offset > to.bytes) {
    return absl::InvalidArgumentError("copy: offset past the end");
  }
  const uint64_t size = copy.size.value_or(from.bytes - copy.from_offset);
  if (size > from.bytes - copy.from_offset ||
      size > to.bytes - copy.to_offset) {
    return absl::InvalidArgumentError(Cat("copy of ", size,
                                          " bytes does not fit '", copy.from,
                                          "' and '", copy.to, "'"));
  }
  return absl::OkStatus();
}

absl::Status Runner::Check(const FillStep& fill, Variables& variables) {
  ASSIGN_OR_RETURN(const DeviceArray array, memory_->Find(fill.buffer));
  ASSIGN_OR_RETURN(const Literal value, Substitute(fill.value, variables));
  return EncodeLiteral(value, array.type).status();
}

// ----------------------------------------------------------------- counting

namespace {

uint64_t Count(const LaunchStep&) { return 1; }
uint64_t Count(const SwapStep&) { return 0; }
uint64_t Count(const CopyStep&) { return 0; }
uint64_t Count(const FillStep&) { return 0; }
uint64_t Times(uint64_t a, uint64_t b) {
  uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? 0 : product;
}
uint64_t Count(const RepeatStep& repeat) {
  return Times(repeat.times, CountLaunches(repeat.steps));
}
uint64_t Count(const ForStep& loop) {
  return Times(loop.values.size(), CountLaunches(loop.steps));
}

}  // namespace

uint64_t CountLaunches(const Steps& steps) {
  uint64_t total = 0;
  for (const Step& step : steps) {
    total += std::visit([](const auto& action) { return Count(action); },
                        step.action);
  }
  return total;
}

}  // namespace hetgpu::tools
