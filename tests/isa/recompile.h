// Kernels of run-files through another compiler target and back: what the
// target makes of one is PTX again and must give the same bits.
#ifndef HETGPU_TESTS_ISA_RECOMPILE_H_
#define HETGPU_TESTS_ISA_RECOMPILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hetgpu/hetgpu.h"

namespace hetgpu::isa {

// The CUDA target's image of a kernel, made by the compiler library.
absl::StatusOr<std::string> CudaImage(const std::string& ptx,
                                      const std::string& name,
                                      const std::string& kernel,
                                      const std::string& target);

// An image as a module of any device that runs PTX. It has no data of its own:
// it uses that of the module it was made of, as the CUDA backend does.
class Recompiled {
 public:
  Recompiled(hetgpuContext context, hetgpuModule original,
             hetgpuFunction original_function)
      : context_(context),
        original_(original),
        original_function_(original_function) {}
  ~Recompiled();
  Recompiled(const Recompiled&) = delete;
  Recompiled& operator=(const Recompiled&) = delete;

  // Calls stop at the first that fails; see hetgpuGetLastErrorDetail().
  hetgpuResult Load(const std::string& image);
  hetgpuResult Launch(hetgpuDim3 grid, hetgpuDim3 block,
                      uint32_t shared_bytes, const std::vector<void*>& args);

 private:
  hetgpuResult FindData();
  hetgpuResult CopyConstants(const std::string& image);
  hetgpuResult Pack(const std::vector<void*>& args, std::string* block);

  const hetgpuContext context_;
  const hetgpuModule original_;
  const hetgpuFunction original_function_;
  hetgpuModule module_ = nullptr;
  hetgpuFunction function_ = nullptr;
  hetgpuDevicePtr data_ = 0;  // the original's data segment
};

}  // namespace hetgpu::isa

#endif  // HETGPU_TESTS_ISA_RECOMPILE_H_
