// Names of discardable attributes that say what a source asks of compilers.
#ifndef HETGPU_HETIR_DIALECT_LOOP_HINT_H_
#define HETGPU_HETIR_DIALECT_LOOP_HINT_H_

namespace hetgpu::hetir {

// On a branch to the head of a loop: the loop is not to be unrolled.
inline constexpr char kNoUnroll[] = "hetir.nounroll";

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_DIALECT_LOOP_HINT_H_
