// What an opcode string such as `ld.global.nc.v4.f32` means: the operation, the
// row of the grammar table it matched, and its modifiers as small enums.
#ifndef HETGPU_FRONTEND_PTX_OPCODE_H_
#define HETGPU_FRONTEND_PTX_OPCODE_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "frontend/ptx/types.h"

namespace hetgpu::ptx {

enum class Op : uint16_t {
#define OP(name, family) k##name,
#include "frontend/ptx/ops.def"
#undef OP
};

// The family as written in PTX: "add", "cp.async.bulk", …
std::string_view OpName(Op op);

enum class Rounding : uint8_t {
  kNone,
  kRn,
  kRz,
  kRm,
  kRp,
  kRna,
  kRs,  // to a float
  kRni,
  kRzi,
  kRmi,
  kRpi,  // to an integral value
};

enum class CompareOp : uint8_t {
  kNone,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,  // unsigned spellings
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,  // true when unordered
  kNum,
  kNan,
};

// What setp/set combine with, what atom/red/redux/bar.red/multimem/video do.
enum class Operation : uint8_t {
  kNone,
  kAnd,
  kOr,
  kXor,
  kAdd,
  kMin,
  kMax,
  kInc,
  kDec,
  kCas,
  kExch,
  kPopc,
};

// The one-of-several word that picks an instruction's variant.
enum class Mode : uint8_t {
  kNone,
  kLo,
  kHi,
  kWide,  // mul, mad, mul24, dp2a
  kUp,
  kDown,
  kBfly,
  kIdx,  // shfl
  kAll,
  kAny,
  kUni,
  kBallot,  // vote, match, bra.uni, call.uni
  kL,
  kR,  // shf; kR also tld4
  kF4e,
  kB4e,
  kRc8,
  kEcl,
  kEcr,
  kRc16,  // prmt
  kFinite,
  kInfinite,
  kNumber,
  kNotanumber,
  kNormal,
  kSubnormal,  // testp
  kA,
  kB,
  kC,
  kD,
  kP,
  kG,  // wmma fragment, surface .b/.p, tld4
  kLevel,
  kGrad,
  kBase,  // tex
  kWidth,
  kHeight,
  kDepth,
  kChannelDataType,
  kChannelOrder,  // txq, suq
  kNormalizedCoords,
  kForceUnnormalizedCoords,
  kFilterMode,
  kAddrMode0,
  kAddrMode1,
  kAddrMode2,
  kArraySize,
  kNumMipmapLevels,
  kNumSamples,
  kMemoryLayout,
  kFractional,
  kRange,  // createpolicy
  kTexref,
  kSamplerref,
  kSurfref,  // istypep
};

enum class Clamp : uint8_t { kNone, kWrap, kClamp, kTrap, kZero };

enum class Geometry : uint8_t {
  kNone,
  k1d,
  k2d,
  k3d,
  k4d,
  k5d,
  kA1d,
  kA2d,
  kCube,
  kAcube,
  k2dms,
  kA2dms,
};

enum class MemorySemantics : uint8_t {
  kNone,  // not written: weak
  kWeak,
  kVolatile,
  kRelaxed,
  kAcquire,
  kRelease,
  kAcqRel,
  kSc,
};

enum class Scope : uint8_t { kNone, kCta, kCluster, kGpu, kSys };

enum class CacheOp : uint8_t { kNone, kCa, kCg, kCs, kLu, kCv, kWb, kWt };

enum class Eviction : uint8_t {
  kNone,
  kNormal,
  kUnchanged,
  kFirst,
  kLast,
  kNoAllocate,
};

enum class Layout : uint8_t { kNone, kRow, kCol };

enum class Flag : uint8_t {
  kFtz,
  kSat,
  kSatfinite,
  kRelu,
  kApprox,
  kFull,
  kNoftz,
  kNaN,
  kXorsign,
  kAbs,
  kCc,
  kTo,
  kNc,
  kCacheHint,
  kMmio,
  kSync,
  kAligned,
  kTrans,
  kShiftamt,
  kParity,
  kNoComplete,
  kNoInc,
  kExpectTx,
  kRead,
  kAsync,
  kLevelL1,  // prefetch.L1
  kLevelL2,  // prefetch.L2, discard.L2, …
  kTensormap,
  kPack,
  kSp,
  kCount,
};

struct MatrixShape {
  uint16_t m = 0, n = 0, k = 0;
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

// Modifiers in decoded form. A field that the instruction does not have, or
// that was not written, holds its kNone / zero value. Words that no field
// describes (rare, of instructions that only newer hardware has) remain in
// Opcode::text; every word was accepted by the grammar row.
struct Modifiers {
  // Types in the order written: cvt.f32.f16 has {f32, f16}.
  std::array<Type, 5> types = {};
  uint8_t num_types = 0;
  StateSpace space = StateSpace::kGeneric;   // first written
  StateSpace space2 = StateSpace::kGeneric;  // second: cp.async source
  bool has_space = false;
  Rounding rounding = Rounding::kNone;
  CompareOp compare = CompareOp::kNone;
  Operation operation = Operation::kNone;
  Mode mode = Mode::kNone;
  Clamp clamp = Clamp::kNone;
  Geometry geometry = Geometry::kNone;
  MemorySemantics semantics = MemorySemantics::kNone;
  Scope scope = Scope::kNone;
  CacheOp cache = CacheOp::kNone;
  Eviction evict_l1 = Eviction::kNone;
  Eviction evict_l2 = Eviction::kNone;
  uint16_t l2_prefetch_bytes = 0;   // 64, 128 or 256
  uint8_t vector = 1;               // .v2 .v4 .v8
  uint8_t matrix_count = 1;         // .x1 .x2 .x4 of ldmatrix/stmatrix
  MatrixShape shape;                // .m16n8k16; .m8n8 has k = 0
  Layout layout_a = Layout::kNone;  // first .row/.col written
  Layout layout_b = Layout::kNone;  // second
  uint64_t flags = 0;

  bool Has(Flag flag) const {
    return (flags >> static_cast<unsigned>(flag)) & 1;
  }
  void Set(Flag flag) { flags |= uint64_t{1} << static_cast<unsigned>(flag); }
  // The i-th type written, or kNone.
  Type type(int i = 0) const { return i < num_types ? types[i] : Type::kNone; }
};

struct Form;  // grammar.h

// One distinct opcode string of a module, resolved once.
struct Opcode {
  Op op;
  const Form* form = nullptr;
  Modifiers modifiers;
  std::string_view text;  // as written: "ld.global.nc.v4.f32"
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_OPCODE_H_
