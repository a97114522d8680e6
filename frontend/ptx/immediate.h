#ifndef HETGPU_FRONTEND_PTX_IMMEDIATE_H_
#define HETGPU_FRONTEND_PTX_IMMEDIATE_H_

#include <cstdint>
#include <string>

#include "frontend/ptx/cursor.h"
#include "frontend/ptx/types.h"

namespace hetgpu::ptx {

// The bits that constant `number` has as a value of `type`, by PTX's rules:
// integers are cut to the type's width, floats are rounded to it, a float may
// stand for untyped bits of its own size. `bits` is sign-extended for signed
// types and zero-extended for all others.
bool ConvertImmediate(const Number& number, Type type, uint64_t* bits,
                      std::string* why);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_IMMEDIATE_H_
