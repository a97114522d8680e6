// Text between std::string_view and Debian's absl, whose own string_view is
// another type.
#ifndef HETGPU_RUNTIME_TEXT_H_
#define HETGPU_RUNTIME_TEXT_H_

#include <string>
#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hetgpu::runtime {

inline absl::string_view ToAbsl(std::string_view text) {
  return absl::string_view(text.data(), text.size());
}

template <typename View>
std::string_view ToStd(const View& text) {
  return std::string_view(text.data(), text.size());
}

// absl::StrCat that takes either view.
template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  const auto piece = [](const auto& p) -> decltype(auto) {
    using Piece = std::decay_t<decltype(p)>;
    if constexpr (std::is_same_v<Piece, std::string_view>) {
      return ToAbsl(p);
    } else {
      return (p);
    }
  };
  return absl::StrCat(piece(pieces)...);
}

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TEXT_H_
