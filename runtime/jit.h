// From a kernel to its image for a device: memory, then disk, then compiler.
#ifndef HETGPU_RUNTIME_JIT_H_
#define HETGPU_RUNTIME_JIT_H_

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "hetir/module_info.h"
#include "runtime/compiler_loader.h"
#include "runtime/environment.h"
#include "runtime/jit_cache.h"
#include "runtime/module_source.h"

namespace hetgpu::runtime {

// Threads: any; those that ask for the same image share one compilation.
class Jit {
 public:
  using Image = std::shared_ptr<const std::string>;

  explicit Jit(const Environment& environment);

  // COMPILER_UNAVAILABLE, UNSUPPORTED or COMPILE_FAILED.
  absl::StatusOr<Image> Get(const ModuleSource& source,
                            const KernelInfo& kernel, const DeviceInfo& device);

  // What ReadModuleInfo() says. Of large modules it is kept on disk: reading
  // them takes longer than all else that a warm start does.
  absl::StatusOr<ModuleInfo> InfoOf(std::string_view bytes, Digest digest,
                                    std::string_view name);

  JitCache& disk() { return disk_; }

  // What an image depends on, hashed.
  Digest KeyOf(const ModuleSource& source, const KernelInfo& kernel,
               const DeviceInfo& device) const;

 private:
  struct Slot {
    std::mutex mutex;  // held by the thread that finds or makes the image
    Image image;
  };

  std::shared_ptr<Slot> SlotOf(const Digest& key);
  void Keep(const Digest& key, const Image& image);
  absl::StatusOr<std::string> Compile(const ModuleSource& source,
                                      const KernelInfo& kernel,
                                      const DeviceInfo& device);

  const Environment environment_;
  CompilerLoader compiler_;
  JitCache disk_;
  const std::string build_id_;

  std::mutex mutex_;  // of those below
  std::map<Digest, std::shared_ptr<Slot>> slots_;
  std::list<std::pair<Digest, uint64_t>> kept_;  // oldest first, with bytes
  uint64_t kept_bytes_ = 0;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_JIT_H_
