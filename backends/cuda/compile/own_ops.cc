#include "backends/cuda/compile/own_ops.h"

namespace hetgpu::cuda {

const OwnOps& GetOwnOps() {
  static const OwnOps* const table = [] {
    auto* result = new OwnOps;
    AddFloatOps(*result);
    AddConvertOps(*result);
    AddIntegerOps(*result);
    AddMemoryOps(*result);
    AddAtomicOps(*result);
    AddVendorOps(*result);
    return result;
  }();
  return *table;
}

}  // namespace hetgpu::cuda
