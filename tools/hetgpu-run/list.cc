#include "tools/hetgpu-run/list.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using Json = nlohmann::ordered_json;

struct KernelListing {
  std::string name, refusal;
  std::vector<hetgpuParameterInfo> params;
  uint64_t static_shared = 0, max_dynamic_shared = 0, local = 0, line = 0;
  uint64_t max_threads = 0;
  uint64_t required[3] = {0, 0, 0};
  bool dynamic_shared = false;
};

absl::StatusOr<KernelListing> Describe(const Session& session, uint32_t index) {
  KernelListing listing;
  const char* name = "";
  RETURN_IF_ERROR(
      ToStatus(hetgpuModuleGetKernelName(session.module(), index, &name)));
  listing.name = name;
  hetgpuFunction function = nullptr;
  RETURN_IF_ERROR(
      ToStatus(hetgpuModuleGetFunction(session.module(), name, &function)));
  const char* refusal = "";
  RETURN_IF_ERROR(ToStatus(
      hetgpuFunctionGetText(function, HETGPU_FUNCTION_TEXT_REFUSAL, &refusal)));
  listing.refusal = refusal;
  ASSIGN_OR_RETURN(listing.params, ParametersOf(function));
  const auto get = [&](hetgpuFunctionAttribute attribute) {
    return Session::Attribute(function, attribute);
  };
  listing.static_shared = get(HETGPU_FUNCTION_STATIC_SHARED_BYTES);
  listing.max_dynamic_shared = get(HETGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES);
  listing.dynamic_shared = get(HETGPU_FUNCTION_USES_DYNAMIC_SHARED) != 0;
  listing.local = get(HETGPU_FUNCTION_LOCAL_BYTES);
  listing.line = get(HETGPU_FUNCTION_SOURCE_LINE);
  listing.max_threads = get(HETGPU_FUNCTION_MAX_THREADS_PER_BLOCK);
  listing.required[0] = get(HETGPU_FUNCTION_REQUIRED_BLOCK_X);
  listing.required[1] = get(HETGPU_FUNCTION_REQUIRED_BLOCK_Y);
  listing.required[2] = get(HETGPU_FUNCTION_REQUIRED_BLOCK_Z);
  return listing;
}

absl::StatusOr<std::vector<KernelListing>> DescribeKernels(
    const Session& session) {
  uint32_t count = 0;
  RETURN_IF_ERROR(
      ToStatus(hetgpuModuleGetKernelCount(session.module(), &count)));
  std::vector<KernelListing> listings;
  for (uint32_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(KernelListing listing, Describe(session, i));
    listings.push_back(std::move(listing));
  }
  return listings;
}

absl::StatusOr<std::vector<hetgpuGlobalInfo>> DescribeGlobals(
    const Session& session) {
  uint32_t count = 0;
  RETURN_IF_ERROR(
      ToStatus(hetgpuModuleGetGlobalCount(session.module(), &count)));
  std::vector<hetgpuGlobalInfo> globals(count);
  for (uint32_t i = 0; i < count; ++i) {
    globals[i].struct_size = sizeof globals[i];
    RETURN_IF_ERROR(
        ToStatus(hetgpuModuleGetGlobalInfo(session.module(), i, &globals[i])));
  }
  return globals;
}

// "u32", "struct", "u64 pointer".
std::string TypeText(const hetgpuParameterInfo& param) {
  if (param.is_array) return Cat(hetgpuTypeName(param.type), "[]");
  return Cat(hetgpuTypeName(param.type), param.is_pointer ? " address" : "");
}

std::string LimitsText(const KernelListing& kernel) {
  std::string text = Cat("  up to ", kernel.max_threads, " threads per block");
  if (kernel.required[0] != 0) {
    text += Cat(", block must be ", kernel.required[0], ",", kernel.required[1],
                ",", kernel.required[2]);
  }
  text += Cat("; shared memory: ", kernel.static_shared, " bytes static");
  if (kernel.dynamic_shared) {
    text += Cat(" and up to ", kernel.max_dynamic_shared, " dynamic");
  }
  if (kernel.local != 0) {
    text += Cat("; ", kernel.local, " bytes local per thread");
  }
  return text;
}

void PrintKernel(const KernelListing& kernel) {
  std::printf("kernel %s (line %llu)\n", kernel.name.c_str(),
              static_cast<unsigned long long>(kernel.line));
  if (!kernel.refusal.empty()) {
    std::printf("  cannot run: %s\n", kernel.refusal.c_str());
  }
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const hetgpuParameterInfo& param = kernel.params[i];
    std::printf("  %2zu  %-12s size %-4u offset %-4u %s\n", i,
                TypeText(param).c_str(), param.size, param.offset, param.name);
  }
  std::puts(LimitsText(kernel).c_str());
}

Json ToJson(const KernelListing& kernel) {
  Json params = Json::array();
  for (const hetgpuParameterInfo& param : kernel.params) {
    params.push_back({{"name", param.name},
                      {"type", hetgpuTypeName(param.type)},
                      {"size", param.size},
                      {"offset", param.offset},
                      {"align", param.align},
                      {"is_array", param.is_array != 0},
                      {"may_be_address", param.is_pointer != 0}});
  }
  Json json = {{"name", kernel.name},
               {"line", kernel.line},
               {"params", params},
               {"static_shared_bytes", kernel.static_shared},
               {"uses_dynamic_shared", kernel.dynamic_shared},
               {"max_dynamic_shared_bytes", kernel.max_dynamic_shared},
               {"local_bytes", kernel.local},
               {"max_threads_per_block", kernel.max_threads},
               {"required_block", kernel.required}};
  if (!kernel.refusal.empty()) json["refusal"] = kernel.refusal;
  return json;
}

Json ToJson(const hetgpuGlobalInfo& global) {
  return {{"name", global.name},
          {"type", hetgpuTypeName(global.type)},
          {"size", global.size},
          {"align", global.align},
          {"is_const", global.is_const != 0}};
}

}  // namespace

absl::Status ListModule(const Session& session, const std::string& path,
                        bool json) {
  ASSIGN_OR_RETURN(const auto kernels, DescribeKernels(session));
  ASSIGN_OR_RETURN(const auto globals, DescribeGlobals(session));
  if (json) {
    Json root = {{"ok", true}, {"module", path}};
    root["kernels"] = Json::array();
    for (const auto& kernel : kernels)
      root["kernels"].push_back(ToJson(kernel));
    root["globals"] = Json::array();
    for (const auto& global : globals)
      root["globals"].push_back(ToJson(global));
    std::puts(root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return absl::OkStatus();
  }
  for (const auto& kernel : kernels) PrintKernel(kernel);
  for (const auto& global : globals) {
    std::printf("%s %s: %s, %llu bytes\n", global.is_const ? "const" : "global",
                global.name, hetgpuTypeName(global.type),
                static_cast<unsigned long long>(global.size));
  }
  if (kernels.empty()) std::puts("no kernels");
  return absl::OkStatus();
}

}  // namespace hetgpu::tools
