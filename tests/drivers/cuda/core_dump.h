// GPU core dumps as the driver writes them, with what a reader needs to find
// the thread that failed.
#ifndef HETGPU_TESTS_DRIVERS_CUDA_CORE_DUMP_H_
#define HETGPU_TESTS_DRIVERS_CUDA_CORE_DUMP_H_

#include <string>

#include "backends/common/driver.h"

namespace hetgpu::cuda::fake {

// A dump of one block, in which the thread of `error` and its neighbour wait.
// `line_info`: the code has a line table.
std::string CoreDump(const LaunchError& error, bool line_info);

// Writes one where the program wants it, if it does.
void WriteCoreDump(const LaunchError& error, bool line_info);

}  // namespace hetgpu::cuda::fake

#endif  // HETGPU_TESTS_DRIVERS_CUDA_CORE_DUMP_H_
