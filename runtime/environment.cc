#include "runtime/environment.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "memory/arena.h"
#include "runtime/error.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {
namespace {

absl::Status ReadChoice(const GetVariable& get, const char* name,
                        std::initializer_list<const char*> choices,
                        std::string& value) {
  const auto text = get(name);
  if (!text || text->empty()) return absl::OkStatus();
  if (std::find(choices.begin(), choices.end(), *text) == choices.end()) {
    return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, name, " is \"", *text,
                 "\", expected ", absl::StrJoin(choices, ", "));
  }
  value = *text;
  return absl::OkStatus();
}

absl::Status ReadArenaBase(const GetVariable& get, const char* name) {
  const auto text = get(name);
  if (!text || text->empty() || memory::ParseArenaBase(*text)) {
    return absl::OkStatus();
  }
  return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, name, " is \"", *text,
               "\", expected a hexadecimal multiple of 2^30, not 0, at least "
               "2^40 below 2^47");
}

absl::Status ReadNumber(const GetVariable& get, const char* name,
                        uint64_t& number) {
  const auto text = get(name);
  if (!text || text->empty()) return absl::OkStatus();
  const char* const end = text->data() + text->size();
  const auto [rest, error] = std::from_chars(text->data(), end, number);
  if (error == std::errc() && rest == end) return absl::OkStatus();
  return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, name, " is \"", *text,
               "\", expected a number");
}

absl::Status ReadSize(const GetVariable& get, const char* name,
                      uint64_t& bytes) {
  const auto text = get(name);
  if (!text || text->empty()) return absl::OkStatus();
  const auto parsed = ParseBytes(*text);
  if (!parsed) {
    return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, name, " is \"", *text,
                 "\", expected bytes with optional suffix K, M or G");
  }
  bytes = *parsed;
  return absl::OkStatus();
}

std::string CacheDir(const GetVariable& get) {
  const auto value = [&](const char* name) { return get(name).value_or(""); };
  if (auto dir = value("HETGPU_JIT_CACHE_DIR"); !dir.empty()) return dir;
  if (auto xdg = value("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/hetgpu";
  if (auto home = value("HOME"); !home.empty()) return home + "/.cache/hetgpu";
  return "";
}

}  // namespace

std::optional<uint64_t> ParseBytes(std::string_view text) {
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc()) return std::nullopt;
  std::string suffix =
      absl::AsciiStrToUpper(absl::string_view(rest, end - rest));
  if (suffix.size() == 2 && suffix[1] == 'B') suffix.pop_back();
  int shift = 0;
  if (suffix == "K")
    shift = 10;
  else if (suffix == "M")
    shift = 20;
  else if (suffix == "G")
    shift = 30;
  else if (!suffix.empty() && suffix != "B")
    return std::nullopt;
  if (number > UINT64_MAX >> shift) return std::nullopt;
  return number << shift;
}

absl::StatusOr<Environment> ReadEnvironment(const GetVariable& get) {
  Environment environment;
  HETGPU_RETURN_IF_ERROR(ReadChoice(get, "HETGPU_FP_MODE", {"native", "strict"},
                                    environment.fp_mode));
  HETGPU_RETURN_IF_ERROR(ReadChoice(get, "HETGPU_CPU_MODE",
                                    {"auto", "simd", "scalar", "fiber"},
                                    environment.cpu_mode));
  HETGPU_RETURN_IF_ERROR(ReadSize(get, "HETGPU_JIT_CACHE_SIZE",
                                  environment.cache_bytes));
  HETGPU_RETURN_IF_ERROR(ReadSize(get, "HETGPU_RESIDENT_LIMIT",
                                  environment.resident_limit));
  HETGPU_RETURN_IF_ERROR(ReadNumber(get, "HETGPU_PREFETCH_THRESHOLD",
                                    environment.prefetch_threshold));
  HETGPU_RETURN_IF_ERROR(ReadArenaBase(get, "HETGPU_ARENA_BASE"));
  HETGPU_RETURN_IF_ERROR(ReadArenaBase(get, "HETGPU_CUDA_ARENA_BASE"));
  HETGPU_RETURN_IF_ERROR(ReadChoice(get, "HETGPU_CUDA_ROUTE",
                                    {"auto", "native", "recompiled"},
                                    environment.cuda_route));
  environment.cache_dir = CacheDir(get);
  environment.trace_path = get("HETGPU_TRACE").value_or("");
  environment.compiler_library = get("HETGPU_COMPILER_LIBRARY").value_or("");
  return environment;
}

absl::StatusOr<Environment> ReadEnvironment() {
  return ReadEnvironment([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  });
}

}  // namespace hetgpu::runtime
