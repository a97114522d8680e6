// Helpers through which units wait for each other.
#include <bit>

#include "backends/cpu/block_run.h"
#include "backends/cpu/helpers.h"

namespace hetgpu::cpu {
namespace {

// The block's scheduler. Code that waits must have been compiled for fibers.
BlockRun* RunOf(BlockContext* block, const char* what, uint32_t line) {
  auto* frame = static_cast<BlockFrame*>(block);
  if (frame->run == nullptr) {
    frame->owner->Raise(LaunchError::Kind::kInvalidInstruction, 0, line,
                        std::string(what) + " in code compiled without fibers");
  }
  return frame->run;
}

BlockRun* ThreadRunOf(BlockContext* block, const char* what, uint32_t line) {
  BlockRun* run = RunOf(block, what, line);
  auto* frame = static_cast<BlockFrame*>(block);
  if (frame->launch->code().lanes_per_unit != 1) {
    frame->owner->Raise(
        LaunchError::Kind::kInvalidInstruction, 0, line,
        std::string(what) + " of a thread in code compiled " + "for warps");
  }
  return run;
}

BarrierArrival ThreadArrival(BlockContext* block, BlockRun* run,
                             uint32_t count) {
  BarrierArrival arrival;
  arrival.count = count;
  arrival.phantoms = run->PhantomsOf(block->current_unit);
  return arrival;
}

BarrierArrival WarpArrival(BlockContext* block, BlockRun* run, uint32_t count,
                           uint32_t lanes) {
  BarrierArrival arrival = ThreadArrival(block, run, count);
  arrival.threads = static_cast<uint32_t>(std::popcount(lanes));
  return arrival;
}

}  // namespace

namespace helper {

void barrier_sync(BlockContext* block, uint32_t id, uint32_t count,
                  uint32_t line) {
  BlockRun* run = ThreadRunOf(block, "barrier", line);
  run->WaitAtBarrier(id, ThreadArrival(block, run, count), BarrierOp::kPopc,
                     line);
}

void barrier_arrive(BlockContext* block, uint32_t id, uint32_t count,
                    uint32_t line) {
  BlockRun* run = ThreadRunOf(block, "barrier arrival", line);
  BarrierArrival arrival = ThreadArrival(block, run, count);
  arrival.waits = false;
  run->ArriveAtBarrier(id, arrival, line);
}

uint32_t barrier_red(BlockContext* block, uint32_t op, uint32_t id,
                     uint32_t count, uint32_t predicate, uint32_t line) {
  BlockRun* run = ThreadRunOf(block, "barrier reduction", line);
  BarrierArrival arrival = ThreadArrival(block, run, count);
  arrival.reduces = true;
  arrival.predicates = predicate != 0;
  return run->WaitAtBarrier(id, arrival, static_cast<BarrierOp>(op), line);
}

void warp_sync(BlockContext* block, uint32_t mask, uint32_t line) {
  ThreadRunOf(block, "warp barrier", line)
      ->Collective(CollectiveOp::kSync, {}, mask, line);
}

uint64_t shuffle(BlockContext* block, uint32_t mode, uint32_t value, uint32_t b,
                 uint32_t c, uint32_t mask, uint32_t line) {
  return ThreadRunOf(block, "shuffle", line)
      ->Collective(CollectiveOp::kShuffle, {value, mode, b, c}, mask, line);
}

uint32_t vote(BlockContext* block, uint32_t kind, uint32_t predicate,
              uint32_t mask, uint32_t line) {
  return static_cast<uint32_t>(ThreadRunOf(block, "vote", line)
                                   ->Collective(CollectiveOp::kVote,
                                                {predicate, kind, 0, 0}, mask,
                                                line));
}

uint64_t match(BlockContext* block, uint32_t kind, uint64_t value,
               uint32_t mask, uint32_t line) {
  return ThreadRunOf(block, "match", line)
      ->Collective(CollectiveOp::kMatch, {value, kind, 0, 0}, mask, line);
}

uint32_t redux(BlockContext* block, uint32_t op, uint32_t value, uint32_t mask,
               uint32_t line) {
  return static_cast<uint32_t>(
      ThreadRunOf(block, "warp reduction", line)
          ->Collective(CollectiveOp::kRedux, {value, op, 0, 0}, mask, line));
}

uint32_t active_mask(BlockContext* block, uint32_t line) {
  return ThreadRunOf(block, "active mask", line)->ActiveMask(line);
}

void warp_barrier_sync(BlockContext* block, uint32_t id, uint32_t count,
                       uint32_t lanes, uint32_t line) {
  BlockRun* run = RunOf(block, "barrier", line);
  run->WaitAtBarrier(id, WarpArrival(block, run, count, lanes),
                     BarrierOp::kPopc, line);
}

void warp_barrier_arrive(BlockContext* block, uint32_t id, uint32_t count,
                         uint32_t lanes, uint32_t line) {
  BlockRun* run = RunOf(block, "barrier arrival", line);
  BarrierArrival arrival = WarpArrival(block, run, count, lanes);
  arrival.waits = false;
  run->ArriveAtBarrier(id, arrival, line);
}

uint32_t warp_barrier_red(BlockContext* block, uint32_t op, uint32_t id,
                          uint32_t count, uint32_t predicates, uint32_t lanes,
                          uint32_t line) {
  BlockRun* run = RunOf(block, "barrier reduction", line);
  BarrierArrival arrival = WarpArrival(block, run, count, lanes);
  arrival.reduces = true;
  arrival.predicates = static_cast<uint32_t>(std::popcount(predicates & lanes));
  return run->WaitAtBarrier(id, arrival, static_cast<BarrierOp>(op), line);
}

void yield(BlockContext* block) {
  auto* frame = static_cast<BlockFrame*>(block);
  if (frame->run != nullptr) {
    frame->run->Yield();
  } else if (frame->launch->stopped()) {
    frame->owner->LeaveStopped();
  }
}

void exit_unit(BlockContext* block) {
  auto* frame = static_cast<BlockFrame*>(block);
  if (frame->run != nullptr) frame->run->ExitUnit();
  frame->owner->Leave(Outcome::kUnitExit, /*leaving=*/true);
}

}  // namespace helper
}  // namespace hetgpu::cpu
