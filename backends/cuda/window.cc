#include "backends/cuda/window.h"

#include <charconv>

#include "absl/strings/str_cat.h"

namespace hetgpu::cuda {
namespace {

constexpr std::string_view kKey = "/arena=";

using Field = uint64_t Window::*;
constexpr Field kFields[] = {&Window::base, &Window::bytes, &Window::delta};

}  // namespace

std::string TargetSuffix(const Window& window) {
  if (window.delta == 0) return "";
  std::string text;
  for (const Field field : kFields) {
    absl::StrAppend(&text, text.empty() ? "/arena=" : ":",
                    absl::Hex(window.*field));
  }
  return text;
}

std::string_view WithoutWindow(std::string_view target) {
  return target.substr(0, target.find(kKey));
}

std::optional<Window> WindowOf(std::string_view target) {
  Window window;
  const size_t at = target.find(kKey);
  if (at == std::string_view::npos) return window;
  const char* next = target.data() + at + kKey.size() - 1;
  const char* const end = target.data() + target.size();
  for (const Field field : kFields) {
    if (next == end) return std::nullopt;
    const auto [rest, error] = std::from_chars(++next, end, window.*field, 16);
    if (error != std::errc() || (rest != end && *rest != ':')) {
      return std::nullopt;
    }
    next = rest;
  }
  if (next != end || window.bytes == 0) return std::nullopt;
  return window;
}

}  // namespace hetgpu::cuda
