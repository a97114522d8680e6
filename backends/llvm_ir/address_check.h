// Which accesses need the target's test of their address, and what is tested.
//
//   base    the base alone, where index and offset cannot lead further than the
//           target allows (CheckReach): mostly a pointer from a parameter, so
//           that the test is invariant in loops and one for all lanes
//   lanes   the bases of the lanes, each its own, for the same reason: accesses
//           at several offsets from them share one test
//   full    the address of the access itself
//   proven  nothing: module data and shared variables with a near offset
#ifndef HETGPU_BACKENDS_LLVM_IR_ADDRESS_CHECK_H_
#define HETGPU_BACKENDS_LLVM_IR_ADDRESS_CHECK_H_

#include "backends/llvm_ir/memory_access.h"

namespace hetgpu::llvm_ir {

enum class AddressTest { kNone, kProven, kBase, kLanes, kFull };

AddressTest AddressTestOf(Emitter& emitter, const AccessRequest& request);

// The base of an access as one value for all lanes, or null.
mlir::Value UniformBase(mlir::Value address);

// The local array an address comes from, or null.
hetir::LocalAllocOp LocalArray(mlir::Value address);

// The module's variable an address comes from, or null.
hetir::DataAddressOp DataVariable(mlir::Value address);

// A bound of the absolute value in every run, of an integer that is extended to
// 64 bits with its sign; UINT64_MAX when nothing is known.
uint64_t Magnitude(mlir::Value value);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_ADDRESS_CHECK_H_
