#include "runtime/jit.h"

#include <utility>

#include "hetir/container/container.h"
#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/module_readers.h"
#include "runtime/status_macros.h"
#include "runtime/trace.h"

namespace hetgpu::runtime {
namespace {

// Images held in memory beyond those that functions use.
constexpr uint64_t kMaxKeptBytes = uint64_t{64} << 20;

// Changes when images of the same key would no longer fit this runtime.
constexpr int kCacheVersion = 1;

// Such a text takes a good part of a millisecond to read.
constexpr size_t kLargeModule = size_t{64} << 10;

// Length before text: no two lists of fields give the same bytes.
void AppendField(std::string& key, std::string_view field) {
  key += Cat(field.size(), ":", field, ";");
}

}  // namespace

Jit::Jit(const Environment& environment)
    : environment_(environment),
      compiler_(environment.compiler_library),
      disk_(environment.cache_dir, environment.cache_bytes),
      build_id_(compiler_.BuildId()) {}

Digest Jit::KeyOf(const ModuleSource& source, const KernelInfo& kernel,
                  const DeviceInfo& device) const {
  std::string key;
  AppendField(key, Cat(HETGPU_VERSION, ".", kCacheVersion, ".", kCompilerAbi));
  AppendField(key, build_id_);
  AppendField(key, ToHex(source.digest));
  AppendField(key, kernel.name);
  AppendField(key, device.backend);
  AppendField(key, device.target);
  AppendField(key, environment_.fp_mode);
  AppendField(key, environment_.cpu_mode);
  return DigestOf(key);
}

absl::StatusOr<ModuleInfo> Jit::InfoOf(std::string_view bytes, Digest digest,
                                       std::string_view name) {
  if (bytes.size() < kLargeModule || IsContainer(bytes)) {
    return ReadModuleInfo(bytes, name);
  }
  std::string text;
  AppendField(text, "module info");
  AppendField(text, Cat(HETGPU_VERSION, ".", kCacheVersion));
  AppendField(text, build_id_);  // the front end is part of the compiler too
  AppendField(text, ToHex(digest));
  AppendField(text, name);  // stands in messages
  const Digest key = DigestOf(text);
  if (const auto kept = disk_.Load(key)) {
    auto container = ReadContainer(*kept, name);
    if (container.ok()) return std::move(container->info);
  }
  HETGPU_ASSIGN_OR_RETURN(ModuleInfo info, ReadModuleInfo(bytes, name));
  disk_.Store(key, WriteContainer(info, {}, ""));
  return info;
}

std::shared_ptr<Jit::Slot> Jit::SlotOf(const Digest& key) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Slot>& slot = slots_[key];
  if (slot == nullptr) slot = std::make_shared<Slot>();
  return slot;
}

void Jit::Keep(const Digest& key, const Image& image) {
  std::lock_guard lock(mutex_);
  kept_.emplace_back(key, image->size());
  kept_bytes_ += image->size();
  while (kept_bytes_ > kMaxKeptBytes && kept_.size() > 1) {
    slots_.erase(kept_.front().first);
    kept_bytes_ -= kept_.front().second;
    kept_.pop_front();
  }
}

absl::StatusOr<Jit::Image> Jit::Get(const ModuleSource& source,
                                    const KernelInfo& kernel,
                                    const DeviceInfo& device) {
  const Digest key = KeyOf(source, kernel, device);
  const std::shared_ptr<Slot> slot = SlotOf(key);
  std::lock_guard lock(slot->mutex);
  if (slot->image != nullptr) {
    Count(HETGPU_COUNTER_CACHE_MEMORY_HITS);
    return slot->image;
  }
  HostSpan span("compile", kernel.name);
  if (auto image = disk_.Load(key)) {
    span.SetCategory("cache");
    Count(HETGPU_COUNTER_CACHE_DISK_HITS);
    slot->image = std::make_shared<const std::string>(*std::move(image));
  } else {
    HETGPU_ASSIGN_OR_RETURN(std::string compiled,
                            Compile(source, kernel, device));
    disk_.Store(key, compiled);
    slot->image = std::make_shared<const std::string>(std::move(compiled));
  }
  Keep(key, slot->image);
  return slot->image;
}

absl::StatusOr<std::string> Jit::Compile(const ModuleSource& source,
                                         const KernelInfo& kernel,
                                         const DeviceInfo& device) {
  CompileRequest request;
  request.source = source.bytes;
  request.source_name = source.name;
  request.kernel = kernel.name;
  request.backend = device.backend;
  request.target = device.target;
  request.fp_mode = environment_.fp_mode;
  request.cpu_mode = environment_.cpu_mode;
  const uint64_t start = NowNs();
  auto image = compiler_.Compile(request);
  if (!image.ok()) return image;
  Count(HETGPU_COUNTER_COMPILES);
  Count(HETGPU_COUNTER_COMPILE_NS, NowNs() - start);
  return image;
}

}  // namespace hetgpu::runtime
