#include "bench/runner/hetgpu_api.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "bench/runner/shared_library.h"

namespace hetgpu::bench {
namespace {

namespace fs = std::filesystem;

// The loader takes a file that it has already opened for the same library.
absl::StatusOr<SharedLibrary> OpenCopy(const std::string& path) {
  std::string folder = fs::temp_directory_path() / "hetgpu-bench-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make ", folder));
  }
  std::error_code error;
  const std::string copy = fs::path(folder) / "libhetgpu.so";
  fs::copy_file(fs::canonical(path, error), copy, error);
  auto library = SharedLibrary::Open(copy);
  fs::remove_all(folder, error);
  return library;
}

// The compiler of the original, and addresses that no other instance has.
std::string Complete(const std::string& path, const std::string& environment) {
  const fs::path compiler =
      fs::path(path).parent_path() / "libhetgpu_compiler.so";
  static int instances = 0;
  return absl::StrCat("HETGPU_COMPILER_LIBRARY=", compiler.string(),
                      ",HETGPU_ARENA_BASE=0x", absl::Hex(0x60 + ++instances),
                      "0000000000,", environment);
}

}  // namespace

ScopedEnvironment::ScopedEnvironment(const std::string& settings) {
  const std::vector<std::string> parts =
      absl::StrSplit(settings, ',', absl::SkipEmpty());
  for (const std::string& setting : parts) {
    const size_t equals = setting.find('=');
    const std::string name = setting.substr(0, equals);
    const char* const old = std::getenv(name.c_str());
    old_.emplace_back(name,
                      old ? std::optional<std::string>(old) : std::nullopt);
    setenv(name.c_str(), setting.substr(equals + 1).c_str(), 1);
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  for (const auto& [name, value] : old_) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
}

std::string InstanceEnvironment(const std::string& path,
                                const std::string& environment) {
  return environment.empty() ? "" : Complete(path, environment);
}

absl::Status HetgpuApi::Check(hetgpuResult result, const char* what) const {
  if (result == HETGPU_SUCCESS) return absl::OkStatus();
  const std::string text =
      absl::StrCat(what, ": ", ResultName(result), ": ", GetLastErrorDetail());
  const bool is_refusal =
      result == HETGPU_ERROR_NO_DEVICE || result == HETGPU_ERROR_UNSUPPORTED;
  return is_refusal ? absl::UnavailableError(text) : absl::InternalError(text);
}

absl::StatusOr<HetgpuApi> OpenHetgpu(const std::string& path, bool is_copy) {
  auto library = is_copy ? OpenCopy(path) : SharedLibrary::Open(path);
  if (!library.ok()) return library.status();
  HetgpuApi api;
#define HETGPU_BENCH_FUNCTION(name) \
  BENCH_RETURN_IF_ERROR(library->Get("hetgpu" #name, api.name));
#include "bench/runner/hetgpu_api.def"
#undef HETGPU_BENCH_FUNCTION
  BENCH_RETURN_IF_ERROR(api.Check(api.Init(0), "initialising hetGPU"));
  return api;
}

}  // namespace hetgpu::bench
