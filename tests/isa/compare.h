// Compares a result with the recorded one, element by element.

#ifndef HETGPU_TESTS_ISA_COMPARE_H_
#define HETGPU_TESTS_ISA_COMPARE_H_

#include <cstdint>
#include <string>

#include "tests/isa/run_file.h"

namespace hetgpu::isa {

// Both arguments are the bits of one element of `type`.
bool Matches(ElementType type, const Compare& compare, uint64_t expected,
             uint64_t got);

// "0x3f800000 (1)": bits and, for floating point, the numbers they stand for.
std::string Describe(ElementType type, uint64_t bits);

}  // namespace hetgpu::isa

#endif  // HETGPU_TESTS_ISA_COMPARE_H_
