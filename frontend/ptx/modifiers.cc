#include "frontend/ptx/modifiers.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace hetgpu::ptx {
namespace {

using Words = std::unordered_map<std::string_view, void (*)(Modifiers*)>;

// A row of the word table: the word and the field it sets.
// clang-format off
#define FIELD(word, field, value) \
  {word, [](Modifiers* m) { m->field = value; }}
#define FLAG(word, flag) {word, [](Modifiers* m) { m->Set(Flag::flag); }}

const Words& RoundingAndFlags() {
  static const Words* const words = new Words{
      FIELD("rn", rounding, Rounding::kRn),
      FIELD("rz", rounding, Rounding::kRz),
      FIELD("rm", rounding, Rounding::kRm),
      FIELD("rp", rounding, Rounding::kRp),
      FIELD("rna", rounding, Rounding::kRna),
      FIELD("rs", rounding, Rounding::kRs),
      FIELD("rni", rounding, Rounding::kRni),
      FIELD("rzi", rounding, Rounding::kRzi),
      FIELD("rmi", rounding, Rounding::kRmi),
      FIELD("rpi", rounding, Rounding::kRpi),
      FLAG("ftz", kFtz), FLAG("sat", kSat), FLAG("satfinite", kSatfinite),
      FLAG("relu", kRelu), FLAG("approx", kApprox), FLAG("full", kFull),
      FLAG("noftz", kNoftz), FLAG("NaN", kNaN), FLAG("xorsign", kXorsign),
      FLAG("abs", kAbs), FLAG("cc", kCc), FLAG("to", kTo), FLAG("nc", kNc),
      FLAG("L2::cache_hint", kCacheHint), FLAG("mmio", kMmio),
      FLAG("sync", kSync), FLAG("aligned", kAligned), FLAG("trans", kTrans),
      FLAG("shiftamt", kShiftamt), FLAG("parity", kParity),
      FLAG("noComplete", kNoComplete), FLAG("noinc", kNoInc),
      FLAG("expect_tx", kExpectTx), FLAG("read", kRead),
      FLAG("async", kAsync), FLAG("L1", kLevelL1), FLAG("L2", kLevelL2),
      FLAG("tensormap", kTensormap), FLAG("pack", kPack),
      FLAG("sp", kSp), FLAG("sp::ordered_metadata", kSp),
  };
  return *words;
}

const Words& OperationsAndModes() {
  static const Words* const words = new Words{
      FIELD("and", operation, Operation::kAnd),
      FIELD("or", operation, Operation::kOr),
      FIELD("xor", operation, Operation::kXor),
      FIELD("add", operation, Operation::kAdd),
      FIELD("min", operation, Operation::kMin),
      FIELD("max", operation, Operation::kMax),
      FIELD("inc", operation, Operation::kInc),
      FIELD("dec", operation, Operation::kDec),
      FIELD("cas", operation, Operation::kCas),
      FIELD("exch", operation, Operation::kExch),
      {"popc",
       [](Modifiers* m) {
         // mma.and.popc keeps the operation that combines; bar.red.popc has
         // no other.
         if (m->operation == Operation::kNone) m->operation = Operation::kPopc;
       }},
      FIELD("lo", mode, Mode::kLo), FIELD("hi", mode, Mode::kHi),
      FIELD("wide", mode, Mode::kWide), FIELD("up", mode, Mode::kUp),
      FIELD("down", mode, Mode::kDown), FIELD("bfly", mode, Mode::kBfly),
      FIELD("idx", mode, Mode::kIdx), FIELD("all", mode, Mode::kAll),
      FIELD("any", mode, Mode::kAny), FIELD("uni", mode, Mode::kUni),
      FIELD("ballot", mode, Mode::kBallot), FIELD("l", mode, Mode::kL),
      FIELD("r", mode, Mode::kR), FIELD("f4e", mode, Mode::kF4e),
      FIELD("b4e", mode, Mode::kB4e), FIELD("rc8", mode, Mode::kRc8),
      FIELD("ecl", mode, Mode::kEcl), FIELD("ecr", mode, Mode::kEcr),
      FIELD("rc16", mode, Mode::kRc16),
      FIELD("finite", mode, Mode::kFinite),
      FIELD("infinite", mode, Mode::kInfinite),
      FIELD("number", mode, Mode::kNumber),
      FIELD("notanumber", mode, Mode::kNotanumber),
      FIELD("normal", mode, Mode::kNormal),
      FIELD("subnormal", mode, Mode::kSubnormal),
      FIELD("a", mode, Mode::kA), FIELD("b", mode, Mode::kB),
      FIELD("c", mode, Mode::kC), FIELD("d", mode, Mode::kD),
      FIELD("p", mode, Mode::kP), FIELD("g", mode, Mode::kG),
      FIELD("level", mode, Mode::kLevel), FIELD("grad", mode, Mode::kGrad),
      FIELD("base", mode, Mode::kBase), FIELD("width", mode, Mode::kWidth),
      FIELD("height", mode, Mode::kHeight),
      FIELD("depth", mode, Mode::kDepth),
      FIELD("channel_data_type", mode, Mode::kChannelDataType),
      FIELD("channel_order", mode, Mode::kChannelOrder),
      FIELD("normalized_coords", mode, Mode::kNormalizedCoords),
      FIELD("force_unnormalized_coords", mode, Mode::kForceUnnormalizedCoords),
      FIELD("filter_mode", mode, Mode::kFilterMode),
      FIELD("addr_mode_0", mode, Mode::kAddrMode0),
      FIELD("addr_mode_1", mode, Mode::kAddrMode1),
      FIELD("addr_mode_2", mode, Mode::kAddrMode2),
      FIELD("array_size", mode, Mode::kArraySize),
      FIELD("num_mipmap_levels", mode, Mode::kNumMipmapLevels),
      FIELD("num_samples", mode, Mode::kNumSamples),
      FIELD("memory_layout", mode, Mode::kMemoryLayout),
      FIELD("fractional", mode, Mode::kFractional),
      FIELD("range", mode, Mode::kRange),
      FIELD("wrap", clamp, Clamp::kWrap),
      FIELD("clamp", clamp, Clamp::kClamp),
      FIELD("trap", clamp, Clamp::kTrap),
      FIELD("zero", clamp, Clamp::kZero),
  };
  return *words;
}

const Words& Memory() {
  static const Words* const words = new Words{
      FIELD("weak", semantics, MemorySemantics::kWeak),
      FIELD("volatile", semantics, MemorySemantics::kVolatile),
      FIELD("relaxed", semantics, MemorySemantics::kRelaxed),
      FIELD("acquire", semantics, MemorySemantics::kAcquire),
      FIELD("release", semantics, MemorySemantics::kRelease),
      FIELD("acq_rel", semantics, MemorySemantics::kAcqRel),
      FIELD("sc", semantics, MemorySemantics::kSc),
      FIELD("cta", scope, Scope::kCta),
      FIELD("cluster", scope, Scope::kCluster),
      FIELD("gpu", scope, Scope::kGpu),
      FIELD("gl", scope, Scope::kGpu),  // membar.gl
      FIELD("sys", scope, Scope::kSys),
      FIELD("ca", cache, CacheOp::kCa), FIELD("cg", cache, CacheOp::kCg),
      FIELD("cs", cache, CacheOp::kCs), FIELD("lu", cache, CacheOp::kLu),
      FIELD("cv", cache, CacheOp::kCv), FIELD("wb", cache, CacheOp::kWb),
      FIELD("wt", cache, CacheOp::kWt),
      FIELD("L1::evict_normal", evict_l1, Eviction::kNormal),
      FIELD("L1::evict_unchanged", evict_l1, Eviction::kUnchanged),
      FIELD("L1::evict_first", evict_l1, Eviction::kFirst),
      FIELD("L1::evict_last", evict_l1, Eviction::kLast),
      FIELD("L1::no_allocate", evict_l1, Eviction::kNoAllocate),
      FIELD("L2::evict_normal", evict_l2, Eviction::kNormal),
      FIELD("L2::evict_unchanged", evict_l2, Eviction::kUnchanged),
      FIELD("L2::evict_first", evict_l2, Eviction::kFirst),
      FIELD("L2::evict_last", evict_l2, Eviction::kLast),
      FIELD("L2::64B", l2_prefetch_bytes, 64),
      FIELD("L2::128B", l2_prefetch_bytes, 128),
      FIELD("L2::256B", l2_prefetch_bytes, 256),
      FIELD("v2", vector, 2), FIELD("v4", vector, 4), FIELD("v8", vector, 8),
      FIELD("x1", matrix_count, 1), FIELD("x2", matrix_count, 2),
      FIELD("x4", matrix_count, 4),
      FIELD("1d", geometry, Geometry::k1d),
      FIELD("2d", geometry, Geometry::k2d),
      FIELD("3d", geometry, Geometry::k3d),
      FIELD("4d", geometry, Geometry::k4d),
      FIELD("5d", geometry, Geometry::k5d),
      FIELD("a1d", geometry, Geometry::kA1d),
      FIELD("a2d", geometry, Geometry::kA2d),
      FIELD("cube", geometry, Geometry::kCube),
      FIELD("acube", geometry, Geometry::kAcube),
      FIELD("2dms", geometry, Geometry::k2dms),
      FIELD("a2dms", geometry, Geometry::kA2dms),
  };
  return *words;
}

#undef FIELD
#undef FLAG
// clang-format on

const std::unordered_map<std::string_view, CompareOp>& Compares() {
  static const auto* const words =
      new std::unordered_map<std::string_view, CompareOp>{
          {"eq", CompareOp::kEq},   {"ne", CompareOp::kNe},
          {"lt", CompareOp::kLt},   {"le", CompareOp::kLe},
          {"gt", CompareOp::kGt},   {"ge", CompareOp::kGe},
          {"lo", CompareOp::kLo},   {"ls", CompareOp::kLs},
          {"hi", CompareOp::kHi},   {"hs", CompareOp::kHs},
          {"equ", CompareOp::kEqu}, {"neu", CompareOp::kNeu},
          {"ltu", CompareOp::kLtu}, {"leu", CompareOp::kLeu},
          {"gtu", CompareOp::kGtu}, {"geu", CompareOp::kGeu},
          {"num", CompareOp::kNum}, {"nan", CompareOp::kNan},
      };
  return *words;
}

std::optional<StateSpace> SpaceFromWord(std::string_view word) {
  static constexpr std::pair<std::string_view, StateSpace> kSpaces[] = {
      {"global", StateSpace::kGlobal},
      {"const", StateSpace::kConst},
      {"shared", StateSpace::kShared},
      {"shared::cta", StateSpace::kShared},
      {"shared::cluster", StateSpace::kSharedCluster},
      {"local", StateSpace::kLocal},
      {"param", StateSpace::kParam},
      {"param::entry", StateSpace::kParam},
      {"param::func", StateSpace::kParam},
  };
  for (const auto& [name, space] : kSpaces) {
    if (name == word) return space;
  }
  return std::nullopt;
}

bool ReadNumber(std::string_view* text, char prefix, uint16_t* value) {
  if (text->empty() || text->front() != prefix) return false;
  text->remove_prefix(1);
  uint32_t number = 0;
  size_t digits = 0;
  while (digits < text->size() && digits < 4 && (*text)[digits] >= '0' &&
         (*text)[digits] <= '9') {
    number = number * 10 + static_cast<uint32_t>((*text)[digits++] - '0');
  }
  text->remove_prefix(digits);
  *value = static_cast<uint16_t>(number);
  return digits > 0;
}

// "m16n8k16" or "m8n8".
std::optional<MatrixShape> ShapeFromWord(std::string_view word) {
  MatrixShape shape;
  if (!ReadNumber(&word, 'm', &shape.m)) return std::nullopt;
  if (!ReadNumber(&word, 'n', &shape.n)) return std::nullopt;
  if (word.empty()) return shape;
  if (!ReadNumber(&word, 'k', &shape.k) || !word.empty()) return std::nullopt;
  return shape;
}

void AddSpace(StateSpace space, Modifiers* modifiers) {
  (modifiers->has_space ? modifiers->space2 : modifiers->space) = space;
  modifiers->has_space = true;
}

void AddLayout(Layout layout, Modifiers* modifiers) {
  bool second = modifiers->layout_a != Layout::kNone;
  (second ? modifiers->layout_b : modifiers->layout_a) = layout;
}

}  // namespace

WordKind KindOfWord(std::string_view word) {
  if (TypeFromName(word)) return WordKind::kType;
  if (SpaceFromWord(word)) return WordKind::kSpace;
  if (word == "row" || word == "col") return WordKind::kLayout;
  return WordKind::kFree;
}

void ApplyWord(std::string_view word, bool is_compare, Modifiers* modifiers) {
  if (is_compare) {
    auto it = Compares().find(word);
    if (it != Compares().end()) modifiers->compare = it->second;
    return;
  }
  if (auto type = TypeFromName(word)) {
    if (modifiers->num_types < modifiers->types.size()) {
      modifiers->types[modifiers->num_types++] = *type;
    }
    return;
  }
  if (auto space = SpaceFromWord(word)) return AddSpace(*space, modifiers);
  if (word == "row") return AddLayout(Layout::kRow, modifiers);
  if (word == "col") return AddLayout(Layout::kCol, modifiers);
  for (const Words* words :
       {&RoundingAndFlags(), &OperationsAndModes(), &Memory()}) {
    if (auto it = words->find(word); it != words->end()) {
      it->second(modifiers);
      return;
    }
  }
  if (auto shape = ShapeFromWord(word)) modifiers->shape = *shape;
}

bool IsWgmmaShape(std::string_view word) {
  auto shape = ShapeFromWord(word);
  if (!shape || shape->m != 64 || shape->n == 0 || shape->n % 8 != 0 ||
      shape->n > 256) {
    return false;
  }
  static constexpr uint16_t kDepths[] = {8, 16, 32, 64, 256};
  return std::find(std::begin(kDepths), std::end(kDepths), shape->k) !=
         std::end(kDepths);
}

}  // namespace hetgpu::ptx
