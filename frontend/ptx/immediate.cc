#include "frontend/ptx/immediate.h"

#include <bit>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

bool ConvertInteger(uint64_t value, Type type, uint64_t* bits,
                    std::string* why) {
  TypeClass cls = ClassOf(type);
  if (cls == TypeClass::kPred) {
    *bits = value != 0;
    return true;
  }
  // Half-precision constants are written as integers that hold their bits.
  if (type == Type::kF32 || type == Type::kF64) {
    *why = Cat("an integer constant cannot stand for type .", TypeName(type));
    return false;
  }
  uint32_t width = TypeBits(type);
  if (width >= 64) {
    *bits = value;
    return true;
  }
  uint64_t kept = value << (64 - width);
  bool extend = cls == TypeClass::kSigned;
  *bits =
      extend ? static_cast<uint64_t>(static_cast<int64_t>(kept) >> (64 - width))
             : kept >> (64 - width);
  return true;
}

bool ConvertFloat(const Number& number, Type type, uint64_t* bits) {
  bool single = number.kind == NumberKind::kF32;
  if (type == Type::kF32 || (single && type == Type::kB32)) {
    *bits = single ? number.bits
                   : std::bit_cast<uint32_t>(static_cast<float>(
                         std::bit_cast<double>(number.bits)));
    return true;
  }
  if (type == Type::kF64 || (!single && type == Type::kB64)) {
    *bits = single
                ? std::bit_cast<uint64_t>(static_cast<double>(
                      std::bit_cast<float>(static_cast<uint32_t>(number.bits))))
                : number.bits;
    return true;
  }
  return false;
}

}  // namespace

bool ConvertImmediate(const Number& number, Type type, uint64_t* bits,
                      std::string* why) {
  if (number.kind == NumberKind::kInteger) {
    return ConvertInteger(number.bits, type, bits, why);
  }
  if (ConvertFloat(number, type, bits)) return true;
  *why =
      Cat("a floating-point constant cannot stand for type .", TypeName(type));
  return false;
}

}  // namespace hetgpu::ptx
