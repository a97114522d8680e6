// Small string helpers over std::string_view. Debian's absl is built with its
// own string_view class, which does not convert from the standard one.
#ifndef HETGPU_TOOLS_COMMON_TEXT_H_
#define HETGPU_TOOLS_COMMON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace hetgpu::tools {

namespace internal {
template <typename T>
decltype(auto) ForAbsl(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    const std::string_view text = value;
    return absl::string_view(text.data(), text.size());
  } else {
    return value;
  }
}
}  // namespace internal

// Joins strings, numbers and absl::Hex values.
template <typename... T>
std::string Cat(const T&... parts) {
  return absl::StrCat(internal::ForAbsl(parts)...);
}

inline std::string_view ToStd(absl::string_view text) {
  return {text.data(), text.size()};
}

// "0x1f".
inline std::string HexText(uint64_t value) {
  return Cat("0x", absl::Hex(value));
}

inline bool ConsumePrefix(std::string_view* text, std::string_view prefix) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

inline bool ConsumeSuffix(std::string_view* text, std::string_view suffix) {
  if (!text->ends_with(suffix)) return false;
  text->remove_suffix(suffix.size());
  return true;
}

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

inline std::string_view StripSpace(std::string_view text) {
  while (!text.empty() && IsSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

// Elements separated by `separator`.
template <typename Range>
std::string Join(const Range& range, std::string_view separator) {
  std::string text;
  for (const auto& element : range) {
    if (!text.empty()) text += separator;
    text += Cat(element);
  }
  return text;
}

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_TEXT_H_
