// What the run side costs by itself: launches, blocks, fiber switches, memory.
// Times are of all cores; "items" are what a row's name counts.
#include <benchmark/benchmark.h>

#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

HETGPU_EMITTED void Nothing(BlockContext*, uint32_t, uint32_t) {}

HETGPU_EMITTED void Barriers(BlockContext* b, uint32_t, uint32_t) {
  for (int i = 0; i < 10; ++i) b->helpers->barrier_sync(b, 0, 0, 1);
}

HETGPU_EMITTED void WarpBarriers(BlockContext* b, uint32_t, uint32_t) {
  for (int i = 0; i < 10; ++i) {
    b->helpers->warp_barrier_sync(b, 0, 0, 0xffffffff, 1);
  }
}

HETGPU_EMITTED void Shuffles(BlockContext* b, uint32_t unit, uint32_t) {
  for (int i = 0; i < 10; ++i) {
    b->helpers->shuffle(b, static_cast<uint32_t>(ShuffleMode::kBfly), unit, 1,
                        31, 0xffffffff, 1);
  }
}

HETGPU_EMITTED void Yields(BlockContext* b, uint32_t, uint32_t) {
  for (int i = 0; i < 10; ++i) b->helpers->yield(b);
}

// Launches `entry` over and over; `items` are done per launch.
void Launches(benchmark::State& state, Entry entry, bool fibers,
              uint32_t lanes, LaunchShape shape, int64_t items) {
  TestDevice device;
  const KernelCode code = device.Code(entry, fibers, lanes);
  for (auto _ : state) {
    const LaunchError error = device.Run(code, shape, 0);
    if (error.kind != LaunchError::Kind::kNone) {
      state.SkipWithError(Describe(error).c_str());
    }
  }
  state.SetItemsProcessed(state.iterations() * items);
}

void LaunchAndWait(benchmark::State& state) {
  Launches(state, Nothing, false, 1,
           {{static_cast<uint32_t>(state.range(0)), 1, 1}, {256, 1, 1}}, 1);
}

void EmptyBlocks(benchmark::State& state) {
  Launches(state, Nothing, false, 1, {{1u << 22, 1, 1}, {256, 1, 1}}, 1 << 22);
}

void FibersStarted(benchmark::State& state) {
  Launches(state, Nothing, true, 1, {{256, 1, 1}, {256, 1, 1}}, 256 * 256);
}

void ThreadBarriers(benchmark::State& state) {
  const auto threads = static_cast<uint32_t>(state.range(0));
  Launches(state, Barriers, true, 1, {{64, 1, 1}, {threads, 1, 1}},
           int64_t{64} * threads * 10);
}

void WarpUnitBarriers(benchmark::State& state) {
  Launches(state, WarpBarriers, true, 32, {{256, 1, 1}, {256, 1, 1}},
           256 * 8 * 10);
}

void ThreadShuffles(benchmark::State& state) {
  Launches(state, Shuffles, true, 1, {{64, 1, 1}, {256, 1, 1}},
           64 * 256 * 10);
}

void ThreadYields(benchmark::State& state) {
  Launches(state, Yields, true, 1, {{64, 1, 1}, {256, 1, 1}}, 64 * 256 * 10);
}

void AllocateAndFree(benchmark::State& state) {
  TestDevice device;
  for (auto _ : state) {
    const auto address =
        device.device().Allocate(static_cast<uint64_t>(state.range(0)));
    if (!address.ok() || !device.device().Free(*address).ok()) {
      state.SkipWithError("out of memory");
    }
  }
}

BENCHMARK(LaunchAndWait)->Arg(1)->Arg(16)->UseRealTime();
BENCHMARK(EmptyBlocks)->UseRealTime();
BENCHMARK(FibersStarted)->UseRealTime();
BENCHMARK(ThreadBarriers)->Arg(64)->Arg(256)->Arg(1024)->UseRealTime();
BENCHMARK(WarpUnitBarriers)->UseRealTime();
BENCHMARK(ThreadShuffles)->UseRealTime();
BENCHMARK(ThreadYields)->UseRealTime();
BENCHMARK(AllocateAndFree)->Arg(4096)->Arg(16 << 20)->UseRealTime();

}  // namespace
}  // namespace hetgpu::cpu

BENCHMARK_MAIN();
