// Instructions that a compiler for their vendor's devices gets as they stand.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_VERBATIM_H_
#define HETGPU_FRONTEND_PTX_LOWERING_VERBATIM_H_

#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {

// Null for an instruction that is lowered for all devices alike.
const LoweringRow* FindVerbatimRow(Op op);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_VERBATIM_H_
