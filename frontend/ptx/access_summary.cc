#include "frontend/ptx/access_summary.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "frontend/ptx/sema.h"

namespace hetgpu::ptx {
namespace {

using Origins = unsigned __int128;

constexpr Origins kLoaded = 1;   // 64 bits out of memory: any address
constexpr Origins kNarrow = 2;   // fewer bits out of memory or parameters
constexpr Origins kLocal = 4;    // address of local memory
constexpr Origins kShared = 8;   // address of shared memory
constexpr Origins kDevice = 16;  // address of module data or the heap
constexpr Origins kParams = 32;  // address of a parameter
constexpr unsigned kFirstSlot = 8;
constexpr unsigned kMaxSlots = 128 - kFirstSlot;

// Multipliers and shifts up to these make an index, not half of an address.
constexpr uint64_t kLargestFactor = uint64_t{1} << 20;
constexpr int64_t kLargestShift = 16;

class Analysis {
 public:
  Analysis(const Module& module, uint32_t kernel)
      : module_(module), kernel_(kernel) {}

  AccessSummary Run() {
    LayOutParams();
    Enter(kernel_);
    do {
      changed_ = false;
      // Functions are entered while this runs.
      for (size_t i = 0; known_ && i < entered_.size(); ++i) Visit(entered_[i]);
    } while (known_ && changed_);
    // Only now is known what has no origin at all.
    is_final_ = true;
    for (size_t i = 0; known_ && i < entered_.size(); ++i) Visit(entered_[i]);
    return Result();
  }

 private:
  // What a function's values derive from, over all calls of it.
  struct Frame {
    std::vector<Origins> registers;
    std::vector<Origins> variables;  // of its body: those of .param space
    std::vector<Origins> params;
    std::vector<Origins> returns;
  };

  void LayOutParams() {
    uint64_t offset = 0;
    for (const Variable& param : module_.functions[kernel_].params) {
      const uint64_t align = std::max<uint32_t>(param.align, 1);
      offset = (offset + align - 1) / align * align;
      param_offsets_.push_back(offset);
      offset += param.size;
    }
  }

  AccessSummary Result() const {
    AccessSummary summary;
    if (!known_) return summary;
    summary.is_known = true;
    for (const auto& [offset, slot] : slots_) {
      const Origins bit = Origins{1} << (kFirstSlot + slot);
      PointerAccess access = {offset, (read_ & bit) != 0, (written_ & bit) != 0};
      if (access.reads || access.writes) summary.pointers.push_back(access);
    }
    summary.reads_unknown = (read_ & kLoaded) != 0;
    summary.writes_unknown = (written_ & kLoaded) != 0;
    return summary;
  }

  void GiveUp() { known_ = false; }

  void Enter(uint32_t function) {
    if (frames_.count(function) != 0) return;
    const Function& entered = module_.functions[function];
    if (entered.body == nullptr) return GiveUp();
    Frame& frame = frames_[function];
    frame.registers.resize(entered.body->num_registers);
    frame.variables.resize(entered.body->variables.size());
    frame.params.resize(entered.params.size());
    frame.returns.resize(entered.returns.size());
    entered_.push_back(function);
    changed_ = true;
  }

  void Add(Origins& to, Origins more) {
    if ((to | more) == to) return;
    to |= more;
    changed_ = true;
  }

  // The 8 bytes of the parameter block from `offset` on.
  Origins Slot(uint64_t offset) {
    const auto [slot, is_new] =
        slots_.emplace(static_cast<uint32_t>(offset), slots_.size());
    if (slot->second < kMaxSlots) {
      return Origins{1} << (kFirstSlot + slot->second);
    }
    GiveUp();
    return 0;
  }

  Origins AllSlots() {
    Origins all = kNarrow;
    const auto& params = module_.functions[kernel_].params;
    for (size_t i = 0; i < params.size() && known_; ++i) {
      for (uint64_t at = 0; at + 8 <= params[i].size; at += 8) {
        all |= Slot(param_offsets_[i] + at);
      }
    }
    return all;
  }

  bool IsKernel() const { return current_ == kernel_; }
  const Body& body() const { return *module_.functions[current_].body; }
  Frame& frame() { return frames_.at(current_); }

  void Visit(uint32_t function) {
    current_ = function;
    const Function& visited = module_.functions[function];
    for (size_t i = 0; i < visited.params.size(); ++i) {
      const uint32_t reg = visited.params[i].reg;
      if (reg != kNone) Add(frame().registers[reg], frame().params[i]);
    }
    for (const Instruction& instruction : body().instructions) {
      if (!known_) return;
      Step(instruction);
    }
    for (size_t i = 0; i < visited.returns.size(); ++i) {
      const uint32_t reg = visited.returns[i].reg;
      if (reg != kNone) Add(frame().returns[i], frame().registers[reg]);
    }
  }

  void Step(const Instruction& instruction) {
    switch (instruction.op()) {
      case Op::kCall:
        return Call(instruction);
      case Op::kLd:
      case Op::kLdu:
        return Load(instruction);
      case Op::kSt:
        return Store(instruction);
      case Op::kAtom:
      case Op::kRed:
        return Atomic(instruction);
      case Op::kCpAsync:
        return CopyAsync(instruction);
      case Op::kPrefetch:
      case Op::kPrefetchu:
      case Op::kApplypriority:
      case Op::kCpAsyncBulkPrefetch:
        return;  // touch nothing that anybody could see
      case Op::kTex:
      case Op::kTld4:
      case Op::kSuld:
        Mark(read_, kLoaded);
        return Compute(instruction);
      case Op::kSust:
      case Op::kSured:
        Mark(written_, kLoaded);
        return Compute(instruction);
      case Op::kCpAsyncBulkTensor:
      case Op::kCpReduceAsyncBulkTensor:
      case Op::kTensormapReplace:
      case Op::kTensormapCpFenceproxy:
        return GiveUp();  // addresses come from a descriptor
      case Op::kAlloca:
        ForEachDest(instruction, [&](Origins& to) { Add(to, kLocal); });
        return;
      case Op::kSetp:
      case Op::kIsspacep:
      case Op::kTestp:
      case Op::kBra:
        return;
      default:
        return Other(instruction);
    }
  }

  // --- Operands ---

  template <typename Visitor>
  void ForEachLeaf(const Operand& operand, Visitor visit) {
    if (operand.num_children == 0) return visit(operand);
    for (const Operand& child : body().Children(operand)) {
      ForEachLeaf(child, visit);
    }
  }

  template <typename Visitor>
  void ForEachDest(const Instruction& instruction, Visitor visit) {
    for (const Operand& operand : body().Operands(instruction)) {
      ForEachLeaf(operand, [&](const Operand& leaf) {
        const bool dest = operand.is_dest || leaf.is_dest;
        if (!dest || leaf.kind != OperandKind::kRegister) return;
        if (ClassOf(body().RegisterType(leaf.index)) == TypeClass::kPred) return;
        visit(frame().registers[leaf.index]);
      });
    }
  }

  Origins OfSymbol(const Operand& operand) {
    switch (operand.symbol_kind) {
      case SymbolKind::kModuleVariable:
        return OfSpace(module_.variables[operand.index].space);
      case SymbolKind::kBodyVariable:
        return OfSpace(body().variables[operand.index].space);
      case SymbolKind::kParam:
      case SymbolKind::kReturnParam:
        return kParams;
      case SymbolKind::kFunction:
        return 0;
    }
    return kLoaded;
  }

  static Origins OfSpace(StateSpace space) {
    switch (space) {
      case StateSpace::kLocal:
        return kLocal;
      case StateSpace::kShared:
      case StateSpace::kSharedCluster:
        return kShared;
      case StateSpace::kParam:
        return kParams;
      default:
        return kDevice;
    }
  }

  // Of a value that is read; an address counts for its base.
  Origins Of(const Operand& operand) {
    switch (operand.kind) {
      case OperandKind::kRegister:
        return frame().registers[operand.index];
      case OperandKind::kSymbol:
        return OfSymbol(operand);
      case OperandKind::kAddress:
        return OfAddress(operand);
      default:
        break;
    }
    Origins all = 0;
    for (const Operand& child : body().Children(operand)) all |= Of(child);
    return all;
  }

  Origins OfAddress(const Operand& address) {
    switch (address.address_base) {
      case AddressBase::kRegister:
        return frame().registers[address.index];
      case AddressBase::kSymbol:
        return OfSymbol(address);
      case AddressBase::kAbsolute:
        return 0;
      case AddressBase::kCompound:
        break;
    }
    Origins all = 0;
    for (const Operand& child : body().Children(address)) all |= Of(child);
    return all;
  }

  static bool IsGlobal(StateSpace space) {
    return space == StateSpace::kGlobal || space == StateSpace::kGeneric;
  }

  void Mark(Origins& marks, Origins origins) {
    if (is_final_) marks |= origins;
  }

  // An access of global memory by an address of these origins.
  void Access(Origins& marks, Origins origins) {
    constexpr Origins kNoAddress = kNarrow;
    // Made of constants or pieces: nobody knows where it leads.
    if ((origins & ~kNoAddress) == 0) origins |= kLoaded;
    Mark(marks, origins);
  }

  // --- Memory ---

  // `bits`: of one element, in a register.
  Origins Loaded(Origins held, uint32_t bits) {
    if (bits < 64) return held | kNarrow;
    // Halves that were stored apart.
    return (held & kNarrow) != 0 ? held | kLoaded : held;
  }

  // What holds the origins of the variable of .param space that an address names;
  // null for a parameter of the kernel, and when it names none.
  Origins* ParamVariable(const Operand& address, bool* is_kernel_param) {
    *is_kernel_param = false;
    if (address.address_base != AddressBase::kSymbol) return nullptr;
    switch (address.symbol_kind) {
      case SymbolKind::kBodyVariable:
        return &frame().variables[address.index];
      case SymbolKind::kReturnParam:
        return &frame().returns[address.index];
      case SymbolKind::kParam:
        if (!IsKernel()) return &frame().params[address.index];
        *is_kernel_param = true;
        return nullptr;
      default:
        return nullptr;
    }
  }

  Origins LoadedParam(const Operand& address, uint32_t bits, uint32_t element) {
    bool is_kernel_param = false;
    if (const Origins* variable = ParamVariable(address, &is_kernel_param)) {
      return Loaded(*variable, bits);
    }
    if (!is_kernel_param) return AllSlots();
    if (bits < 64) return kNarrow;
    const uint64_t at = param_offsets_[address.index] +
                        static_cast<uint64_t>(address.value) +
                        uint64_t{element} * (bits / 8);
    return bits == 64 ? Slot(at) : Slot(at) | Slot(at + 8);
  }

  Origins LoadedFrom(StateSpace space, Origins address, uint32_t bits) {
    if (space == StateSpace::kLocal) return Loaded(local_, bits);
    if (space == StateSpace::kShared || space == StateSpace::kSharedCluster) {
      return Loaded(shared_, bits);
    }
    Origins value = 0;
    if ((address & kLocal) != 0) value |= Loaded(local_, bits);
    if ((address & kShared) != 0) value |= Loaded(shared_, bits);
    if ((address & kParams) != 0) value |= AllSlots();
    constexpr Origins kHere = kLocal | kShared | kParams;
    const bool elsewhere =
        (address & ~(kHere | kNarrow)) != 0 || (address & kHere) == 0;
    if (elsewhere) value |= bits < 64 ? kNarrow : kLoaded;
    return value;
  }

  void Load(const Instruction& instruction) {
    const auto operands = body().Operands(instruction);
    const StateSpace space = instruction.mods().space;
    const Operand& address = operands[1];
    const uint32_t bits = TypeBits(instruction.mods().type());
    const Origins origins = OfAddress(address);
    if (IsGlobal(space)) Access(read_, origins);
    uint32_t element = 0;
    ForEachLeaf(operands[0], [&](const Operand& leaf) {
      const uint32_t index = element++;
      if (leaf.kind != OperandKind::kRegister) return;
      const Origins value =
          space == StateSpace::kParam
              ? LoadedParam(address, bits, index)
              : LoadedFrom(space, origins, bits);
      Add(frame().registers[leaf.index], value);
    });
  }

  void Keep(StateSpace space, Origins address, Origins value) {
    const bool anywhere = (address & kLoaded) != 0;
    if (space == StateSpace::kLocal ||
        (IsGlobal(space) && ((address & kLocal) != 0 || anywhere))) {
      Add(local_, value);
    }
    if (space == StateSpace::kShared || space == StateSpace::kSharedCluster ||
        (IsGlobal(space) && ((address & kShared) != 0 || anywhere))) {
      Add(shared_, value);
    }
  }

  void Store(const Instruction& instruction) {
    const auto operands = body().Operands(instruction);
    const StateSpace space = instruction.mods().space;
    Origins value = Of(operands[1]);
    if (TypeBits(instruction.mods().type()) < 64) value |= kNarrow;
    if (space == StateSpace::kParam) {
      bool is_kernel_param = false;
      Origins* const variable = ParamVariable(operands[0], &is_kernel_param);
      if (variable == nullptr) return GiveUp();
      return Add(*variable, value);
    }
    const Origins address = OfAddress(operands[0]);
    if (IsGlobal(space)) Access(written_, address);
    Keep(space, address, value);
  }

  void Atomic(const Instruction& instruction) {
    const StateSpace space = instruction.mods().space;
    const uint32_t bits = TypeBits(instruction.mods().type());
    Origins address = 0, value = bits < 64 ? kNarrow : 0;
    for (const Operand& operand : body().Operands(instruction)) {
      if (operand.kind == OperandKind::kAddress) {
        address = OfAddress(operand);
      } else if (!operand.is_dest) {
        value |= Of(operand);
      }
    }
    if (IsGlobal(space)) {
      Access(read_, address);
      Access(written_, address);
    }
    Keep(space, address, value);
    const Origins old = LoadedFrom(space, address, bits);
    ForEachDest(instruction, [&](Origins& to) { Add(to, old); });
  }

  // cp.async [shared], [global].
  void CopyAsync(const Instruction& instruction) {
    const auto operands = body().Operands(instruction);
    Access(read_, OfAddress(operands[1]));
    Add(shared_, kLoaded | kNarrow);
  }

  // --- The rest ---

  // Whether the instruction may put an address together out of narrow values.
  bool Assembles(const Instruction& instruction) {
    const auto operands = body().Operands(instruction);
    switch (instruction.op()) {
      case Op::kMov:
        return operands.size() == 2 &&
               operands[1].kind == OperandKind::kVector;
      case Op::kShl:
        return operands[2].kind != OperandKind::kImmediate ||
               operands[2].value > kLargestShift;
      case Op::kMul:
      case Op::kMad:
        for (size_t i = 1; i < 3; ++i) {
          if (operands[i].kind != OperandKind::kImmediate) continue;
          const int64_t factor = operands[i].value;
          const uint64_t size = factor < 0 ? 0 - static_cast<uint64_t>(factor)
                                           : static_cast<uint64_t>(factor);
          if (size > kLargestFactor) return true;
        }
        return false;
      case Op::kBfi:
      case Op::kPrmt:
      case Op::kShf:
        return true;
      default:
        return false;
    }
  }

  void Compute(const Instruction& instruction) {
    Origins value = 0;
    for (const Operand& operand : body().Operands(instruction)) {
      if (!operand.is_dest) value |= Of(operand);
    }
    if (value == 0) return;
    const bool assembles = (value & kNarrow) != 0 && Assembles(instruction);
    for (const Operand& operand : body().Operands(instruction)) {
      ForEachLeaf(operand, [&](const Operand& leaf) {
        const bool dest = operand.is_dest || leaf.is_dest;
        if (!dest || leaf.kind != OperandKind::kRegister) return;
        const Type type = body().RegisterType(leaf.index);
        if (ClassOf(type) == TypeClass::kPred) return;
        const bool address = assembles && TypeBits(type) >= 64;
        Add(frame().registers[leaf.index], address ? value | kLoaded : value);
      });
    }
  }

  // Instructions without a case of their own: whatever they take an address of
  // in global memory, they read and write.
  void Other(const Instruction& instruction) {
    bool loads = false;
    for (const Operand& operand : body().Operands(instruction)) {
      if (operand.kind != OperandKind::kAddress) continue;
      loads = true;
      const Origins address = OfAddress(operand);
      if (!IsGlobal(instruction.mods().space) &&
          !IsGlobal(instruction.mods().space2)) {
        continue;
      }
      const Origins known = kLocal | kShared;
      if ((address & known) != 0 && (address & ~(known | kNarrow)) == 0) {
        continue;
      }
      const bool only_reads = instruction.op() == Op::kWmmaLoad;
      const bool only_writes = instruction.op() == Op::kWmmaStore ||
                               instruction.op() == Op::kDiscard;
      if (!only_writes) Access(read_, address);
      if (!only_reads) Access(written_, address);
    }
    Compute(instruction);
    if (!loads) return;
    Add(shared_, kLoaded | kNarrow);
    ForEachDest(instruction, [&](Origins& to) { Add(to, kLoaded | kNarrow); });
  }

  // --- Calls ---

  Origins* Place(const Operand& element) {
    if (element.kind == OperandKind::kRegister) {
      return &frame().registers[element.index];
    }
    if (element.kind == OperandKind::kSymbol &&
        element.symbol_kind == SymbolKind::kBodyVariable) {
      return &frame().variables[element.index];
    }
    return nullptr;
  }

  Origins OfArgument(const Operand& element) {
    const Origins* const place = Place(element);
    return place != nullptr ? *place : Of(element);
  }

  void Call(const Instruction& instruction) {
    const auto operands = body().Operands(instruction);
    if (operands[1].kind != OperandKind::kSymbol) return GiveUp();
    const uint32_t callee = ResolveAlias(module_, operands[1].index);
    const Function& function = module_.functions[callee];
    const auto results = body().Children(operands[0]);
    const auto arguments = body().Children(operands[2]);
    if (!function.defined) {
      return CallRuntime(function.name, results, arguments);
    }
    Enter(callee);
    if (!known_) return;
    Frame& target = frames_.at(callee);
    for (size_t i = 0; i < arguments.size() && i < target.params.size(); ++i) {
      Add(target.params[i], OfArgument(arguments[i]));
    }
    for (size_t i = 0; i < results.size() && i < target.returns.size(); ++i) {
      Origins* const place = Place(results[i]);
      if (place == nullptr) return GiveUp();
      Add(*place, target.returns[i]);
    }
  }

  void CallRuntime(std::string_view name, std::span<const Operand> results,
                   std::span<const Operand> arguments) {
    if (!IsRuntimeFunction(name)) return GiveUp();
    // What strings printf's arguments point to is read.
    if (name == "vprintf" || name == "__assertfail") {
      Origins printed = local_;
      for (const Operand& argument : arguments) printed |= OfArgument(argument);
      Mark(read_, printed & ~kNarrow);
    }
    for (const Operand& result : results) {
      Origins* const place = Place(result);
      if (place == nullptr) return GiveUp();
      Add(*place, kDevice);
    }
  }

  const Module& module_;
  const uint32_t kernel_;
  std::vector<uint64_t> param_offsets_;
  std::map<uint32_t, size_t> slots_;  // offset in the block → slot
  std::map<uint32_t, Frame> frames_;  // by function; nodes stay where they are
  std::vector<uint32_t> entered_;
  uint32_t current_ = 0;
  Origins local_ = 0;   // what may lie in local memory
  Origins shared_ = 0;  // what may lie in shared memory
  Origins read_ = 0;    // origins of addresses that are read
  Origins written_ = 0;
  bool changed_ = false;
  bool is_final_ = false;
  bool known_ = true;
};

}  // namespace

AccessSummary SummariseAccess(const Module& module, uint32_t function) {
  return Analysis(module, function).Run();
}

}  // namespace hetgpu::ptx
