// A loaded module: its data on the device and its functions.
#ifndef HETGPU_RUNTIME_MODULE_H_
#define HETGPU_RUNTIME_MODULE_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/context.h"
#include "runtime/module_source.h"

namespace hetgpu::runtime {

class Function;

// What functions need of their module; lives as long as any of them. Its data
// and code are held in one of two ways, decided here once for all its kernels:
//   native    by the device, which takes the source as a whole
//   compiled  here: a data segment, and an image for each kernel
class ModuleState {
 public:
  // Gives the device the source, or allocates the data segment and writes its
  // initial content. A source that the device refuses is a module all the same:
  // its kernels say why they cannot run.
  static absl::StatusOr<std::shared_ptr<ModuleState>> Create(
      std::shared_ptr<Context> context,
      std::shared_ptr<const ModuleSource> source);
  ~ModuleState();

  Context& context() const { return *context_; }
  const ModuleSource& source() const { return *source_; }
  const ModuleInfo& info() const { return source_->info; }
  // Device address of the data segment; 0 when the module has no data, or the
  // device holds it.
  uint64_t data() const { return data_; }
  // NOT_FOUND when the device's compiler left the variable out.
  absl::StatusOr<uint64_t> AddressOf(const SymbolInfo& symbol);

  bool is_native() const { return is_native_; }
  // What an opening of the device holds of a native module; loads it when it
  // does not yet. Null when the device takes no sources.
  absl::StatusOr<std::shared_ptr<DeviceModule>> Native(Opening& opening);
  // Gives up what the opening held; bytes of variables lost with it.
  uint64_t Leave();
  // Why the kernel cannot run; OK when nothing speaks against it.
  absl::Status RefusalOf(const KernelInfo& kernel) const;

 private:
  ModuleState(std::shared_ptr<Context> context,
              std::shared_ptr<const ModuleSource> source);
  absl::Status CreateNative();
  absl::Status RefuseStrict() const;
  absl::Status AllocateData();
  absl::Status WriteData();

  const std::shared_ptr<Context> context_;
  const std::shared_ptr<const ModuleSource> source_;
  bool is_native_ = false;
  absl::Status native_refusal_;  // the device takes sources, but not this one
  std::mutex native_mutex_;      // guards the three below
  std::shared_ptr<DeviceModule> native_;
  const Opening* native_opening_ = nullptr;  // of native_, which keeps it alive
  std::vector<Allocation> native_data_;      // its variables
  uint64_t allocation_ = 0;  // what the device gave
  uint64_t data_ = 0;        // allocation_ rounded up to data_align
};

// Threads: any.
class Module {
 public:
  using Handle = hetgpuModule;
  static constexpr HandleKind kKind = HandleKind::kModule;

  static absl::StatusOr<Handle> Load(std::shared_ptr<Context> context,
                                     std::string_view bytes,
                                     std::string_view name);
  explicit Module(std::shared_ptr<ModuleState> state);

  Context& context() const { return state_->context(); }
  const ModuleInfo& info() const { return state_->info(); }
  absl::StatusOr<uint64_t> AddressOf(const SymbolInfo& symbol) const {
    return state_->AddressOf(symbol);
  }

  // The same handle for the same name. NOT_FOUND lists the kernels.
  absl::StatusOr<hetgpuFunction> GetFunction(std::string_view name);
  // All kernels that nothing refuses, together. COMPILE_FAILED for the first
  // that does not compile; the others are prepared.
  absl::Status Prepare();
  // NOT_FOUND lists the globals.
  absl::StatusOr<const SymbolInfo*> GetGlobal(std::string_view name) const;

  // Waits for work in flight and takes away the functions' handles.
  void Close();

 private:
  const std::shared_ptr<ModuleState> state_;
  std::mutex mutex_;
  std::map<std::string, hetgpuFunction, std::less<>> functions_;
};

// The initial bytes of a data segment at `base`: initialisers, zeroes, and
// relocations applied.
absl::StatusOr<std::string> InitialData(const ModuleInfo& info, uint64_t base);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_MODULE_H_
