// Division of integers, also lane by lane, where processors have none. Total:
// see hetir.div and hetir.rem.
#ifndef HETGPU_BACKENDS_LLVM_IR_LANE_DIVISION_H_
#define HETGPU_BACKENDS_LLVM_IR_LANE_DIVISION_H_

#include "backends/llvm_ir/emitter.h"

namespace hetgpu::llvm_ir {

llvm::Value* Divide(Emitter& emitter, llvm::Value* a, llvm::Value* b,
                    bool is_signed);
llvm::Value* Remainder(Emitter& emitter, llvm::Value* a, llvm::Value* b,
                       bool is_signed);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_DIVISION_H_
