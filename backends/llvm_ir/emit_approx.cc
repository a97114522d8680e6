#include "backends/llvm_ir/op_table.h"
namespace hetgpu::llvm_ir {
void AddApproxOps(OpTable&) {}
}  // namespace hetgpu::llvm_ir
