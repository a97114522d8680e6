#ifndef HETGPU_FRONTEND_PTX_DUMP_H_
#define HETGPU_FRONTEND_PTX_DUMP_H_

#include <string>

#include "frontend/ptx/ast.h"

namespace hetgpu::ptx {

// The tree as text, for people and tests: one line per declaration and per
// instruction. Written operands are marked `=`, and every operand carries the
// type the instruction uses it at: `add.s32 =%r3:s32, %r1:s32, 4:s32`.
std::string DumpModule(const Module& module);
std::string DumpFunction(const Module& module, const Function& function);
std::string DumpInstruction(const Module& module, const Function& function,
                            const Instruction& instruction);
std::string DumpVariable(const Variable& variable);
// The decoded fields that are set: "types=f32,f16 rounding=rn ftz".
std::string DumpModifiers(const Modifiers& modifiers);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_DUMP_H_
