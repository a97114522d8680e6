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
};

struct Access {
  // Scalar access: the pointer. Null for a vector access.
  llvm::Value* pointer = nullptr;
  // Vector access: host addresses (i64) by lane and the lanes that take part.
  llvm::Value* lanes = nullptr;
  llvm::Value* mask = nullptr;
  // The lanes' host addresses, when they form a progression.
  std::optional<LaneForm> form;
  // Vector access: the addresses are still to be tested (target_hooks.h,
  // CheckAddress), by whoever accesses them; or the base that was.
  bool untested = false;
  // Where to test the lanes' bases instead: these, and their form if they have
  // one.
  llvm::Value* base_lanes = nullptr;
  std::optional<LaneForm> base_form;
  // The mask may leave out any lane, not only those that do not exist.
  bool divergent = false;
  llvm::Value* base = nullptr;
  hetir::Space space = hetir::Space::generic;
  llvm::Align align;
};

// Emits the address computation; for a scalar access also the alignment
// check. The check of lanes is made where they are accessed.
Access EmitAccess(Emitter& emitter, const AccessRequest& request);

// The target's test of every lane in `mask`; returns what to access.
llvm::Value* CheckLaneAddresses(Emitter& emitter, AddressCheck check,
                                llvm::Value* addresses, llvm::Value* mask);

// Ends the launch when an address that may be misaligned is. `any` is an i1,
// `lane` gives the lane to blame and is called in the cold block.
void TrapIfMisaligned(Emitter& emitter, llvm::Value* any,
                      llvm::function_ref<llvm::Value*()> lane);
llvm::Value* LowestLane(Ir& ir, llvm::Value* mask);

// Largest power of two, at most 4096, that divides the value in every run.
uint64_t KnownMultiple(Emitter& emitter, mlir::Value value);

// The integer type that holds `type` in memory: packed vectors become one
// integer, floats stay.
llvm::Type* MemoryType(llvm::Type* type, bool packed);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_MEMORY_ACCESS_H_
