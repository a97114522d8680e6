// What can be known of a module without a compiler: its kernels, their
// parameters, its symbols and the initial bytes of its data. Filled from PTX
// by frontend/ptx/sema and from a `.hetir` container by hetir/container; read
// by the runtime, the tools and the JIT cache. No LLVM or MLIR here: a warm
// start reads this and nothing of the compiler.
#ifndef HETGPU_HETIR_MODULE_INFO_H_
#define HETGPU_HETIR_MODULE_INFO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hetgpu {

enum class AddressSpace : uint8_t {
  kGeneric,
  kGlobal,
  kConst,
  kShared,
  kLocal,
  kParam,
};

// Element type of a kernel parameter or a symbol, as declared.
enum class ScalarType : uint8_t {
  kB8, kB16, kB32, kB64, kB128,
  kU8, kU16, kU32, kU64,
  kS8, kS16, kS32, kS64,
  kF16, kBF16, kF32, kF64,
};

// Size in bytes.
uint32_t SizeOf(ScalarType type);
// PTX spelling without the dot: "u32", "f64", …
std::string_view NameOf(ScalarType type);

struct ParamInfo {
  std::string name;
  uint32_t offset = 0;  // bytes from the start of the parameter block
  uint32_t size = 0;    // bytes
  uint32_t align = 1;   // bytes, a power of two
  ScalarType type = ScalarType::kB8;
  bool is_array = false;    // a `.b8 name[size]` block: a struct by value
  bool is_pointer = false;  // declared `.ptr`, or a 64-bit integer scalar that
                            // may hold an address
};

// A place in the parameter block whose 8 bytes may be an address that the kernel
// accesses memory by, near it or not.
struct PointerAccess {
  uint32_t offset = 0;
  bool reads = false;
  bool writes = false;
};

// Through which pointers a kernel accesses global memory. Addresses that it does
// not derive from its parameters or the module's data, such as those it loads
// from memory, are unknown: any memory may lie there.
struct AccessSummary {
  bool is_known = false;  // false: nothing is known, expect everything
  std::vector<PointerAccess> pointers;  // by offset
  bool reads_unknown = false;
  bool writes_unknown = false;
};

struct KernelInfo {
  std::string name;
  std::vector<ParamInfo> params;
  uint32_t param_bytes = 0;  // size of the parameter block
  // Static shared memory of the kernel and of all functions it can reach.
  uint32_t static_shared_bytes = 0;
  // Where `extern .shared` begins: static_shared_bytes rounded up to the
  // alignment of the dynamic arrays.
  uint32_t dynamic_shared_offset = 0;
  bool uses_dynamic_shared = false;
  uint32_t local_bytes = 0;        // per thread, declared `.local`
  uint32_t max_threads[3] = {0, 0, 0};       // .maxntid, 0 = not given
  uint32_t required_threads[3] = {0, 0, 0};  // .reqntid, 0 = not given
  uint32_t line = 0;               // of the definition, 1-based
  AccessSummary access;
  // Not OK: the kernel cannot be run and this says why (text and place).
  absl::Status refusal;
};

// A place in the module's data segment that holds an address.
struct Relocation {
  uint64_t offset = 0;  // of an 8-byte slot, from the start of the segment
  // The address stored: of the segment plus `addend` when `symbol_index` names
  // a data symbol; a function token (see hetir.function_token) when it names a
  // function.
  enum class Kind : uint8_t { kData, kFunction } kind = Kind::kData;
  int64_t addend = 0;        // kData: byte offset into the segment;
                             // kFunction: the token itself
  std::string function;      // kFunction: name
};

struct SymbolInfo {
  std::string name;
  AddressSpace space = AddressSpace::kGlobal;  // kGlobal or kConst
  uint64_t offset = 0;  // in the module's data segment
  uint64_t size = 0;    // bytes
  uint32_t align = 1;
  ScalarType type = ScalarType::kB8;  // element type as declared
};

// All `.global` and `.const` data of a module is one segment, laid out in order
// of declaration; every address of a symbol is segment base + offset.
struct ModuleInfo {
  std::string name;            // file name for messages
  uint32_t ptx_version = 0;    // 10 * major + minor, 0 when not from PTX
  std::string target;          // "sm_80"
  std::vector<KernelInfo> kernels;   // in order of definition
  std::vector<SymbolInfo> symbols;   // in order of declaration
  std::vector<Relocation> relocations;
  // Initial content of the segment; bytes past its end up to `data_size` are
  // zero.
  std::string data_init;
  uint64_t data_size = 0;
  uint32_t data_align = 1;

  const KernelInfo* FindKernel(std::string_view name) const;
  const SymbolInfo* FindSymbol(std::string_view name) const;
};

}  // namespace hetgpu

#endif  // HETGPU_HETIR_MODULE_INFO_H_
