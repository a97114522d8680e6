// What warp collectives compute once all their lanes have arrived, as PTX
// defines it. No scheduling here.
#ifndef HETGPU_BACKENDS_CPU_COLLECTIVES_H_
#define HETGPU_BACKENDS_CPU_COLLECTIVES_H_

#include <cstdint>

#include "backends/cpu/abi.h"

namespace hetgpu::cpu {

enum class CollectiveOp : uint8_t { kSync, kShuffle, kVote, kMatch, kRedux };

// "shuffle", … for messages.
const char* NameOf(CollectiveOp op);

// What a lane brought. `mode` is the ShuffleMode, VoteKind, MatchKind or
// ReduxOp.
struct LaneInput {
  uint64_t value = 0;
  uint32_t mode = 0;
  uint32_t b = 0;  // shuffle operands
  uint32_t c = 0;
};

// The result of `lane`, in the form of the helper of the same name; `lanes`
// are the lanes that arrived, `inputs` is indexed by lane. A shuffle that
// reads a lane which did not arrive gives 0 with the predicate PTX computes.
uint64_t CollectiveResult(CollectiveOp op, uint32_t lane, uint32_t lanes,
                          const LaneInput inputs[kWarpSize]);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COLLECTIVES_H_
