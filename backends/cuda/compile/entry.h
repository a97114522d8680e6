// The emitted kernel as an entry of the PTX, and the text that LLVM makes of
// it.
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_ENTRY_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_ENTRY_H_

#include <string>
#include <string_view>

#include "hetir/dialect/HetIR.h"
#include "llvm/IR/Function.h"

namespace hetgpu::cuda {

// Makes the function visible and gives it the bounds of the hetIR kernel.
void MakeEntry(llvm::Function* function, hetir::KernelOp kernel);

// Names functions that are defined here after the kernel too: other kernels of
// the source have their own.
void NameOwnFunctions(llvm::Function* kernel);

// The text without the marks around inline assembly.
std::string Tidy(std::string_view ptx);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_ENTRY_H_
