#include "tools/common/generate.h"

#include <algorithm>
#include <cstring>

#include "tools/common/float_bits.h"
#include "tools/common/text.h"

// Products and sums below must not be fused: see CMakeLists.txt for the flag.

namespace hetgpu::tools {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;

inline uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Writes make(i) for every element, as the unsigned integer of its size.
template <typename T, typename Make>
void Emit(uint64_t count, void* out, Make make) {
  T* elements = static_cast<T*>(out);
  for (uint64_t i = 0; i < count; ++i) elements[i] = make(i);
}

template <typename Make>
void EmitInteger(ElementType type, uint64_t count, void* out, Make make) {
  switch (SizeOf(type)) {
    case 1:
      return Emit<uint8_t>(count, out, make);
    case 2:
      return Emit<uint16_t>(count, out, make);
    case 4:
      return Emit<uint32_t>(count, out, make);
    default:
      return Emit<uint64_t>(count, out, make);
  }
}

template <typename Make>
void EmitFloat(ElementType type, uint64_t count, void* out, Make make) {
  switch (type) {
    case ElementType::kF16:
      return Emit<uint16_t>(count, out,
                            [&](uint64_t i) { return DoubleToHalf(make(i)); });
    case ElementType::kBF16:
      return Emit<uint16_t>(
          count, out, [&](uint64_t i) { return DoubleToBFloat16(make(i)); });
    case ElementType::kF32:
      return Emit<float>(
          count, out, [&](uint64_t i) { return static_cast<float>(make(i)); });
    default:
      return Emit<double>(count, out, make);
  }
}

// An integer for arithmetic modulo 2^64; reals are refused unless integral.
absl::StatusOr<uint64_t> AsInteger(const Literal& literal) {
  if (literal.kind != Literal::Kind::kReal) return literal.bits;
  return EncodeLiteral(literal, ElementType::kI64);
}

// The value of an element of an integer type, sign- or zero-extended.
absl::StatusOr<uint64_t> Bound(const Literal& literal, ElementType type) {
  auto bits = EncodeLiteral(literal, type);
  if (!bits.ok()) return bits;
  if (InfoOf(type).kind != ElementKind::kSigned) return *bits;
  return static_cast<uint64_t>(SignExtend(*bits, type));
}

absl::Status Reversed() {
  return absl::InvalidArgumentError("rand: min is greater than max");
}

absl::Status RandInteger(ElementType type, const RandRange& range,
                         uint64_t count, void* out) {
  const bool is_signed = InfoOf(type).kind == ElementKind::kSigned;
  const uint64_t mask = MaskOf(type);
  uint64_t min =
      is_signed ? static_cast<uint64_t>(SignExtend(mask / 2 + 1, type)) : 0;
  uint64_t max = is_signed ? mask / 2 : mask;
  if (range.min) {
    auto bound = Bound(*range.min, type);
    if (!bound.ok()) return bound.status();
    min = *bound;
  }
  if (range.max) {
    auto bound = Bound(*range.max, type);
    if (!bound.ok()) return bound.status();
    max = *bound;
  }
  if (is_signed ? static_cast<int64_t>(min) > static_cast<int64_t>(max)
                : min > max) {
    return Reversed();
  }
  const uint64_t span = max - min + 1;
  const uint64_t seed = range.seed;
  EmitInteger(type, count, out, [=](uint64_t i) -> uint64_t {
    const uint64_t z = Mix(seed + (i + 1) * kGolden);
    if (span == 0) return z;
    return min + static_cast<uint64_t>(
                     (static_cast<unsigned __int128>(z) * span) >> 64);
  });
  return absl::OkStatus();
}

absl::Status RandFloat(ElementType type, const RandRange& range, uint64_t count,
                       void* out) {
  const double min = range.min ? ToDouble(*range.min) : 0.0;
  const double max = range.max ? ToDouble(*range.max) : 1.0;
  if (!(min <= max)) return Reversed();
  const double width = max - min;
  const uint64_t seed = range.seed;
  EmitFloat(type, count, out, [=](uint64_t i) {
    const uint64_t z = Mix(seed + (i + 1) * kGolden);
    // 53 bits: the signed conversion is exact and one instruction.
    const double unit =
        static_cast<double>(static_cast<int64_t>(z >> 11)) * 0x1p-53;
    return min + (unit * width);
  });
  return absl::OkStatus();
}

}  // namespace

void GenerateFill(ElementType type, uint64_t bits, uint64_t count, void* out) {
  EmitInteger(type, count, out, [bits](uint64_t) { return bits; });
}

absl::Status GenerateIota(ElementType type, const Literal& start,
                          const Literal& step, uint64_t count, void* out) {
  if (IsFloat(type)) {
    const double a = ToDouble(start), b = ToDouble(step);
    EmitFloat(type, count, out,
              [a, b](uint64_t i) { return a + (b * static_cast<double>(i)); });
    return absl::OkStatus();
  }
  const auto a = AsInteger(start), b = AsInteger(step);
  if (!a.ok()) return a.status();
  if (!b.ok()) return b.status();
  EmitInteger(type, count, out, [first = *a, delta = *b](uint64_t i) {
    return first + delta * i;
  });
  return absl::OkStatus();
}

absl::Status GenerateRand(ElementType type, const RandRange& range,
                          uint64_t count, void* out) {
  if (type == ElementType::kPtr) {
    return absl::InvalidArgumentError("addresses have no random form");
  }
  return IsFloat(type) ? RandFloat(type, range, count, out)
                       : RandInteger(type, range, count, out);
}

}  // namespace hetgpu::tools
