// Where a kernel failed, out of the GPU core dump that the driver can write.
//
// A dump is an ELF file of tables, each row of which may have tables of its
// own: a section's link is the section with the row that it belongs to, its
// info the row's number.
//
//   device ─► grid (kernel, entry address)
//          ─► multiprocessor ─► block (grid, index) ─► warp ─► lane (thread)
//          ─► context ─► modules ─► code, at its addresses: ELF files,
//                        with symbols and, if asked for, a table of PTX lines
#ifndef HETGPU_BACKENDS_CUDA_CORE_DUMP_H_
#define HETGPU_BACKENDS_CUDA_CORE_DUMP_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "backends/cuda/library.h"

namespace hetgpu::cuda {

struct FaultSite {
  std::string kernel;  // "" = not found out
  bool has_thread = false;
  Dim3 block, thread;  // the first that failed, in order of the dump
  uint32_t line = 0;   // of the PTX; 0 = unknown
};

// NotFound when nothing in the dump failed; InvalidArgument when it is none.
absl::StatusOr<FaultSite> FindFault(std::string_view dump);

// HETGPU_CUDA_COREDUMP=1 has the driver write a dump when a kernel of this
// process fails. Comes before the first context. Unimplemented when the driver
// cannot, InvalidArgument for a value that means nothing.
absl::Status EnableCoreDumps(const Library& library);
bool CoreDumpsEnabled();
// Reads and removes the dump of this process's failure, behind which the driver
// writes no other. NotFound when it wrote none.
absl::StatusOr<FaultSite> TakeCoreDump();

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_CORE_DUMP_H_
