// What can be said of a parsed module without a compiler: who calls whom, where
// data lies, which kernels cannot be run and why.
//
// One segment holds all `.global` and `.const` data of the module; its layout
// is the same for every kernel. Shared memory is laid out per kernel, over the
// variables of all functions that the kernel can reach:
//
//   0 ........ static_bytes .. dynamic_offset ........
//   | .shared variables | pad | .extern .shared arrays (all at one place) |
//
// Nothing here depends on LLVM. The lowering asks the same layouts for offsets
// as the runtime does through ModuleInfo.
#ifndef HETGPU_FRONTEND_PTX_SEMA_H_
#define HETGPU_FRONTEND_PTX_SEMA_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "frontend/ptx/ast.h"
#include "hetir/module_info.h"

namespace hetgpu::ptx {

// Offset of a variable that has no place in the layout asked.
inline constexpr uint64_t kNoOffset = ~uint64_t{0};

// A variable of the module (function == kNone: index into Module::variables) or
// of a body (index into the variables of that function's body).
struct VariableId {
  uint32_t function = kNone;
  uint32_t index = 0;
  friend bool operator==(VariableId, VariableId) = default;
  friend auto operator<=>(VariableId, VariableId) = default;
};

const Variable& GetVariable(const Module& module, VariableId id);

// Functions that a program may call without defining them, because hetGPU
// does: vprintf, malloc, free, __assertfail.
bool IsRuntimeFunction(std::string_view name);

// The function that runs when `function` is called: follows `.alias`.
uint32_t ResolveAlias(const Module& module, uint32_t function);

// The device-neutral pointer to a defined .func: its 1-based index among the
// defined .func functions of the module, in order of first declaration. 0 for
// others: the null function.
int64_t FunctionToken(const Module& module, uint32_t function);

// Facts of one body, gathered in one pass over its operands.
struct FunctionSummary {
  std::vector<uint32_t> callees;           // direct, aliases followed
  std::vector<uint32_t> taken;             // functions whose address is taken
  std::vector<uint32_t> module_variables;  // referenced, in order of index
  std::vector<uint32_t> indirect_signatures;  // see Sema::SignatureOf
  std::vector<uint32_t> indirect_targets;     // from .calltargets
  std::vector<SourceLocation> callee_places;  // one per callee
};

// The data segment.
struct DataLayout {
  std::vector<uint64_t> module_offsets;  // per Module::variables, or kNoOffset
  // Per function, per body variable; empty when the body has no such data.
  std::vector<std::vector<uint64_t>> body_offsets;
  // Not OK: a kernel that uses the variable is refused with this.
  std::vector<absl::Status> refusals;  // per Module::variables
  uint64_t size = 0;
  uint32_t align = 1;

  uint64_t OffsetOf(VariableId id) const;
};

struct KernelLayout {
  uint32_t function = 0;
  // Functions that may run, the kernel first, then by index. Undefined ones
  // are runtime functions.
  std::vector<uint32_t> reachable;
  std::vector<uint64_t> param_offsets;
  uint64_t param_bytes = 0;
  std::vector<std::pair<VariableId, uint64_t>> shared;  // sorted by id
  uint64_t static_shared_bytes = 0;
  uint64_t dynamic_shared_offset = 0;
  bool uses_dynamic_shared = false;
  uint64_t local_bytes = 0;
  absl::Status refusal;

  // Offset in shared memory; dynamic arrays lie at dynamic_shared_offset.
  // kNoOffset when the kernel cannot reach the variable.
  uint64_t SharedOffset(VariableId id) const;
};

// Computes layouts. Keeps a reference to the module.
class Sema {
 public:
  // kResourceExhausted when the data does not fit in the limits.
  static absl::StatusOr<Sema> Create(const Module& module);

  const DataLayout& data() const { return data_; }
  const FunctionSummary& summary(uint32_t function) const {
    return summaries_[function];
  }
  // Whether the address of `function` is taken anywhere in the module.
  bool IsTaken(uint32_t function) const { return taken_[function]; }
  // `function` is an entry. Never fails: refusal says what is wrong.
  KernelLayout LayOutKernel(uint32_t function) const;

 private:
  explicit Sema(const Module& module) : module_(&module) {}
  void Summarise(uint32_t function);
  absl::Status LayOutData();
  void CheckInitializers();
  absl::Status CheckInitializer(const Variable& variable) const;
  void FindTaken();
  // One number per list of parameter and result sizes.
  uint32_t SignatureOf(const std::vector<Variable>& params,
                       const std::vector<Variable>& returns);
  void Reach(KernelLayout* layout) const;
  absl::Status CheckReached(const KernelLayout& layout) const;
  absl::Status CheckFunction(uint32_t function) const;
  void LayOutMemory(KernelLayout* layout) const;
  void LayOutParams(KernelLayout* layout) const;

  friend class ModuleInfoBuilder;

  const Module* module_;
  std::vector<FunctionSummary> summaries_;
  std::unordered_map<std::string_view, uint32_t> functions_by_name_;
  std::unordered_map<std::string_view, uint32_t> variables_by_name_;
  std::unordered_map<std::string, uint32_t> signatures_;
  // Functions whose address is taken anywhere in the module, by signature.
  std::vector<std::vector<uint32_t>> taken_by_signature_;
  std::vector<bool> taken_;  // per function
  DataLayout data_;
};

// The description that the runtime reads. A kernel that cannot be run is listed
// with its refusal; the whole call fails only when the module's data exceeds
// the limits (kResourceExhausted).
absl::StatusOr<ModuleInfo> BuildModuleInfo(const Module& module);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_SEMA_H_
