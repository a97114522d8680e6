#include <array>
#include <cinttypes>
#include <cstdio>

#include "backends/common/driver.h"

namespace hetgpu {
namespace {

constexpr std::array<std::string_view, 11> kKindNames = {
    "no error",         "illegal address",     "misaligned address", "trap",
    "assertion failed", "stack overflow",      "deadlock",           "timeout",
    "cancelled",        "invalid instruction", "out of memory",
};

bool NamesAddress(const LaunchError& error) {
  return error.has_address &&
         (error.kind == LaunchError::Kind::kIllegalAddress ||
          error.kind == LaunchError::Kind::kMisalignedAddress);
}

std::string Triple(const Dim3& d) {
  char text[48];
  std::snprintf(text, sizeof(text), "(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")",
                d.x, d.y, d.z);
  return text;
}

}  // namespace

std::string Describe(const LaunchError& error) {
  const size_t kind = static_cast<size_t>(error.kind);
  std::string text = error.kernel.empty() ? "kernel" : error.kernel;
  text += ": ";
  text += kind < kKindNames.size() ? kKindNames[kind] : "unknown error";
  if (NamesAddress(error)) {
    char address[32];
    std::snprintf(address, sizeof(address), " 0x%" PRIx64, error.address);
    text += address;
  }
  if (error.has_thread) {
    text +=
        " at block " + Triple(error.block) + " thread " + Triple(error.thread);
  }
  if (error.line != 0) text += ", PTX line " + std::to_string(error.line);
  if (!error.detail.empty()) text += ": " + error.detail;
  return text;
}

}  // namespace hetgpu
