// Correctly rounded conversions to 16-bit floats, in integer arithmetic.
#ifndef HETGPU_BACKENDS_CPU_SMALL_FLOAT_H_
#define HETGPU_BACKENDS_CPU_SMALL_FLOAT_H_

#include <cstdint>

#include "backends/cpu/abi.h"

namespace hetgpu::cpu {

// NaN gives 0x7fff, PTX's canonical NaN. Overflow gives infinity or the
// largest finite value, as the rounding mode says.
uint16_t DoubleToHalf(double value, Round round);
uint16_t DoubleToBfloat(double value, Round round);
double HalfToDouble(uint16_t bits);
double BfloatToDouble(uint16_t bits);

// a * b + c rounded once, to nearest even.
uint16_t FmaHalf(uint16_t a, uint16_t b, uint16_t c);
uint16_t FmaBfloat(uint16_t a, uint16_t b, uint16_t c);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_SMALL_FLOAT_H_
