// 8-bit floats, tf32 and saturation to finite values, in integer arithmetic:
// hetIR's float ops know f16, bf16, f32 and f64.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_SMALL_FLOATS_H_
#define HETGPU_FRONTEND_PTX_LOWERING_SMALL_FLOATS_H_

#include "frontend/ptx/lowering/context.h"

namespace hetgpu::ptx {

// f32 to tf32 bits, by the instruction's rounding (.rn, .rz, .rna) and flags.
Value ToTf32(Lowering& l, Value value);

// f32 to e4m3 or e5m2 (an i8), to nearest even, saturated to finite values.
Value ToFloat8(Lowering& l, Value value, Type target);
// e4m3 or e5m2 (an i8) to f16: exact.
Value FromFloat8(Lowering& l, Value value, Type source);

// f16 or bf16: infinities become the largest finite value.
Value SaturateToFinite(Lowering& l, Value value);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_SMALL_FLOATS_H_
