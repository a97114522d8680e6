// Plan files: any text ends in a job or in an error with a message.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tools/hetgpu-run/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hetgpu::tools;
  const auto job =
      ParsePlan({reinterpret_cast<const char*>(data), size}, "folder/");
  if (!job.ok() && job.status().message().empty()) std::abort();
  return 0;
}
