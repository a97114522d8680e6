// hetgpuModule…, hetgpuType….
#include "runtime/api.h"
#include "runtime/module.h"
#include "runtime/types.h"

using namespace hetgpu::runtime;

namespace {

absl::Status LoadData(hetgpuContext context, const void* data, size_t size,
                      const char* name, hetgpuModule* module) {
  HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Context>(context));
  HETGPU_RETURN_IF_ERROR(CheckOutput(module, "module"));
  if (data == nullptr || size == 0) {
    return Error(HETGPU_ERROR_INVALID_VALUE,
                 "module data is empty, expected PTX text or a container");
  }
  HETGPU_ASSIGN_OR_RETURN(
      *module,
      Module::Load(std::move(found), {static_cast<const char*>(data), size},
                   name != nullptr ? name : "<memory>"));
  return absl::OkStatus();
}

absl::Status LoadFile(hetgpuContext context, const char* path,
                      hetgpuModule* module) {
  HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Context>(context));
  HETGPU_RETURN_IF_ERROR(CheckOutput(module, "module"));
  if (path == nullptr) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "null module path");
  }
  HETGPU_ASSIGN_OR_RETURN(const std::string bytes, ReadFileBytes(path));
  HETGPU_ASSIGN_OR_RETURN(*module, Module::Load(std::move(found), bytes, path));
  return absl::OkStatus();
}

absl::Status CheckIndex(std::string_view what, uint32_t index, size_t count) {
  if (index < count) return absl::OkStatus();
  return Error(HETGPU_ERROR_NOT_FOUND, what, " ", index,
               " does not exist, there are ", count);
}

absl::Status CheckName(const char* name) {
  if (name != nullptr) return absl::OkStatus();
  return Error(HETGPU_ERROR_INVALID_VALUE, "null name");
}

hetgpuGlobalInfo GlobalInfoOf(const hetgpu::SymbolInfo& symbol,
                              uint64_t address) {
  hetgpuGlobalInfo info = {};
  info.name = symbol.name.c_str();
  info.address = address;
  info.size = symbol.size;
  info.align = symbol.align;
  info.type = ToApi(symbol.type);
  info.is_const = symbol.space == hetgpu::AddressSpace::kConst;
  return info;
}

}  // namespace

extern "C" {

hetgpuResult hetgpuModuleLoadData(hetgpuContext context, const void* data,
                                  size_t size, const char* name,
                                  hetgpuModule* module) {
  return Api([&] { return LoadData(context, data, size, name, module); });
}

hetgpuResult hetgpuModuleLoadFile(hetgpuContext context, const char* path,
                                  hetgpuModule* module) {
  return Api([&] { return LoadFile(context, path, module); });
}

hetgpuResult hetgpuModuleUnload(hetgpuModule module) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto removed,
                            HandleTable<Module>::Get().Remove(module));
    removed->context().Disown(reinterpret_cast<uint64_t>(module));
    removed->Close();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuModuleGetKernelCount(hetgpuModule module, uint32_t* count) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    HETGPU_RETURN_IF_ERROR(CheckOutput(count, "kernel count"));
    *count = found->info().kernels.size();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuModuleGetKernelName(hetgpuModule module, uint32_t index,
                                       const char** name) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    HETGPU_RETURN_IF_ERROR(CheckOutput(name, "kernel name"));
    const auto& kernels = found->info().kernels;
    HETGPU_RETURN_IF_ERROR(CheckIndex("kernel", index, kernels.size()));
    *name = kernels[index].name.c_str();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuModuleGetFunction(hetgpuModule module, const char* name,
                                     hetgpuFunction* function) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    HETGPU_RETURN_IF_ERROR(CheckOutput(function, "function"));
    HETGPU_RETURN_IF_ERROR(CheckName(name));
    HETGPU_ASSIGN_OR_RETURN(*function, found->GetFunction(name));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuModulePrepare(hetgpuModule module) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    return found->Prepare();
  });
}

hetgpuResult hetgpuModuleGetGlobal(hetgpuModule module, const char* name,
                                   hetgpuDevicePtr* address, uint64_t* size) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    HETGPU_RETURN_IF_ERROR(CheckName(name));
    HETGPU_ASSIGN_OR_RETURN(const auto* symbol, found->GetGlobal(name));
    if (address != nullptr) {
      HETGPU_ASSIGN_OR_RETURN(*address, found->AddressOf(*symbol));
    }
    if (size != nullptr) *size = symbol->size;
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuModuleGetGlobalCount(hetgpuModule module, uint32_t* count) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    HETGPU_RETURN_IF_ERROR(CheckOutput(count, "global count"));
    *count = found->info().symbols.size();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuModuleGetGlobalInfo(hetgpuModule module, uint32_t index,
                                       hetgpuGlobalInfo* info) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Module>(module));
    const auto& symbols = found->info().symbols;
    HETGPU_RETURN_IF_ERROR(CheckIndex("global", index, symbols.size()));
    HETGPU_ASSIGN_OR_RETURN(const uint64_t address,
                            found->AddressOf(symbols[index]));
    return FillStruct(info, GlobalInfoOf(symbols[index], address),
                      "global info");
  });
}

const char* hetgpuTypeName(hetgpuType type) {
  if (static_cast<unsigned>(type) > HETGPU_TYPE_F64) return "?";
  return hetgpu::NameOf(static_cast<hetgpu::ScalarType>(type)).data();
}

uint32_t hetgpuTypeSize(hetgpuType type) {
  if (static_cast<unsigned>(type) > HETGPU_TYPE_F64) return 0;
  return hetgpu::SizeOf(static_cast<hetgpu::ScalarType>(type));
}

}  // extern "C"
