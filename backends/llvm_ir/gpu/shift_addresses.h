// For a GPU whose memory lies at a distance from the addresses that programs
// hold: every access to an address in the window goes to address + delta.
//
//   programs    | window: base … base + bytes |
//   the GPU                       | its memory, at base + delta … |
//
// Addresses themselves, in registers and in memory, stay as they are. What lies
// outside of the window (shared and local memory by generic addresses, the
// device's heap, the module's data) is the GPU's own and is not shifted.
#ifndef HETGPU_BACKENDS_LLVM_IR_GPU_SHIFT_ADDRESSES_H_
#define HETGPU_BACKENDS_LLVM_IR_GPU_SHIFT_ADDRESSES_H_

#include <cstdint>

#include "mlir/IR/BuiltinOps.h"

namespace hetgpu::llvm_ir {

struct AddressWindow {
  uint64_t base = 0;
  uint64_t bytes = 0;
  uint64_t delta = 0;  // 0: nothing is shifted
};

// Rewrites loads, stores, atomics, prefetches, what services read, and memory
// operands ("[$2+16]") of verbatim instructions.
void ShiftAddresses(mlir::ModuleOp module, const AddressWindow& window);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_GPU_SHIFT_ADDRESSES_H_
