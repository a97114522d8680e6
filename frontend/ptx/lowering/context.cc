#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/verbatim.h"

#include <string>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

mlir::StringAttr FileOf(const Program& program) {
  return mlir::StringAttr::get(program.context(),
                               program.module().file_name);
}

}  // namespace

Lowering::Lowering(const Program& program, uint32_t function,
                   mlir::Operation* container)
    : program_(program),
      index_(function),
      function_(program.module().functions[function]),
      body_(*function_.body),
      container_(container),
      builder_(program.context()),
      loc_(mlir::UnknownLoc::get(program.context())),
      file_(FileOf(program)),
      cfg_(program.module(), body_) {}

absl::Status Lowering::Run() {
  loc_ = LocationOf(function_.location);
  mlir::Region& region = container_->getRegion(0);
  // A func.func gets its entry block, with arguments, from its builder.
  if (region.empty()) region.emplaceBlock();
  blocks_.assign(cfg_.blocks().size(), nullptr);
  blocks_[ControlFlowGraph::kPrologue] = &region.front();
  for (uint32_t i = 1; i < blocks_.size(); ++i) {
    if (cfg_.Reachable(i)) blocks_[i] = &region.emplaceBlock();
  }
  DeclareVariables();
  ssa_ = std::make_unique<SsaBuilder>(
      cfg_, blocks_, variables_,
      [this](mlir::Type type) { return Zero(type); });
  LowerPrologue();
  for (uint32_t block : cfg_.order()) {
    if (block == ControlFlowGraph::kPrologue) continue;
    LowerBlock(block);
    if (failed()) return status_;
  }
  ssa_->Finish();
  return status_;
}

void Lowering::DeclareVariables() {
  variables_.resize(body_.num_registers);
  for (const RegisterGroup& group : body_.register_groups) {
    mlir::Type type = StorageOf(group.type);
    for (uint32_t r = group.first; r < group.first + group.count; ++r) {
      variables_[r].type = type;
    }
  }
  carry_ = static_cast<uint32_t>(variables_.size());
  variables_.push_back({I1(), {}});
  DeclareCells();
  FindDefinitions();
}

// Every place that may write a variable: a superset does no harm.
void Lowering::FindDefinitions() {
  auto define = [this](uint32_t variable, uint32_t block) {
    auto& blocks = variables_[variable].definitions;
    if (blocks.empty() || blocks.back() != block) blocks.push_back(block);
  };
  for (const auto& [key, variable] : cells_) {
    define(variable, ControlFlowGraph::kPrologue);
  }
  for (const Variable& param : function_.params) {
    if (param.reg != kNone) define(param.reg, ControlFlowGraph::kPrologue);
  }
  auto scan = [&](const Operand& operand, uint32_t block) {
    Cell cell;
    if (operand.kind == OperandKind::kRegister) {
      if (operand.is_dest) define(operand.index, block);
    } else if (FindCell(operand, &cell)) {
      define(cell.variable, block);
    }
  };
  for (uint32_t block : cfg_.order()) {
    const BasicBlock& range = cfg_.blocks()[block];
    for (uint32_t i = range.begin; i < range.end; ++i) {
      const Instruction& inst = body_.instructions[i];
      if (inst.mods().Has(Flag::kCc)) define(carry_, block);
      for (const Operand& operand : body_.Operands(inst)) {
        scan(operand, block);
        for (const Operand& part : body_.Children(operand)) scan(part, block);
      }
    }
  }
}

void Lowering::LowerPrologue() {
  block_ = ControlFlowGraph::kPrologue;
  mlir::Block* prologue = blocks_[block_];
  MoveTo(prologue);
  Create<mlir::cf::BranchOp>(blocks_[1]);
  builder_.setInsertionPoint(prologue->getTerminator());
  BindParameters();
  ssa_->EndBlock(block_, prologue);
}

void Lowering::BindParameters() {
  if (function_.is_entry) return;
  auto arguments = blocks_[ControlFlowGraph::kPrologue]->getArguments();
  size_t next = 0;
  auto take = [&] { return Value(arguments[next++]); };
  auto bind = [&](const Variable& param, SymbolKind kind, uint32_t index) {
    uint32_t key = SymbolKey(kind, index);
    auto cell = cells_.find(key);
    if (param.reg != kNone) {
      mlir::Type type = variables_[param.reg].type;
      ssa_->Write(param.reg, block_, Bitcast(take(), type));
    } else if (cell != cells_.end()) {
      ssa_->Write(cell->second, block_, take());
    } else if (PassedInMemory(param)) {
      memory_[key] = take();
    } else {
      Value storage = LocalAlloc(param.name, param.size, param.align);
      memory_[key] = storage;
      Store(take(), {hetir::Space::local, storage, 0});
    }
  };
  for (uint32_t i = 0; i < function_.returns.size(); ++i) {
    if (PassedInMemory(function_.returns[i])) {
      bind(function_.returns[i], SymbolKind::kReturnParam, i);
    }
  }
  for (uint32_t i = 0; i < function_.params.size(); ++i) {
    bind(function_.params[i], SymbolKind::kParam, i);
  }
}

void Lowering::LowerBlock(uint32_t block) {
  block_ = block;
  MoveTo(blocks_[block]);
  const BasicBlock& range = cfg_.blocks()[block];
  for (uint32_t i = range.begin; i < range.end; ++i) {
    LowerInstruction(body_.instructions[i]);
    if (failed()) return;
  }
  mlir::Block* last = builder_.getBlock();
  if (last->empty() || !last->back().hasTrait<mlir::OpTrait::IsTerminator>()) {
    if (block + 1 < blocks_.size()) {
      Create<mlir::cf::BranchOp>(NextBlock());
    } else {
      Return();
    }
  }
  ssa_->EndBlock(block, builder_.getBlock());
}

void Lowering::LowerInstruction(const Instruction& inst) {
  inst_ = &inst;
  loc_ = LocationOf(inst.location);
  const LoweringRow* row =
      program_.keeps_ptx() ? FindVerbatimRow(inst.op()) : nullptr;
  if (!row) row = FindRow(inst.op());
  if (!row) return Refuse();
  if (inst.guard == kNone || row->effect == Effect::kBranch) {
    row->lower(*this);
  } else {
    LowerPredicated(*row);
  }
}

Value Lowering::ReadGuard() {
  Value guard = ReadVariable(inst_->guard);
  return inst_->guard_negated ? Not(guard) : guard;
}

// A pure instruction runs and its result is selected; others run in a block of
// their own, and what they wrote joins the old values behind it.
void Lowering::LowerPredicated(const LoweringRow& row) {
  if (row.effect == Effect::kPure) {
    select_guard_ = ReadGuard();
    row.lower(*this);
    select_guard_ = {};
    return;
  }
  Value guard = ReadGuard();
  mlir::Block* fork = builder_.getBlock();
  mlir::Block* then = NewBlock();
  MoveTo(then);
  collecting_ = true;
  row.lower(*this);
  collecting_ = false;
  mlir::Block* then_end = builder_.getBlock();
  mlir::Block* join = NewBlock();
  Values old_values, new_values;
  bool returns = then_end->empty() ||
                 !then_end->back().hasTrait<mlir::OpTrait::IsTerminator>();
  auto collected = std::move(collected_);
  collected_.clear();
  if (returns) {
    for (auto& [variable, value] : collected) {
      old_values.push_back(ssa_->Read(variable, block_));
      new_values.push_back(value);
    }
    Create<mlir::cf::BranchOp>(join, new_values);
  }
  MoveTo(fork);
  Create<mlir::cf::CondBranchOp>(guard, then, mlir::ValueRange{}, join,
                                 old_values);
  MoveTo(join);
  if (!returns) return;
  for (auto& [variable, value] : collected) {
    Value merged = join->addArgument(value.getType(), loc_);
    ssa_->Write(variable, block_, merged);
  }
}

mlir::Block* Lowering::NewBlock() {
  mlir::Region* region = builder_.getBlock()->getParent();
  mlir::Block* block = new mlir::Block;
  region->getBlocks().insertAfter(builder_.getBlock()->getIterator(), block);
  return block;
}

void Lowering::Return() {
  if (function_.is_entry) {
    Create<hetir::ExitOp>();
    return;
  }
  Values results;
  for (uint32_t i = 0; i < function_.returns.size(); ++i) {
    const Variable& param = function_.returns[i];
    if (PassedInMemory(param)) continue;
    mlir::Type type = Int(static_cast<unsigned>(param.size * 8));
    uint32_t key = SymbolKey(SymbolKind::kReturnParam, i);
    auto cell = cells_.find(key);
    if (param.reg != kNone) {
      results.push_back(Bitcast(ReadVariable(param.reg), type));
    } else if (cell != cells_.end()) {
      results.push_back(ReadVariable(cell->second));
    } else {
      Address address{hetir::Space::local, memory_.lookup(key), 0};
      results.push_back(Load(type, 1, address).front());
    }
  }
  Create<mlir::func::ReturnOp>(results);
}

Value Lowering::ReadVariable(uint32_t variable) {
  for (size_t i = collected_.size(); i-- > 0;) {
    if (collected_[i].first == variable) return collected_[i].second;
  }
  return ssa_->Read(variable, block_);
}

void Lowering::WriteVariable(uint32_t variable, Value value) {
  if (collecting_) {
    for (auto& [known, old] : collected_) {
      if (known == variable) {
        old = value;
        return;
      }
    }
    collected_.emplace_back(variable, value);
    return;
  }
  if (select_guard_) {
    value = Select(select_guard_, value, ssa_->Read(variable, block_));
  }
  ssa_->Write(variable, block_, value);
}

void Lowering::Fail(absl::StatusCode code, std::string_view text) {
  if (failed()) return;
  SourceLocation place = inst_ ? inst_->location : function_.location;
  status_ = absl::Status(code, Cat(module().Place(place), ": ", text));
}

void Lowering::Refuse(std::string_view why) {
  Fail(absl::StatusCode::kUnimplemented,
       Cat("unsupported instruction '", inst_->opcode->text, "'",
           why.empty() ? "" : ": ", why));
}

mlir::Location Lowering::LocationOf(SourceLocation place) const {
  return mlir::FileLineColLoc::get(file_, place.line, place.column);
}

}  // namespace hetgpu::ptx
