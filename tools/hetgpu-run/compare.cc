#include "tools/hetgpu-run/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tools/common/literal.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

struct Pair {
  uint64_t got, expected;  // bits
};

struct Verdict {
  bool pass;
  double error;  // absolute; NaN when it means nothing
};

Verdict Judge(Pair bits, ElementType type, const Tolerance& tolerance) {
  const double got = ElementToDouble(bits.got, type);
  const double expected = ElementToDouble(bits.expected, type);
  const double error = std::abs(got - expected);
  const bool exact = tolerance.atol == 0 && tolerance.rtol == 0;
  if (bits.got == bits.expected) return {true, 0};
  if (exact && (tolerance.bits || !IsFloat(type))) return {false, error};
  if (std::isnan(got) || std::isnan(expected)) {
    return {std::isnan(got) && std::isnan(expected), std::nan("")};
  }
  if (std::isinf(got) || std::isinf(expected)) {
    return {got == expected, std::nan("")};
  }
  const double limit = tolerance.atol + tolerance.rtol * std::abs(expected);
  return {error <= limit, error};
}

Mismatch MakeMismatch(uint64_t index, Pair bits, ElementType type,
                      bool show_bits) {
  const auto text = [&](uint64_t value) {
    std::string result = FormatElement(value, type);
    if (show_bits) result += Cat(" (", HexText(value), ")");
    return result;
  };
  return {index, text(bits.got), text(bits.expected)};
}

}  // namespace

CompareResult Compare(ElementType type, uint64_t count, const void* got,
                      const void* expected, const Tolerance& tolerance) {
  CompareResult result;
  result.count = count;
  const uint32_t size = SizeOf(type);
  // Most results are right to the bit, and this is fast.
  if (std::memcmp(got, expected, count * size) == 0) return result;
  const uint8_t* a = static_cast<const uint8_t*>(got);
  const uint8_t* b = static_cast<const uint8_t*>(expected);
  double worst = -1;
  for (uint64_t i = 0; i < count; ++i, a += size, b += size) {
    const Pair bits{LoadElement(a, type), LoadElement(b, type)};
    if (bits.got == bits.expected) continue;
    const Verdict verdict = Judge(bits, type, tolerance);
    if (std::isfinite(verdict.error)) {
      result.max_abs_error = std::max(result.max_abs_error, verdict.error);
      const double scale = std::abs(ElementToDouble(bits.expected, type));
      if (scale > 0) {
        result.max_rel_error =
            std::max(result.max_rel_error, verdict.error / scale);
      }
    }
    if (verdict.pass) continue;
    ++result.mismatches;
    const bool show_bits = IsFloat(type) && verdict.error == 0;
    if (!result.first) {
      result.first = MakeMismatch(i, bits, type, show_bits);
    }
    if (verdict.error > worst) {
      worst = verdict.error;
      result.worst = MakeMismatch(i, bits, type, show_bits);
    }
  }
  return result;
}

std::string Describe(const CompareResult& result) {
  if (result.passed()) {
    std::string text = Cat("all ", result.count, " elements match");
    if (result.max_abs_error > 0) {
      text += Cat(" (largest error ", result.max_abs_error, ", relative ",
                  result.max_rel_error, ")");
    }
    return text;
  }
  const auto place = [](const Mismatch& m) {
    return Cat("[", m.index, "]: got ", m.got, ", expected ", m.expected);
  };
  std::string text = Cat(result.mismatches, " of ", result.count,
                         " elements differ; first at ", place(*result.first));
  if (result.worst && result.worst->index != result.first->index) {
    text += Cat("; worst at ", place(*result.worst));
  }
  return text;
}

}  // namespace hetgpu::tools
