// One value as a person or a plan writes it, before its type is known.
#ifndef HETGPU_TOOLS_COMMON_LITERAL_H_
#define HETGPU_TOOLS_COMMON_LITERAL_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/common/element_type.h"

namespace hetgpu::tools {

struct Literal {
  enum class Kind : uint8_t {
    kUnsigned,  // an integer >= 0, in `bits`
    kNegative,  // an integer < 0, two's complement in `bits`
    kReal,      // in `real`; nan and infinities too
    kBits,      // the bits of the element, whatever its type
    kVariable,  // a loop variable of a plan, named by `name`
  } kind = Kind::kUnsigned;
  uint64_t bits = 0;
  double real = 0;
  std::string name;

  static Literal Unsigned(uint64_t value);
  static Literal Integer(int64_t value);
  static Literal Real(double value);
  static Literal Bits(uint64_t bits);
};

// Text to a literal: "7", "-1", "1.5", "1e-3", "0x1.8p0" (a hexadecimal float
// has a point or an exponent), "0x3f800000" (bits), "nan", "inf", "-inf",
// "true", "false".
absl::StatusOr<Literal> ParseLiteral(std::string_view text);

// The element's bits. Integers out of range, reals for integer types and bits
// wider than the element are errors; reals are rounded to nearest even. The
// literal is not a variable.
absl::StatusOr<uint64_t> EncodeLiteral(const Literal& literal,
                                       ElementType type);

// The literal as a number; bits are those of a double. Not a variable.
double ToDouble(const Literal& literal);

// The value of an element; addresses count as unsigned.
double ElementToDouble(uint64_t bits, ElementType type);

// Shortest text that reads back as the same element; addresses and NaN
// payloads in hexadecimal.
std::string FormatElement(uint64_t bits, ElementType type);

// The element at `data`, which need not be aligned.
uint64_t LoadElement(const void* data, ElementType type);
void StoreElement(void* data, uint64_t bits, ElementType type);

// The element as a sign-extended 64-bit integer (integer types).
int64_t SignExtend(uint64_t bits, ElementType type);

// A count or size: digits with an optional suffix K, M or G (powers of 1024).
absl::StatusOr<uint64_t> ParseCount(std::string_view text);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_LITERAL_H_
