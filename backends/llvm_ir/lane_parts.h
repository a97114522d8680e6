// The addresses of lanes as what they are the sum of.
#ifndef HETGPU_BACKENDS_LLVM_IR_LANE_PARTS_H_
#define HETGPU_BACKENDS_LLVM_IR_LANE_PARTS_H_

#include "backends/llvm_ir/memory_access.h"

namespace hetgpu::llvm_ir {

// Of a vector access, with `base` in place of the request's address when not
// null. Summands that all lanes have in common are one value.
LaneParts PartsOf(Emitter& emitter, const AccessRequest& request,
                  llvm::Value* base);

// The addresses, before the base of a space of offsets is added.
llvm::Value* LaneSums(Emitter& emitter, LaneParts parts);

// The same of parts that are all scalars or all vectors.
llvm::Value* SumOf(Ir& ir, const LaneParts& parts);

// A value as one of every lane.
llvm::Value* Spread(Ir& ir, llvm::Value* value);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_PARTS_H_
