// Conversions between double and the bits of the smaller formats, rounding to
// nearest even, without help of the hardware: the same bits on every host.
#ifndef HETGPU_TOOLS_COMMON_FLOAT_BITS_H_
#define HETGPU_TOOLS_COMMON_FLOAT_BITS_H_

#include <cstdint>

#include "tools/common/element_type.h"

namespace hetgpu::tools {

// NaN becomes the positive quiet NaN with an otherwise empty payload.
uint16_t DoubleToHalf(double value);
uint16_t DoubleToBFloat16(double value);
double HalfToDouble(uint16_t bits);
double BFloat16ToDouble(uint16_t bits);

// The same for any floating-point element type.
uint64_t DoubleToBits(double value, ElementType type);
double BitsToDouble(uint64_t bits, ElementType type);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_FLOAT_BITS_H_
