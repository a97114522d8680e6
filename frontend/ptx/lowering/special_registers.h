#ifndef HETGPU_FRONTEND_PTX_LOWERING_SPECIAL_REGISTERS_H_
#define HETGPU_FRONTEND_PTX_LOWERING_SPECIAL_REGISTERS_H_

#include "frontend/ptx/lowering/context.h"

namespace hetgpu::ptx {

// The value of a special register at its own size. Refuses (and returns null)
// those that hetIR does not have.
Value ReadSpecialRegister(Lowering& lowering, SpecialRegister reg);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_SPECIAL_REGISTERS_H_
