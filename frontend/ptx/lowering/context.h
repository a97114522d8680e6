// What a row of the lowering table sees: one function body, one current
// instruction, and the operations to read operands, build ops, write results.
//
// A failed read or a refusal is sticky: the first one is kept, later calls
// return dummy values, and the driver stops after the current instruction. Rows
// therefore need no error paths of their own.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_CONTEXT_H_
#define HETGPU_FRONTEND_PTX_LOWERING_CONTEXT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "frontend/ptx/ast.h"
#include "frontend/ptx/lowering/cfg.h"
#include "frontend/ptx/lowering/program.h"
#include "frontend/ptx/lowering/ssa_builder.h"
#include "frontend/ptx/lowering/table.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace hetgpu::ptx {

using mlir::Value;
using Values = llvm::SmallVector<mlir::Value, 4>;

// Where an instruction accesses memory: base + offset in a space.
struct Address {
  hetir::Space space = hetir::Space::generic;
  Value base;
  int64_t offset = 0;
};

// A scalar parameter kept as an SSA variable: bits [offset * 8, …) of it.
struct Cell {
  uint32_t variable = kNone;
  int64_t offset = 0;  // bytes
};

class Lowering {
 public:
  // `function` is an index into the module's functions, with a body.
  Lowering(const Program& program, uint32_t function,
           mlir::Operation* container);

  // Lowers the body into the container's region.
  absl::Status Run();

  // --- The current instruction ---
  const Module& module() const { return program_.module(); }
  const Function& function() const { return function_; }
  const Body& body() const { return body_; }
  const Program& program() const { return program_; }
  const Instruction& inst() const { return *inst_; }
  const Modifiers& mods() const { return inst_->mods(); }
  bool Has(Flag flag) const { return mods().Has(flag); }
  size_t num_operands() const { return inst_->num_operands; }
  const Operand& operand(size_t i) const {
    return body_.operands[inst_->first_operand + i];
  }
  const Operand& child(const Operand& parent, size_t i) const {
    return body_.operands[parent.first_child + i];
  }
  // The elements of a {list}; else the operand alone.
  std::vector<Operand> Elements(const Operand& operand) const;

  // --- Errors ---
  // "file:line:col: unsupported instruction 'opcode': why" (kUnimplemented).
  void Refuse(std::string_view why = {});
  // "file:line:col: text" with any code.
  void Fail(absl::StatusCode code, std::string_view text);
  bool failed() const { return !status_.ok(); }

  // --- Types ---
  // Of values of a PTX type: i1, iN, f16, bf16, f32, f64; packed types are iN.
  mlir::Type TypeOf(Type type);
  // Of registers of a PTX type: as TypeOf, but i16 for half floats.
  mlir::Type StorageOf(Type type);
  mlir::Type Int(unsigned bits) { return builder_.getIntegerType(bits); }
  mlir::Type I1() { return Int(1); }
  mlir::Type I32() { return Int(32); }
  mlir::Type I64() { return Int(64); }

  // --- Operands ---
  // The operand as a value of `type`: low bits of a wider register.
  Value Read(const Operand& operand, Type type);
  Value Read(size_t i, Type type) { return Read(operand(i), type); }
  // A predicate, negation applied.
  Value ReadPredicate(const Operand& operand);
  // An integer constant operand; refuses others.
  int64_t ReadConstant(const Operand& operand);
  // Stores a value of `type`; wider registers get it sign- or zero-extended.
  // Writes to `_` vanish. Under a guard the old value stays when it is false.
  void Write(const Operand& operand, Value value, Type type);
  void Write(Value value, Type type) { Write(operand(0), value, type); }
  // @p or @!p of the instruction.
  Value ReadGuard();
  // The carry flag CC.CF.
  Value ReadCarry();
  void WriteCarry(Value value);

  // --- Variables (registers, carry flag, parameter cells) ---
  Value ReadVariable(uint32_t variable);
  void WriteVariable(uint32_t variable, Value value);

  // --- Memory ---
  Address ReadAddress(const Operand& operand, hetir::Space space);
  // Whether a param-space address names a scalar cell.
  bool FindCell(const Operand& operand, Cell* cell);
  Value ReadCell(const Cell& cell, mlir::Type type);
  void WriteCell(const Cell& cell, Value value);
  // The address of a symbol in its own space, as an integer of `bits`.
  Value SymbolAddress(const Operand& operand, unsigned bits);
  hetir::Space SpaceOfSymbol(const Operand& operand);
  hetir::Space SpaceOf(StateSpace space);
  // Storage in the entry block.
  Value LocalAlloc(std::string_view name, uint64_t size, uint64_t align);
  Values Load(mlir::Type type, size_t count, const Address& address);
  void Store(mlir::ValueRange values, const Address& address);

  // --- Building ---
  mlir::OpBuilder& builder() { return builder_; }
  mlir::Location loc() const { return loc_; }
  template <typename Op, typename... Args>
  Op Create(Args&&... args) {
    return builder_.create<Op>(loc_, std::forward<Args>(args)...);
  }
  Value Constant(mlir::Type type, uint64_t bits);
  Value ConstantInt(unsigned width, uint64_t bits) {
    return Constant(Int(width), bits);
  }
  Value Zero(mlir::Type type) { return Constant(type, 0); }
  // Reinterprets; undoes an earlier bitcast instead of adding one.
  Value Bitcast(Value value, mlir::Type type);
  // Truncates or extends an integer.
  Value Resize(Value value, unsigned bits, bool is_signed);
  Value Not(Value predicate);
  Value Select(Value condition, Value yes, Value no);
  // Part `index` of `value` cut into pieces of `type`'s size.
  Value Extract(Value value, unsigned index, mlir::Type type);
  // Puts pieces together, lowest first, to an integer.
  Value Concat(mlir::ValueRange pieces);
  // Applies `fn` to the inputs, half by half when `type` is packed.
  Value Map(Type type, const Values& inputs,
            const std::function<Value(const Values&)>& fn);
  // Reads operands 1 … count as `type`, maps, writes operand 0.
  void MapOperands(Type type, size_t count,
                   const std::function<Value(const Values&)>& fn);
  // Builds a new block behind the present one.
  mlir::Block* NewBlock();
  void MoveTo(mlir::Block* block) { builder_.setInsertionPointToEnd(block); }
  mlir::Block* BlockOfLabel(uint32_t label) {
    return blocks_[cfg_.BlockOfLabel(label)];
  }
  // The block that follows in the text.
  mlir::Block* NextBlock() { return blocks_[block_ + 1]; }
  // Ends the function: hetir.exit in kernels, func.return in functions.
  void Return();

 private:
  static uint32_t SymbolKey(SymbolKind kind, uint32_t index) {
    return static_cast<uint32_t>(kind) << 28 | index;
  }
  void DeclareVariables();
  void DeclareCells();
  void FindDefinitions();
  void LowerPrologue();
  void BindParameters();
  void LowerBlock(uint32_t block);
  void LowerInstruction(const Instruction& inst);
  void LowerPredicated(const LoweringRow& row);
  Value ReadRaw(const Operand& operand);
  Value ReadImmediate(const Operand& operand, Type type);
  Value ReadSpecial(const Operand& operand, Type type);
  const Variable& SymbolOf(const Operand& operand) const;
  VariableId IdOf(const Operand& operand) const;
  Value MemoryOf(const Operand& operand);
  mlir::Location LocationOf(SourceLocation place) const;

  const Program& program_;
  const uint32_t index_;
  const Function& function_;
  const Body& body_;
  mlir::Operation* container_;
  mlir::OpBuilder builder_;
  mlir::Location loc_;
  mlir::StringAttr file_;
  ControlFlowGraph cfg_;
  std::vector<mlir::Block*> blocks_;
  // Registers, by their index in the body; the carry flag; cells.
  std::vector<SsaBuilder::Variable> variables_;
  // By SymbolKey: the variable of a scalar parameter kept as a value, and the
  // address of a parameter or local variable in memory.
  llvm::DenseMap<uint32_t, uint32_t> cells_;
  llvm::DenseMap<uint32_t, Value> memory_;
  uint32_t carry_ = 0;
  std::unique_ptr<SsaBuilder> ssa_;
  llvm::DenseMap<std::pair<mlir::Type, uint64_t>, Value> constants_;
  mlir::Operation* last_constant_ = nullptr;
  absl::Status status_;

  const Instruction* inst_ = nullptr;
  uint32_t block_ = 0;
  // Guard of a pure instruction being lowered without a branch.
  Value select_guard_;
  // Inside a branch around an instruction: what it wrote.
  bool collecting_ = false;
  std::vector<std::pair<uint32_t, Value>> collected_;
};

// --- Shared by several category files ---

// f16x2 -> f16, u16x2 -> u16, …; other types are their own element.
Type ElementOf(Type type);
// Floats of any size, half floats included; not packed ones.
bool IsFloatValue(Type type);
hetir::Rounding RoundingOf(const Modifiers& modifiers);
hetir::Scope ScopeOf(Scope scope, hetir::Scope otherwise);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_CONTEXT_H_
