#include "runtime/module.h"

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/error.h"
#include "runtime/function.h"
#include "runtime/platform.h"
#include "runtime/status_macros.h"
#include "runtime/trace.h"

namespace hetgpu::runtime {
namespace {

// What every device aligns allocations to.
constexpr uint64_t kAllocationAlign = 256;

// As many names as a line can hold.
template <typename Items>
std::string Names(const Items& items) {
  constexpr size_t kMaxBytes = 400;
  if (items.empty()) return "there are none";
  std::string names;
  size_t shown = 0;
  for (const auto& item : items) {
    if (shown > 0 && names.size() + item.name.size() > kMaxBytes) break;
    if (shown++ > 0) names += ", ";
    names.append(item.name, 0, kMaxBytes);
  }
  const size_t rest = items.size() - shown;
  return Cat("expected one of: ", names,
             rest == 0 ? std::string() : Cat(" and ", rest, " more"));
}

}  // namespace

absl::StatusOr<std::string> InitialData(const ModuleInfo& info, uint64_t base) {
  std::string data = info.data_init;
  data.resize(info.data_size);
  for (const Relocation& relocation : info.relocations) {
    if (relocation.offset > data.size() ||
        data.size() - relocation.offset < sizeof(uint64_t)) {
      return Error(HETGPU_ERROR_INVALID_MODULE, info.name,
                   ": relocation at byte ", relocation.offset,
                   " lies outside the module's ", data.size(),
                   " bytes of data");
    }
    // Function tokens are the same on every device.
    const bool function = relocation.kind == Relocation::Kind::kFunction;
    const uint64_t address = (function ? 0 : base) + relocation.addend;
    std::memcpy(data.data() + relocation.offset, &address, sizeof(address));
  }
  return data;
}

ModuleState::ModuleState(std::shared_ptr<Context> context,
                         std::shared_ptr<const ModuleSource> source)
    : context_(std::move(context)), source_(std::move(source)) {}

absl::StatusOr<std::shared_ptr<ModuleState>> ModuleState::Create(
    std::shared_ptr<Context> context,
    std::shared_ptr<const ModuleSource> source) {
  std::shared_ptr<ModuleState> state(
      new ModuleState(std::move(context), std::move(source)));
  HETGPU_RETURN_IF_ERROR(state->CreateNative());
  state->context().AddModule(state);
  const bool native = state->is_native_ || !state->native_refusal_.ok();
  if (native || state->info().data_size == 0) return state;
  HETGPU_RETURN_IF_ERROR(state->AllocateData());
  HETGPU_RETURN_IF_ERROR(state->WriteData());
  return state;
}

// Strict floating point is a property of the code that is made here.
absl::Status ModuleState::RefuseStrict() const {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  if (platform->environment().fp_mode != "strict") return absl::OkStatus();
  return Error(
      HETGPU_ERROR_UNSUPPORTED, info().name, ": HETGPU_FP_MODE is strict, but "
      "backend ", context_->info().backend, " has native code only");
}

absl::Status ModuleState::CreateNative() {
  const auto loaded = context_->OnDevice(
      [&](Opening& opening) { return Native(opening); });
  if (absl::IsInvalidArgument(loaded.status())) {
    native_refusal_ = Annotate(HETGPU_ERROR_COMPILE_FAILED, "",
                               loaded.status());
  } else if (absl::IsUnimplemented(loaded.status())) {
    native_refusal_ = Annotate(HETGPU_ERROR_UNSUPPORTED, "", loaded.status());
  } else if (!loaded.ok()) {
    return Annotate(ResultOf(loaded.status()), info().name, loaded.status());
  } else if (*loaded != nullptr) {
    native_refusal_ = RefuseStrict();
    is_native_ = native_refusal_.ok();
    if (!is_native_) Leave();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<DeviceModule>> ModuleState::Native(
    Opening& opening) {
  std::lock_guard lock(native_mutex_);
  if (native_ && native_opening_ == &opening) return native_;
  if (!context_->IsPresent(opening)) {
    return absl::UnavailableError("the context has moved");
  }
  const HostSpan span("load", info().name);
  HETGPU_ASSIGN_OR_RETURN(auto loaded,
                          opening.device().LoadModule(info(), source_->bytes));
  if (!loaded) return nullptr;
  std::vector<Allocation> data;
  for (const SymbolInfo& symbol : info().symbols) {
    if (symbol.size == 0) continue;
    const auto address = loaded->SymbolAddress(symbol);
    if (absl::IsNotFound(address.status())) continue;
    HETGPU_RETURN_IF_ERROR(address.status());
    Allocation range{*address, symbol.size};
    range.is_module_data = true;
    data.push_back(range);
  }
  for (const Allocation& range : native_data_) {
    context_->allocations().RemoveModuleData(range.base);
  }
  for (const Allocation& range : data) context_->allocations().Add(range);
  native_ = opening.Own(std::move(loaded));
  native_opening_ = &opening;
  native_data_ = std::move(data);
  return native_;
}

uint64_t ModuleState::Leave() {
  std::lock_guard lock(native_mutex_);
  uint64_t bytes = 0;
  for (const Allocation& range : native_data_) {
    bytes += range.size;
    context_->allocations().RemoveModuleData(range.base);
  }
  native_data_.clear();
  native_.reset();
  return bytes;
}

absl::StatusOr<uint64_t> ModuleState::AddressOf(const SymbolInfo& symbol) {
  if (!native_refusal_.ok()) return native_refusal_;
  if (!is_native_) return data_ + symbol.offset;
  const auto address =
      context_->OnDevice([&](Opening& opening) -> absl::StatusOr<uint64_t> {
        HETGPU_ASSIGN_OR_RETURN(const auto native, Native(opening));
        return native->SymbolAddress(symbol);
      });
  if (address.ok()) return address;
  const bool left_out = absl::IsNotFound(address.status());
  return Annotate(
      left_out ? HETGPU_ERROR_NOT_FOUND : ResultOf(address.status()),
      Cat(info().name, ": global ", symbol.name), address.status());
}

absl::Status ModuleState::RefusalOf(const KernelInfo& kernel) const {
  if (is_native_) return absl::OkStatus();
  if (!kernel.refusal.ok()) {
    return Annotate(HETGPU_ERROR_UNSUPPORTED, Cat("kernel ", kernel.name),
                    kernel.refusal);
  }
  return native_refusal_;
}

ModuleState::~ModuleState() {
  Leave();
  if (allocation_ == 0) return;
  for (const SymbolInfo& symbol : info().symbols) {
    if (symbol.size != 0) {
      context_->allocations().RemoveModuleData(data_ + symbol.offset);
    }
  }
  (void)context_->OnDevice(
      [&](Opening& opening) { return opening.device().Free(allocation_); });
}

absl::Status ModuleState::AllocateData() {
  const uint64_t align = std::max<uint64_t>(info().data_align, 1);
  const uint64_t slack = align > kAllocationAlign ? align : 0;
  if (info().data_size > UINT64_MAX - slack) {
    return Error(HETGPU_ERROR_INVALID_MODULE, info().name, ": module data of ",
                 info().data_size, " bytes overflows");
  }
  auto address = context_->OnDevice([&](Opening& opening) {
    return opening.device().Allocate(info().data_size + slack);
  });
  if (!address.ok()) {
    return Annotate(
        ResultOf(address.status()),
        Cat(info().name, ": module data of ", info().data_size, " bytes"),
        address.status());
  }
  allocation_ = *address;
  data_ = (allocation_ + align - 1) / align * align;
  for (const SymbolInfo& symbol : info().symbols) {
    if (symbol.size == 0) continue;
    Allocation range{data_ + symbol.offset, symbol.size};
    range.is_module_data = true;
    context_->allocations().Add(range);
  }
  return absl::OkStatus();
}

absl::Status ModuleState::WriteData() {
  HETGPU_ASSIGN_OR_RETURN(const std::string data, InitialData(info(), data_));
  // A queue of its own: the default stream may hold a failure that would make
  // it skip the copy.
  return context_->OnDevice([&](Opening& opening) -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(auto queue, opening.device().CreateQueue());
    HETGPU_RETURN_IF_ERROR(
        queue->CopyToDevice(data_, data.data(), data.size()));
    return queue->Synchronize(nullptr);
  });
}

absl::StatusOr<Module::Handle> Module::Load(std::shared_ptr<Context> context,
                                            std::string_view bytes,
                                            std::string_view name) {
  HETGPU_ASSIGN_OR_RETURN(auto source, ReadModuleSource(bytes, name));
  Context& owner = *context;
  HETGPU_ASSIGN_OR_RETURN(
      auto state, ModuleState::Create(std::move(context), std::move(source)));
  return owner.Adopt(std::make_shared<Module>(std::move(state)));
}

Module::Module(std::shared_ptr<ModuleState> state) : state_(std::move(state)) {}

absl::StatusOr<hetgpuFunction> Module::GetFunction(std::string_view name) {
  std::lock_guard lock(mutex_);
  if (const auto found = functions_.find(name); found != functions_.end()) {
    return found->second;
  }
  const KernelInfo* kernel = info().FindKernel(name);
  if (kernel == nullptr) {
    return Error(HETGPU_ERROR_NOT_FOUND, info().name, ": no kernel \"", name,
                 "\", ", Names(info().kernels));
  }
  HETGPU_ASSIGN_OR_RETURN(
      const hetgpuFunction handle,
      context().Adopt(std::make_shared<Function>(state_, kernel)));
  functions_.emplace(name, handle);
  return handle;
}

absl::Status Module::Prepare() {
  std::vector<std::shared_ptr<Function>> functions;
  for (const KernelInfo& kernel : info().kernels) {
    if (!state_->RefusalOf(kernel).ok()) continue;
    HETGPU_ASSIGN_OR_RETURN(const hetgpuFunction handle,
                            GetFunction(kernel.name));
    HETGPU_ASSIGN_OR_RETURN(auto function, Lookup<Function>(handle));
    functions.push_back(std::move(function));
  }
  return context().OnDevice([&](Opening& opening) {
    return Function::PrepareTogether(functions, opening);
  });
}

absl::StatusOr<const SymbolInfo*> Module::GetGlobal(
    std::string_view name) const {
  if (const SymbolInfo* symbol = info().FindSymbol(name)) return symbol;
  return Error(HETGPU_ERROR_NOT_FOUND, info().name, ": no global \"", name,
               "\", ", Names(info().symbols));
}

void Module::Close() {
  context().WaitIdle();
  std::lock_guard lock(mutex_);
  for (const auto& [name, handle] : functions_) {
    context().Disown(reinterpret_cast<uint64_t>(handle));
    (void)HandleTable<Function>::Get().Remove(handle);
  }
  functions_.clear();
}

}  // namespace hetgpu::runtime
