// Spelling of memory accesses in PTX, for what is emitted as inline assembly.
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_PTX_MEMORY_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_PTX_MEMORY_H_

#include <string>

#include "backends/llvm_ir/emitter.h"
#include "backends/llvm_ir/ir_util.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cuda {

// ".global", …; "" for generic.
inline std::string SpaceName(hetir::Space space) {
  switch (space) {
    case hetir::Space::generic: return "";
    // Const data lies in the data segment; see GpuHooks.
    case hetir::Space::constant: return ".global";
    default: return "." + hetir::stringifyEnum(space).str();
  }
}

inline std::string ScopeName(hetir::Scope scope) {
  switch (scope) {
    case hetir::Scope::block: return ".cta";
    case hetir::Scope::cluster: return ".cluster";
    case hetir::Scope::device: return ".gpu";
    case hetir::Scope::system: return ".sys";
  }
  return ".sys";
}

// Whether accesses to the space can be ordered and atomic.
inline bool HasOrder(hetir::Space space) {
  return space == hetir::Space::generic || space == hetir::Space::global ||
         space == hetir::Space::shared;
}

// The register part of an access's address.
template <typename Op>
llvm::Value* AddressOf(llvm_ir::Emitter& e, Op op) {
  llvm::Value* address = e.Get(op.getAddress());
  if (!op.getIndex()) return address;
  llvm::Value* index = e.Get(op.getIndex());
  return e.ir().CreateAdd(
      address, e.ir().CreateSExtOrTrunc(index, address->getType()));
}

// "[$n+offset]"
inline std::string Bracket(size_t operand, int64_t offset) {
  std::string text = "[$" + std::to_string(operand);
  if (offset != 0) text += "+" + std::to_string(offset);  // also "+-4"
  return text + "]";
}

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_PTX_MEMORY_H_
