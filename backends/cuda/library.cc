#include "backends/cuda/library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "backends/cuda/core_dump.h"
#include "backends/cuda/status_util.h"
#include "memory/arena.h"

namespace hetgpu::cuda {
namespace {

struct Row {
  void** slot;
  const char* exported;
  bool required;
};

absl::Status Resolve(void* handle, const char* path, Library& library) {
  const Row rows[] = {
#define SYMBOL(name, exported, params) \
  {reinterpret_cast<void**>(&library.name), exported, true},
#define OPTIONAL_SYMBOL(name, exported, params) \
  {reinterpret_cast<void**>(&library.name), exported, false},
#include "backends/cuda/symbols.def"
#undef SYMBOL
  };
  for (const Row& row : rows) {
    *row.slot = dlsym(handle, row.exported);
    if (*row.slot == nullptr && row.required) {
      return absl::UnavailableError(
          absl::StrCat("cuda: ", path, " has no ", row.exported,
                       ": the driver is too old"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<const Library>> OpenDefault() {
  const char* path = std::getenv("HETGPU_CUDA_LIBRARY");
  if (path == nullptr || *path == '\0') path = "libcuda.so.1";
  return OpenLibraryAt(path);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const Library>> OpenLibraryAt(
    const char* path) {
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return absl::UnavailableError(absl::StrCat("cuda: ", dlerror()));
  }
  auto library = std::make_unique<Library>();
  absl::Status resolved = Resolve(handle, path, *library);
  if (!resolved.ok()) return resolved;
  // The driver looks at the process's mappings now, and stays away for good from
  // what it finds.
  CUresult result = CUDA_SUCCESS;
  memory::Arena::Process().Vacate([&] { result = library->Init(0); });
  if (result != CUDA_SUCCESS) {
    return absl::UnavailableError(
        ToStatus(*library, result, "cuInit").message());
  }
  absl::Status enabled = EnableCoreDumps(*library);
  if (!enabled.ok()) return enabled;
  return library;
}

absl::StatusOr<const Library*> OpenLibrary() {
  static const auto* const library =
      new absl::StatusOr<std::unique_ptr<const Library>>(OpenDefault());
  if (!library->ok()) return library->status();
  return (*library)->get();
}

}  // namespace hetgpu::cuda
