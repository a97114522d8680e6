#include "backends/cpu/arena_window.h"

#include <charconv>
#include <cstdio>

namespace hetgpu::cpu {
namespace {

constexpr std::string_view kKey = "/arena=";

using Field = uint64_t ArenaWindow::*;
constexpr Field kFields[] = {&ArenaWindow::base, &ArenaWindow::bytes,
                             &ArenaWindow::delta, &ArenaWindow::reach};

}  // namespace

std::string TargetSuffix(const ArenaWindow& window) {
  if (window == ArenaWindow()) return "";
  std::string text(kKey);
  for (Field field : kFields) {
    char number[20];
    std::snprintf(number, sizeof(number), "%s%llx",
                  text.size() == kKey.size() ? "" : ":",
                  static_cast<unsigned long long>(window.*field));
    text += number;
  }
  return text;
}

bool ChecksExactly(std::string_view target) {
  return target.find(kMemcheckPart) != std::string_view::npos;
}

std::optional<ArenaWindow> WindowOf(std::string_view target) {
  ArenaWindow window;
  const size_t at = target.find(kKey);
  if (at == std::string_view::npos) return window;
  const char* next = target.data() + at + kKey.size() - 1;
  const char* const end = target.data() + target.size();
  for (Field field : kFields) {
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

}  // namespace hetgpu::cpu
