// The CUDA driver library, opened at run time.
#ifndef HETGPU_BACKENDS_CUDA_LIBRARY_H_
#define HETGPU_BACKENDS_CUDA_LIBRARY_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/types.h"

namespace hetgpu::cuda {

// One function pointer per row of symbols.def.
struct Library {
#define SYMBOL(name, exported, params) CUresult(*name) params = nullptr;
#include "backends/cuda/symbols.def"
#undef SYMBOL
};

// Opens the library at `path`, which is never closed, and initialises the
// driver. Unavailable with the reason when it cannot; otherwise as
// EnableCoreDumps() says.
absl::StatusOr<std::unique_ptr<const Library>> OpenLibraryAt(const char* path);

// Opens HETGPU_CUDA_LIBRARY, or libcuda.so.1, and initialises the driver; once a
// process.
absl::StatusOr<const Library*> OpenLibrary();

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_LIBRARY_H_
