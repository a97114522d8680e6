// Calls and branches.
#include "frontend/ptx/body_parser.h"

namespace hetgpu::ptx {
namespace {

constexpr size_t kMaxArguments = 65535;

}  // namespace

// `(results), callee, (arguments), prototype`: results, arguments and prototype
// may be missing; the lists are always made.
bool BodyParser::CallOperands() {
  Operand results, arguments, callee;
  results.kind = arguments.kind = OperandKind::kList;
  cursor_.SkipSpace();
  if (cursor_.Peek() == '(') {
    if (!CallList(true, &results) || !context_.Expect(',')) return false;
  }
  if (!Callee(&callee)) return false;
  top_ = {results, callee, arguments};
  if (!cursor_.Accept(',')) return true;
  cursor_.SkipSpace();
  if (cursor_.Peek() == '(') {
    if (!CallList(false, &top_[2])) return false;
    if (!cursor_.Accept(',')) return true;
  }
  return CallTail();
}

bool BodyParser::CallList(bool results, Operand* list) {
  cursor_.Advance();
  list->kind = OperandKind::kList;
  if (cursor_.Accept(')')) return true;
  size_t mark = scratch_.size();
  do {
    cursor_.SkipSpace();
    SourceLocation at = cursor_.Here();
    Operand element;
    if (!LeafOperand(&element)) return false;
    bool writable = element.kind != OperandKind::kImmediate &&
                    element.kind != OperandKind::kSpecial;
    if (element.kind == OperandKind::kVector || (results && !writable)) {
      return context_.Fail(at, "a call cannot pass this operand");
    }
    if (scratch_.size() - mark == kMaxArguments) {
      return context_.FailHere("a call has too many operands");
    }
    element.is_dest = results;
    scratch_.push_back(element);
  } while (cursor_.Accept(','));
  AddChildren(mark, list);
  return context_.Expect(')');
}

bool BodyParser::Callee(Operand* callee) {
  cursor_.SkipSpace();
  SourceLocation at = cursor_.Here();
  std::string_view name = cursor_.Name();
  if (name.empty()) return context_.FailExpected("a function");
  uint32_t reg = kNone;
  const NameEntry* entry = FindName(name, &reg);
  if (entry == nullptr) {
    return context_.Fail(at, Cat("undeclared function '", name, "'"));
  }
  if (entry->kind == NameKind::kFunction) {
    const Function& function = context_.module->functions[entry->index];
    if (function.is_entry) {
      return context_.Unsupported(at, Cat("a call of kernel '", name, "'"));
    }
    callee->kind = OperandKind::kSymbol;
    callee->symbol_kind = SymbolKind::kFunction;
    callee->index = entry->index;
    return true;
  }
  if (entry->kind == NameKind::kRegister && TypeBits(entry->type) == 64 &&
      entry->vector == 1) {
    callee->kind = OperandKind::kRegister;
    callee->index = reg;
    callee->type = entry->type;
    return true;
  }
  return context_.Fail(at, Cat("'", name,
                               "' is neither a function nor a "
                               "64-bit register"));
}

// The prototype or target table of an indirect call.
bool BodyParser::CallTail() {
  cursor_.SkipSpace();
  SourceLocation at = cursor_.Here();
  std::string_view name = cursor_.Name();
  const NameEntry* entry = context_.names.Find(name);
  Operand tail;
  if (entry != nullptr && entry->kind == NameKind::kPrototype) {
    tail.kind = OperandKind::kPrototype;
  } else if (entry != nullptr && entry->kind == NameKind::kTargetTable &&
             body_.target_tables[entry->index].calls) {
    tail.kind = OperandKind::kTargets;
  } else {
    return context_.Fail(at, Cat("'", name,
                                 "' is no call prototype or list "
                                 "of call targets"));
  }
  tail.index = entry->index;
  top_.push_back(tail);
  return true;
}

bool BodyParser::CheckCall(SourceLocation at) {
  const Operand& callee = top_[1];
  if (callee.kind == OperandKind::kSymbol) {
    const Function& function = context_.module->functions[callee.index];
    return CheckCount(at, "results", function.returns, top_[0],
                      function.name) &&
           CheckCount(at, "arguments", function.params, top_[2], function.name);
  }
  if (top_.size() < 4) {
    return context_.Fail(at, "an indirect call needs a .callprototype");
  }
  if (top_[3].kind == OperandKind::kTargets) return true;
  const Prototype& prototype = body_.prototypes[top_[3].index];
  return CheckCount(at, "results", prototype.returns, top_[0],
                    prototype.name) &&
         CheckCount(at, "arguments", prototype.params, top_[2], prototype.name);
}

bool BodyParser::CheckCount(SourceLocation at, std::string_view what,
                            const std::vector<Variable>& declared,
                            const Operand& written, std::string_view callee) {
  bool variadic = !declared.empty() && declared.back().unsized;
  size_t least = declared.size() - (variadic ? 1 : 0);
  if (written.num_children == declared.size() ||
      (variadic && written.num_children >= least)) {
    return true;
  }
  return context_.Fail(
      at, Cat("call of '", callee, "' has ", written.num_children, " ", what,
              ", expected ", declared.size()));
}

bool BodyParser::BranchTarget() {
  cursor_.SkipSpace();
  SourceLocation at = cursor_.Here();
  std::string_view name = cursor_.Name();
  if (name.empty()) return context_.FailExpected("a label");
  Operand target;
  target.kind = OperandKind::kLabel;
  target.index = MentionLabel(name, at);
  top_.push_back(target);
  texts_.push_back(name);
  return true;
}

// The second operand of brx.idx.
bool BodyParser::BranchTable() {
  cursor_.SkipSpace();
  SourceLocation at = cursor_.Here();
  std::string_view name = cursor_.Name();
  const NameEntry* entry = context_.names.Find(name);
  if (entry == nullptr || entry->kind != NameKind::kTargetTable ||
      body_.target_tables[entry->index].calls) {
    return context_.Fail(at, Cat("'", name, "' is no list of branch targets"));
  }
  Operand table;
  table.kind = OperandKind::kTargets;
  table.index = entry->index;
  top_.push_back(table);
  texts_.push_back(name);
  return true;
}

}  // namespace hetgpu::ptx
