// Loads and stores of a warp: one address a lane.
//
// Addresses that form a progression (lane_forms.h) with the element size as
// stride become one masked vector access, with stride zero one scalar load;
// the conditions of the form are tested at run time. All else is a gather or
// scatter, and ordered accesses go lane by lane.
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
