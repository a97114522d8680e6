// Access to BlockContext and its helpers (abi.h) from emitted code.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_BLOCK_CONTEXT_H_
#define HETGPU_BACKENDS_CPU_COMPILE_BLOCK_CONTEXT_H_

#include <cstddef>

#include "backends/cpu/abi.h"
#include "llvm/IR/IRBuilder.h"

namespace hetgpu::cpu {

// Loads a field that is constant while a block runs.
llvm::Value* LoadField(llvm::IRBuilder<>& ir, llvm::Value* block,
                       size_t offset, llvm::Type* type);
void StoreCurrentUnit(llvm::IRBuilder<>& ir, llvm::Value* block,
                      llvm::Value* unit);

enum class Helper : unsigned {
#define HETGPU_CPU_HELPER_ID(name, result, params) name,
  HETGPU_CPU_HELPERS(HETGPU_CPU_HELPER_ID)
#undef HETGPU_CPU_HELPER_ID
};

// Calls a helper through block->helpers. The call is convergent: it must not
// move between threads' ways.
llvm::CallInst* CallHelper(llvm::IRBuilder<>& ir, llvm::Value* block,
                           Helper helper,
                           llvm::ArrayRef<llvm::Value*> arguments);

// Of a call that ends the thread. No register is live after it: a function that
// keeps those of its callers need not save any on its account.
void MarkNoReturn(llvm::CallInst* call);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_BLOCK_CONTEXT_H_
