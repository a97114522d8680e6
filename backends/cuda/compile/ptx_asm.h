// One PTX instruction, or a few, as inline assembly: what the code generator
// passes on as it stands.
//
// In `text`, $0, $1, … are the results, then the arguments. Their registers
// follow from their types; 8-bit integers travel in 16-bit registers, packed
// vectors as one integer, 32-bit constants as immediates.
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_PTX_ASM_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_PTX_ASM_H_

#include <string>

#include "backends/llvm_ir/emitter.h"

namespace hetgpu::cuda {

enum class AsmEffect {
  kNone,        // a function of its arguments
  kRead,        // reads memory that this kernel does not write
  kVolatile,    // must be executed, touches no memory (clocks)
  kMemory,      // reads or writes memory
  kConvergent,  // the same, together with other threads
};

// The results, in order.
llvm::SmallVector<llvm::Value*> EmitAsm(llvm_ir::Emitter& e,
                                        const llvm::Twine& text,
                                        llvm::ArrayRef<llvm::Type*> results,
                                        llvm::ArrayRef<llvm::Value*> arguments,
                                        AsmEffect effect = AsmEffect::kNone);
// With one result.
llvm::Value* EmitAsm(llvm_ir::Emitter& e, const llvm::Twine& text,
                     llvm::Type* result,
                     llvm::ArrayRef<llvm::Value*> arguments,
                     AsmEffect effect = AsmEffect::kNone);

// "op $0, $1, $2;" for `count` operands after the first.
std::string Operation(const llvm::Twine& op, size_t arguments);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_PTX_ASM_H_
