// For tests of single ops: a kernel that loads the operands of each thread
// from arrays, runs the op, and stores the result; compared with a reference
// function over all combinations of edge values, in every mode the op can be
// run in.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_OP_TEST_H_
#define HETGPU_BACKENDS_CPU_COMPILE_OP_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/cpu/compile/test_kernel.h"

namespace hetgpu::cpu {

// One operand or result as the bits of its memory form.
using Bits = uint64_t;

struct OpCase {
  // Lines of hetIR that define %r from %a, %b, %c.
  std::string text;
  std::vector<std::string> inputs;  // types of %a, %b, %c
  std::string output;               // type of %r
  std::function<Bits(const std::vector<Bits>&)> expected;
  bool strict = true;
  // Compares instead of ==; result, expected.
  std::function<bool(Bits, Bits)> equal = nullptr;
  std::string modes = "scalar,simd,fiber";
};

// Edge values of a type: "i16", "i32", "i64", "f16", "bf16", "f32", "f64".
std::vector<Bits> EdgeValues(const std::string& type);

// Runs the case over edge values (or `values`, one vector per operand tuple).
void CheckOp(const OpCase& op, std::vector<std::vector<Bits>> tuples = {});

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_OP_TEST_H_
