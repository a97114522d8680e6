// The contract between code the CPU compiler emits and the runtime that calls
// it. Both sides include this file; kAbiVersion changes with any change here.
//
// A kernel is compiled to one entry that runs a range of *units* of one block:
//
//   void entry(BlockContext* block, uint32_t first_unit, uint32_t unit_count);
//
// A unit is one thread (lanes_per_unit 1) or one warp (32). Units are numbered
// by linear thread id: thread t of block (ntid.x, ntid.y, ntid.z) has
// t = tid.x + ntid.x * (tid.y + ntid.y * tid.z); warp w holds threads
// 32 w … 32 w + 31. The entry stores the unit it is about to run in
// block->current_unit, so a fault can be attributed.
//
//   needs_fibers == 0   units never wait for each other: the runtime calls
//                       entry(block, 0, all units) on one stack
//   needs_fibers == 1   units may wait (barriers, collectives, spinning): each
//                       unit gets a fiber, entry(block, unit, 1), and the
//                       helpers below switch between them
//
// Emitted code has no external symbols but `Imports`: everything else is
// reached through BlockContext.
#ifndef HETGPU_BACKENDS_CPU_ABI_H_
#define HETGPU_BACKENDS_CPU_ABI_H_

#include <cstdint>

namespace hetgpu::cpu {

inline constexpr uint32_t kAbiVersion = 6;
inline constexpr uint32_t kWarpSize = 32;
inline constexpr uint32_t kNumBarriers = 16;

struct Helpers;

// Constant while a block runs, except current_unit and stack_*, which the
// scheduler sets at each switch. Emitted code loads fields by offsetof.
struct BlockContext {
  const Helpers* helpers;
  uint8_t* params;       // parameter block; .param address = params + offset
  uint8_t* data;         // module data segment
  uint8_t* shared;       // .shared address a = shared + a (generic: the sum)
  uint32_t shared_size;  // static + dynamic bytes
  uint32_t dynamic_shared_size;
  uint32_t ntid[3];
  uint32_t nctaid[3];
  uint32_t ctaid[3];
  uint32_t thread_count;  // of the block
  uint32_t current_unit;
  uint32_t worker;        // index of the OS thread: %smid
  uint64_t grid_id;
  uint64_t grid_workspace;  // of a cooperative launch, else 0
  uint8_t* stack_low;     // bounds of the running unit's stack: .local
  uint8_t* stack_high;    // addresses are host addresses inside it
  uint32_t acting_lane;   // for messages: of warp code that acts for one lane,
  uint32_t acting_lanes;  // and for some, as a mask
};

using Entry = void (*)(BlockContext* block, uint32_t first_unit,
                       uint32_t unit_count);

enum class TrapKind : uint32_t { kTrap, kMisaligned, kInvalid };
enum class BarrierOp : uint32_t { kPopc, kAnd, kOr };
enum class ShuffleMode : uint32_t { kUp, kDown, kBfly, kIdx };
enum class VoteKind : uint32_t { kAll, kAny, kUni, kBallot };
enum class MatchKind : uint32_t { kAny, kAll };
enum class ReduxOp : uint32_t { kAdd, kMinS, kMaxS, kMinU, kMaxU, kAnd, kOr,
                                kXor };
// Spaces for which an address is tested; shared and param addresses are offsets.
enum class TestedSpace : uint32_t { kGlobal, kGeneric, kLocal, kShared, kParam };
// Bytes in bits 0-15, TestedSpace in bits 16-23.
inline constexpr uint32_t AccessWord(TestedSpace space, uint32_t bytes) {
  return static_cast<uint32_t>(space) << 16 | bytes;
}
enum class AccessKind : uint32_t { kRead, kWrite, kAtomic };
// Values of HETIR rounding modes rn, rz, rm, rp, in this order.
enum class Round : uint32_t { kRn, kRz, kRm, kRp };

// Called by emitted code. `line` is the PTX line of the call, for messages.
// Rows marked T are for thread units (needs_fibers), W for warp units; the
// rest serve both. A member mask names lanes of the caller's warp.
#define HETGPU_CPU_HELPERS(X)                                                 \
  /* name, result, parameters after BlockContext* */                         \
  /* T: count 0 = all threads of the block that have not exited */            \
  X(barrier_sync, void, (BlockContext*, uint32_t id, uint32_t count,          \
                         uint32_t line))                                      \
  X(barrier_arrive, void, (BlockContext*, uint32_t id, uint32_t count,        \
                           uint32_t line))                                    \
  X(barrier_red, uint32_t, (BlockContext*, uint32_t op, uint32_t id,          \
                            uint32_t count, uint32_t predicate,               \
                            uint32_t line))                                   \
  X(warp_sync, void, (BlockContext*, uint32_t mask, uint32_t line))           \
  /* returns the value in bits 0-31 and the in-range predicate in bit 32 */   \
  X(shuffle, uint64_t, (BlockContext*, uint32_t mode, uint32_t value,         \
                        uint32_t b, uint32_t c, uint32_t mask,                \
                        uint32_t line))                                       \
  /* ballot: the mask; otherwise 0 or 1 */                                    \
  X(vote, uint32_t, (BlockContext*, uint32_t kind, uint32_t predicate,        \
                     uint32_t mask, uint32_t line))                           \
  /* mask in bits 0-31, "all equal" predicate in bit 32 */                    \
  X(match, uint64_t, (BlockContext*, uint32_t kind, uint64_t value,           \
                      uint32_t mask, uint32_t line))                          \
  X(redux, uint32_t, (BlockContext*, uint32_t op, uint32_t value,             \
                      uint32_t mask, uint32_t line))                          \
  X(active_mask, uint32_t, (BlockContext*, uint32_t line))                    \
  /* W: `lanes` = lanes of this warp that take part */                        \
  X(warp_barrier_sync, void, (BlockContext*, uint32_t id, uint32_t count,     \
                              uint32_t lanes, uint32_t line))                 \
  X(warp_barrier_arrive, void, (BlockContext*, uint32_t id, uint32_t count,   \
                                uint32_t lanes, uint32_t line))               \
  X(warp_barrier_red, uint32_t, (BlockContext*, uint32_t op, uint32_t id,     \
                                 uint32_t count, uint32_t predicates,         \
                                 uint32_t lanes, uint32_t line))              \
  /* both: let others run; the caller may be spinning on them */              \
  X(yield, void, (BlockContext*))                                             \
  /* these do not return */                                                   \
  X(exit_unit, void, (BlockContext*))                                         \
  X(trap, void, (BlockContext*, uint32_t kind, uint32_t lane, uint32_t line)) \
  /* Called where the inline test of an address failed, with what is accessed \
     (AccessWord) at one address of a lane, or at 32 addresses of the lanes in \
     `lanes`. Ends the launch unless they may be accessed all the same; then \
     gives what is to be added to the first one: the arena's delta or 0 */    \
  X(check_address, uint64_t, (BlockContext*, uint64_t address,                \
                              uint32_t access, uint32_t lane, uint32_t line)) \
  X(check_lanes, uint64_t, (BlockContext*, const uint64_t* addresses,         \
                            uint32_t access, uint32_t lanes, uint32_t line))  \
  /* Exact mode, before every access: `access` as above, with the kind of     \
     access (AccessKind) in bits 24-31. `low` and `size` are the bounds of    \
     the one variable that may be meant, or 0. Returns as check_address */    \
  X(check_exact, uint64_t, (BlockContext*, uint64_t address, uint64_t low,    \
                            uint64_t size, uint32_t access, uint32_t line))   \
  X(assert_fail, void, (BlockContext*, uint64_t message, uint64_t file,       \
                        uint32_t file_line, uint64_t function,                \
                        uint64_t char_size, uint32_t lane, uint32_t line))    \
  /* services */                                                              \
  X(vprintf, uint32_t, (BlockContext*, uint64_t format, uint64_t arguments))  \
  X(device_malloc, uint64_t, (BlockContext*, uint64_t bytes))                 \
  X(device_free, void, (BlockContext*, uint64_t address))                     \
  X(nanosleep, void, (BlockContext*, uint32_t ns))                            \
  X(clock64, uint64_t, (BlockContext*))                                       \
  X(globaltimer, uint64_t, (BlockContext*))                                   \
  /* arithmetic with a directed rounding mode (Round) */                      \
  X(add_f32, float, (float, float, uint32_t round))                           \
  X(mul_f32, float, (float, float, uint32_t round))                           \
  X(fma_f32, float, (float, float, float, uint32_t round))                    \
  X(div_f32, float, (float, float, uint32_t round))                           \
  X(sqrt_f32, float, (float, uint32_t round))                                 \
  X(add_f64, double, (double, double, uint32_t round))                        \
  X(mul_f64, double, (double, double, uint32_t round))                        \
  X(fma_f64, double, (double, double, double, uint32_t round))                \
  X(div_f64, double, (double, double, uint32_t round))                        \
  X(sqrt_f64, double, (double, uint32_t round))                               \
  X(f64_to_f32, float, (double, uint32_t round))                              \
  X(s64_to_f32, float, (int64_t, uint32_t round))                             \
  X(u64_to_f32, float, (uint64_t, uint32_t round))                            \
  X(s64_to_f64, double, (int64_t, uint32_t round))                            \
  X(u64_to_f64, double, (uint64_t, uint32_t round))                           \
  X(f32_to_f16, uint16_t, (float, uint32_t round))                            \
  X(f64_to_f16, uint16_t, (double, uint32_t round))                           \
  X(f32_to_bf16, uint16_t, (float, uint32_t round))                           \
  X(fma_f16, uint16_t, (uint16_t, uint16_t, uint16_t))                        \
  X(fma_bf16, uint16_t, (uint16_t, uint16_t, uint16_t))

struct Helpers {
#define HETGPU_CPU_HELPER_FIELD(name, result, params) result(*name) params;
  HETGPU_CPU_HELPERS(HETGPU_CPU_HELPER_FIELD)
#undef HETGPU_CPU_HELPER_FIELD
};

// Library functions that LLVM may call on its own; an image lists those it
// uses and the loader fills their slots. Anything else fails the compilation.
#define HETGPU_CPU_IMPORTS(X)                                              \
  X(memcpy) X(memmove) X(memset) X(fma) X(fmaf) X(fmod) X(fmodf) X(exp2f)  \
  X(exp2) X(log2f) X(sinf) X(cosf) X(tanhf) X(sqrtf) X(sqrt) X(roundevenf) \
  X(roundeven) X(truncf) X(trunc) X(floorf) X(floor) X(ceilf) X(ceil)      \
  X(rintf) X(rint) X(ldexpf) X(ldexp)                                      \
  X(__divti3) X(__udivti3) X(__modti3) X(__umodti3) X(__multi3)            \
  X(__truncsfhf2) X(__truncdfhf2) X(__extendhfsf2) X(__truncsfbf2)         \
  X(__truncdfbf2)

// The image a compile produces: one contiguous, position-independent block.
//
//   ImageHeader | ImportRecord[import_count] | LineRecord[line_count] |
//   explanation text | padding | code (page-aligned when mapped)
//
// Import slots are 8-byte words inside the code block that the loader fills
// with host addresses before it makes the block executable.
struct ImageHeader {
  char magic[8];  // "HETCPU\0\1"
  uint32_t abi_version;
  uint32_t lanes_per_unit;
  uint32_t needs_fibers;
  uint32_t stack_bytes;     // per unit, what the frames of the kernel need when
                            // known (no recursion), else 0
  uint32_t import_count;
  uint32_t line_count;
  uint32_t explanation_bytes;  // why this mode was chosen, for --debug-kernel
  uint32_t code_offset;     // from the start of the image
  uint64_t code_bytes;
  uint64_t entry_offset;    // from the start of the code
};

struct ImportRecord {
  uint32_t function;     // index in HETGPU_CPU_IMPORTS
  uint32_t reserved;
  uint64_t slot_offset;  // from the start of the code
};

// Code bytes from `code_offset` up to the next record come from `line` (0 =
// no line) and access memory as `site` (access_site.h) says; sorted by offset.
// Code that several lines share has kLineOfCaller: the line is that of the
// call.
inline constexpr uint32_t kLineOfCaller = 0x7fffffff;
struct LineRecord {
  uint32_t code_offset;
  uint32_t line;
  uint16_t site = 0;
  uint16_t reserved = 0;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ABI_H_
