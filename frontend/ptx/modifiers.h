#ifndef HETGPU_FRONTEND_PTX_MODIFIERS_H_
#define HETGPU_FRONTEND_PTX_MODIFIERS_H_

#include <string_view>

#include "frontend/ptx/opcode.h"

namespace hetgpu::ptx {

// Modifiers of the same ordered kind keep their order when the words of an
// opcode are shuffled: cvt.f32.f16 is not cvt.f16.f32.
enum class WordKind : uint8_t { kFree, kType, kSpace, kLayout };

// `word` has no leading dot: "rn", "L2::128B".
WordKind KindOfWord(std::string_view word);

// Sets the field of `modifiers` that `word` stands for. `is_compare` tells
// `.lo` and `.hi` of setp from those of mul. Words without a field are left to
// Opcode::text.
void ApplyWord(std::string_view word, bool is_compare, Modifiers* modifiers);

// True for "m64n128k16", the shapes of wgmma: n is a multiple of 8 up to 256.
bool IsWgmmaShape(std::string_view word);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_MODIFIERS_H_
