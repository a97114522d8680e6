#include "backends/cpu/collectives.h"

#include <algorithm>
#include <bit>

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kPredicate = uint64_t{1} << 32;

template <typename Function>
void ForEachLane(uint32_t lanes, Function function) {
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    function(static_cast<uint32_t>(std::countr_zero(rest)));
  }
}

uint64_t Shuffle(uint32_t lane, uint32_t lanes, const LaneInput* inputs) {
  const LaneInput& own = inputs[lane];
  const uint32_t distance = own.b & 31;
  const uint32_t segment = own.c >> 8 & 31;
  const uint32_t low = lane & segment;
  const int bound = static_cast<int>(low | (own.c & 31 & ~segment));
  int source = 0;
  bool in_range = false;
  switch (static_cast<ShuffleMode>(own.mode)) {
    case ShuffleMode::kUp:
      source = static_cast<int>(lane) - static_cast<int>(distance);
      in_range = source >= bound;
      break;
    case ShuffleMode::kDown:
      source = static_cast<int>(lane + distance);
      in_range = source <= bound;
      break;
    case ShuffleMode::kBfly:
      source = static_cast<int>(lane ^ distance);
      in_range = source <= bound;
      break;
    case ShuffleMode::kIdx:
      source = static_cast<int>(low | (distance & ~segment));
      in_range = source <= bound;
      break;
  }
  if (!in_range) source = static_cast<int>(lane);
  const bool present = lanes >> source & 1;
  const uint32_t value =
      present ? static_cast<uint32_t>(inputs[source].value) : 0;
  return value | (in_range ? kPredicate : 0);
}

uint32_t Ballot(uint32_t lanes, const LaneInput* inputs) {
  uint32_t ballot = 0;
  ForEachLane(lanes, [&](uint32_t lane) {
    if (inputs[lane].value != 0) ballot |= 1u << lane;
  });
  return ballot;
}

uint64_t Vote(uint32_t lane, uint32_t lanes, const LaneInput* inputs) {
  const uint32_t ballot = Ballot(lanes, inputs);
  switch (static_cast<VoteKind>(inputs[lane].mode)) {
    case VoteKind::kAll:
      return ballot == lanes;
    case VoteKind::kAny:
      return ballot != 0;
    case VoteKind::kUni:
      return ballot == lanes || ballot == 0;
    case VoteKind::kBallot:
      return ballot;
  }
  return 0;
}

uint64_t Match(uint32_t lane, uint32_t lanes, const LaneInput* inputs) {
  uint32_t equal = 0;
  ForEachLane(lanes, [&](uint32_t other) {
    if (inputs[other].value == inputs[lane].value) equal |= 1u << other;
  });
  const bool all = equal == lanes;
  if (static_cast<MatchKind>(inputs[lane].mode) == MatchKind::kAll) {
    return all ? lanes | kPredicate : 0;
  }
  return equal | (all ? kPredicate : 0);
}

uint32_t Combine(ReduxOp op, uint32_t a, uint32_t b) {
  const int32_t sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  switch (op) {
    case ReduxOp::kAdd:
      return a + b;
    case ReduxOp::kMinS:
      return static_cast<uint32_t>(std::min(sa, sb));
    case ReduxOp::kMaxS:
      return static_cast<uint32_t>(std::max(sa, sb));
    case ReduxOp::kMinU:
      return std::min(a, b);
    case ReduxOp::kMaxU:
      return std::max(a, b);
    case ReduxOp::kAnd:
      return a & b;
    case ReduxOp::kOr:
      return a | b;
    case ReduxOp::kXor:
      return a ^ b;
  }
  return 0;
}

uint64_t Redux(uint32_t lane, uint32_t lanes, const LaneInput* inputs) {
  const ReduxOp op = static_cast<ReduxOp>(inputs[lane].mode);
  const uint32_t first = static_cast<uint32_t>(std::countr_zero(lanes));
  uint32_t result = static_cast<uint32_t>(inputs[first].value);
  ForEachLane(lanes & (lanes - 1), [&](uint32_t other) {
    result = Combine(op, result, static_cast<uint32_t>(inputs[other].value));
  });
  return result;
}

}  // namespace

const char* NameOf(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::kSync:
      return "warp barrier";
    case CollectiveOp::kShuffle:
      return "shuffle";
    case CollectiveOp::kVote:
      return "vote";
    case CollectiveOp::kMatch:
      return "match";
    case CollectiveOp::kRedux:
      return "warp reduction";
  }
  return "collective";
}

uint64_t CollectiveResult(CollectiveOp op, uint32_t lane, uint32_t lanes,
                          const LaneInput inputs[kWarpSize]) {
  switch (op) {
    case CollectiveOp::kSync:
      return 0;
    case CollectiveOp::kShuffle:
      return Shuffle(lane, lanes, inputs);
    case CollectiveOp::kVote:
      return Vote(lane, lanes, inputs);
    case CollectiveOp::kMatch:
      return Match(lane, lanes, inputs);
    case CollectiveOp::kRedux:
      return Redux(lane, lanes, inputs);
  }
  return 0;
}

}  // namespace hetgpu::cpu
