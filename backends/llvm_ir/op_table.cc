#include "backends/llvm_ir/op_table.h"

namespace hetgpu::llvm_ir {

const OpTable& GetOpTable() {
  static const OpTable* const table = [] {
    auto* result = new OpTable;
    AddArithOps(*result);
    AddVectorOps(*result);
    AddIntegerOps(*result);
    AddFloatOps(*result);
    AddConvertOps(*result);
    AddApproxOps(*result);
    AddMemoryOps(*result);
    AddAtomicOps(*result);
    AddControlOps(*result);
    AddSyncOps(*result);
    return result;
  }();
  return *table;
}

}  // namespace hetgpu::llvm_ir
