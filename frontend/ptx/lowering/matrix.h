// Matrix fragments: which lane of a warp holds which element.
//
// Everything is made of 8 x 8 blocks. With g = lane / 4, t = lane % 4, and p
// elements in a register (32 bits divided by the element size; 1 for f64):
//
//   A  register (rb, kb): row 8 rb + g, k from 4 p kb + p t, p elements
//   B  register (nb, kb): column 8 nb + g, the same k
//   C  elements (nb, rb): row 8 rb + g, columns 8 nb + 2 t and the next
//
// These are the layouts that PTX defines for mma. For wmma PTX leaves them
// open, and the same ones serve.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_MATRIX_H_
#define HETGPU_FRONTEND_PTX_LOWERING_MATRIX_H_

#include <vector>

#include "frontend/ptx/lowering/context.h"

namespace hetgpu::ptx {

struct MatrixProduct {
  Type a = Type::kNone, b = Type::kNone;  // of the elements
  Type c = Type::kNone, d = Type::kNone;
  unsigned row_blocks = 1, column_blocks = 1, k_blocks = 1;
};

// Elements of `type` in one register.
unsigned ElementsPerRegister(Type type);

// From the shape and the types; false (and refused) when they do not fit.
bool Describe(Lowering& l, Type a, Type b, Type c, Type d,
              MatrixProduct* product);

// Registers of a fragment as integers of 32 bits (64 for f64).
Values ReadFragment(Lowering& l, const Operand& operand, Type type);
// Registers past the end of `registers` become zero.
void WriteFragment(Lowering& l, const Operand& operand, const Values& registers,
                   Type type);

// Accumulator registers to elements in the order (nb, rb, pair), and back.
Values ElementsOfAccumulator(Lowering& l, const Values& registers, Type type);
Values RegistersOfAccumulator(Lowering& l, const Values& elements, Type type);

// D = A B + C. `a` in the order (kb, rb), `b` in the order (nb, kb); `c` and
// the result are elements.
Values Multiply(Lowering& l, const MatrixProduct& product, const Values& a,
                const Values& b, const Values& c);

// `value` of another lane: of 32 or 64 bits.
Value ReadLane(Lowering& l, Value value, Value lane);
Value LaneId(Lowering& l);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_MATRIX_H_
