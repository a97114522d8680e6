// Accesses of a warp that go from lane to lane: those with an ordering, those
// for which the processor has no instruction, and those where something is
// wrong with what was expected of the lanes' addresses.
//
//   lane = lowest of the mask             functions that accesses of a kernel
//   address = sum of its parts            share (Emitter::CallShared) do all of
//   check, test, access                   this: a loop is small, and so is what
//   take the lane out of the mask         it costs to compile
#ifndef HETGPU_BACKENDS_LLVM_IR_LANES_ONE_BY_ONE_H_
#define HETGPU_BACKENDS_LLVM_IR_LANES_ONE_BY_ONE_H_

#include "backends/llvm_ir/emitter.h"
#include "backends/llvm_ir/memory_access.h"

namespace hetgpu::llvm_ir {

// Accesses `addresses`, which are checked and tested. Lanes outside the mask
// get zero.
llvm::Value* LoadOneByOne(Emitter& emitter, const Access& access,
                          llvm::Value* addresses, llvm::Type* element,
                          hetir::Ordering ordering);
void StoreOneByOne(Emitter& emitter, const Access& access,
                   llvm::Value* addresses, llvm::Value* value,
                   hetir::Ordering ordering);

// The same for a weak access, with its checks and tests, in a shared function.
llvm::Value* LoadShared(Emitter& emitter, Access access, llvm::Type* element);
void StoreShared(Emitter& emitter, Access access, llvm::Value* value);

// Applies `fn`, which the name says all of, to every lane of vectors of one
// type, in a shared function: for what no instruction does to a vector.
llvm::Value* MapShared(
    Emitter& emitter, const llvm::Twine& name, llvm::Value* a, llvm::Value* b,
    llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> fn);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANES_ONE_BY_ONE_H_
