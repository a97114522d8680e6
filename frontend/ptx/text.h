#ifndef HETGPU_FRONTEND_PTX_TEXT_H_
#define HETGPU_FRONTEND_PTX_TEXT_H_

#include <string>
#include <string_view>
#include <type_traits>

namespace hetgpu::ptx {

// Joins strings, characters and integers. absl::StrCat does the same, but
// Debian's absl does not take std::string_view.
template <typename... Pieces>
std::string Cat(const Pieces&... pieces) {
  std::string out;
  auto append = [&out](const auto& piece) {
    using Piece = std::decay_t<decltype(piece)>;
    if constexpr (std::is_same_v<Piece, char>) {
      out += piece;
    } else if constexpr (std::is_integral_v<Piece>) {
      out += std::to_string(piece);
    } else {
      out += std::string_view(piece);
    }
  };
  (append(pieces), ...);
  return out;
}

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_TEXT_H_
