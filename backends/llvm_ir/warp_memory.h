// Loads and stores of a warp: one address a lane.
//
// Most accesses of real kernels are contiguous: lane i at address + i * size.
// That is often not provable, so it is tested at run time: a compare of two
// address vectors picks a masked vector access over a gather or scatter.
#ifndef HETGPU_BACKENDS_LLVM_IR_WARP_MEMORY_H_
#define HETGPU_BACKENDS_LLVM_IR_WARP_MEMORY_H_

#include "backends/llvm_ir/emitter.h"
#include "backends/llvm_ir/memory_access.h"

namespace hetgpu::llvm_ir {

// `count` values a lane from adjacent addresses; each result holds one value
// of every lane. Lanes outside the mask get zero.
llvm::SmallVector<llvm::Value*> LoadLanes(Emitter& emitter,
                                          const Access& access,
                                          llvm::Type* element, uint64_t count,
                                          hetir::Ordering ordering);
void StoreLanes(Emitter& emitter, const Access& access,
                llvm::ArrayRef<llvm::Value*> values,
                hetir::Ordering ordering);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_WARP_MEMORY_H_
