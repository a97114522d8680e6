// Addresses of memory ops: from hetIR integers to LLVM pointers, with the
// check that the access is aligned.
//
//   scalar   one pointer. base + index + offset: a local array keeps its
//            alloca as base, so that it can live in registers; a space of
//            offsets is reached from the target's base pointer
//   vector   one address a lane (after simt-to-simd), as integers
//
// Whether an address needs the target's test is decided in address_check.h. The
// check for alignment is made on the summands that are not known to be multiples of the
// access size, so that it mostly falls on a loop-invariant base; it branches
// to a cold block that ends the launch.
#ifndef HETGPU_BACKENDS_LLVM_IR_MEMORY_ACCESS_H_
#define HETGPU_BACKENDS_LLVM_IR_MEMORY_ACCESS_H_

#include <functional>

#include "backends/llvm_ir/emitter.h"
#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/lane_forms.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {

// What one access is about. `index` and `mask` may be null.
struct AccessRequest {
  mlir::Operation* op = nullptr;
  hetir::Space space = hetir::Space::generic;
  mlir::Value address;
  mlir::Value index;
  mlir::Value mask;
  int64_t offset = 0;
  uint64_t bytes = 1;  // the natural alignment
  // Weak, and no more than a load or a store: a progression may be accessed as
  // a whole.
  bool plain = false;
};

// What the addresses of lanes are the sum of. Few accesses need them as a
// vector, and those in rarely executed code: they are added up there.
struct LaneParts {
  llvm::Value* address = nullptr;  // of each lane, or one for all
  llvm::Value* index = nullptr;    // likewise; or null
  // What the index, or the address of each lane where there is no index, is in
  // hetIR, when known.
  mlir::Value source;
  int64_t scale = 1;               // of the index, once it is as wide
  int64_t offset = 0;
  bool is_offset = false;  // from the space's base (TargetHooks::SpaceBase)
};

// Emits an i1 where it is needed, so that each has a branch of its own; null:
// it always holds.
using Condition = std::function<llvm::Value*()>;

struct Access {
  mlir::Operation* op = nullptr;
  // Scalar access: the pointer. Null for a vector access.
  llvm::Value* pointer = nullptr;
  // Vector access: where the lanes' addresses come from (LaneAddresses) and the
  // lanes that take part.
  LaneParts parts;
  llvm::Value* mask = nullptr;
  // The lanes' host addresses, when they form a progression with the size of
  // the access or 0 as stride; then the access has its own tests. Where all of
  // `fast` hold, all is well with the progression. Elsewhere the lanes are
  // accessed one by one, tested and checked.
  std::optional<LaneForm> form;
  llvm::SmallVector<Condition, 4> fast;
  // The lanes are no progression, and one instruction accesses one of them.
  bool one_by_one = false;
  // Vector access: the addresses are still to be tested (target_hooks.h,
  // CheckAddress), by whoever accesses them.
  bool untested = false;
  // Where to test the lanes' bases instead.
  llvm::Value* base_lanes = nullptr;
  // Every lane is a multiple of the size of the access.
  bool aligned = false;
  // The mask may leave out any lane, not only those that do not exist.
  bool divergent = false;
  hetir::Space space = hetir::Space::generic;
  llvm::Align align;
};

// Emits the address computation; for a scalar access also the alignment
// check. The check of lanes is made where they are accessed.
Access EmitAccess(Emitter& emitter, const AccessRequest& request);

// Host addresses (i64) by lane.
llvm::Value* LaneAddresses(Emitter& emitter, const Access& access);

// The host address (or addresses) for a sum of parts of the access.
llvm::Value* HostAddress(Emitter& emitter, const Access& access,
                         llvm::Value* sum);

// The target's test of every lane in `mask`; returns what to access.
llvm::Value* CheckLaneAddresses(Emitter& emitter, AddressCheck check,
                                llvm::Value* addresses, llvm::Value* mask);

// Ends the launch when an address that may be misaligned is. `any` is an i1,
// `lane` gives the lane to blame and is called in the cold block.
void TrapIfMisaligned(Emitter& emitter, llvm::Value* any,
                      llvm::function_ref<llvm::Value*()> lane);
llvm::Value* LowestLane(Ir& ir, llvm::Value* mask);
llvm::Value* AnyLane(Ir& ir, llvm::Value* mask);

// Largest power of two, at most 4096, that divides the value in every run.
uint64_t KnownMultiple(Emitter& emitter, mlir::Value value);

// The integer type that holds `type` in memory: packed vectors become one
// integer, floats stay.
llvm::Type* MemoryType(llvm::Type* type, bool packed);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_MEMORY_ACCESS_H_
