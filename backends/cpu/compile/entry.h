// The entry the runtime calls (abi.h), around an emitted kernel.
//
//   fiber, 1 lane    one thread: its index by two divisions
//   scalar, 1 lane   a loop over rows of threads, x innermost, so that the
//                    index needs no division and LLVM may vectorise over x
//   warps            a loop over warps; the 32 indices as vectors
#ifndef HETGPU_BACKENDS_CPU_COMPILE_ENTRY_H_
#define HETGPU_BACKENDS_CPU_COMPILE_ENTRY_H_

#include "llvm/IR/Function.h"

namespace hetgpu::cpu {

inline constexpr char kEntryName[] = "hetgpu_entry";

// Makes `kernel`, which nothing calls, the body of the external function
// `kEntryName` that runs units of it.
llvm::Function* BuildEntry(llvm::Function* kernel, unsigned lanes,
                           bool needs_fibers);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_ENTRY_H_
