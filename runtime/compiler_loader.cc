#include "runtime/compiler_loader.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/error.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {
namespace {

namespace fs = std::filesystem;

// The installed library has both names; a packaged runtime the first alone.
constexpr const char* kNames[] = {"libhetgpu_compiler.so.0",
                                  "libhetgpu_compiler.so"};

// The folder of the file this code was loaded from.
fs::path OwnFolder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? fs::path() : file.parent_path();
}

std::string FindLibrary(const std::string& asked) {
  if (!asked.empty()) return asked;
  const fs::path own = OwnFolder();
  std::error_code error;
  for (const fs::path& folder : {own, own.parent_path() / "lib"}) {
    for (const char* name : kNames) {
      if (fs::exists(folder / name, error)) return (folder / name).string();
    }
  }
  return (own / kNames[0]).string();
}

}  // namespace

CompilerLoader::CompilerLoader(std::string path) : path_(FindLibrary(path)) {}

std::string CompilerLoader::BuildId() const {
  struct stat info;
  if (stat(path_.c_str(), &info) != 0) return "absent";
  return Cat(path_, "|", info.st_size, "|", info.st_mtim.tv_sec, ".",
             info.st_mtim.tv_nsec);
}

absl::StatusOr<const CompilerApi*> CompilerLoader::Load() {
  std::lock_guard lock(mutex_);
  if (api_ != nullptr) return api_;
  void* const library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Error(HETGPU_ERROR_COMPILER_UNAVAILABLE,
                 "compiler library cannot be opened: ", dlerror(),
                 " (set HETGPU_COMPILER_LIBRARY to its path)");
  }
  const auto get =
      reinterpret_cast<GetCompilerApiFn>(dlsym(library, kCompilerEntry));
  if (get == nullptr) {
    return Error(HETGPU_ERROR_COMPILER_UNAVAILABLE, path_, ": no function ",
                 kCompilerEntry, ", expected libhetgpu_compiler.so");
  }
  const CompilerApi* const api = get();
  if (api->abi != kCompilerAbi) {
    return Error(HETGPU_ERROR_COMPILER_UNAVAILABLE, path_, ": interface ",
                 api->abi, ", expected ", kCompilerAbi);
  }
  api_ = api;
  return api_;
}

absl::StatusOr<std::string> CompilerLoader::Compile(
    const CompileRequest& request) {
  HETGPU_ASSIGN_OR_RETURN(const CompilerApi* const api, Load());
  auto image = api->compile(request);
  if (image.ok()) return image;
  const hetgpuResult result = absl::IsUnimplemented(image.status())
                                  ? HETGPU_ERROR_UNSUPPORTED
                                  : HETGPU_ERROR_COMPILE_FAILED;
  return Annotate(result, Cat("kernel ", request.kernel), image.status());
}

}  // namespace hetgpu::runtime
