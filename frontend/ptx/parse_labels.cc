// Labels and what is declared by one: branch tables and call prototypes.
//
// A label may be used before it is defined, and an inner block may define its
// own label of the same name. So a mention makes a pending label in the current
// block; when the block closes, labels that it did not define move to the
// enclosing block, which may know them already.
#include "frontend/ptx/body_parser.h"

namespace hetgpu::ptx {

uint32_t BodyParser::MentionLabel(std::string_view name, SourceLocation at) {
  size_t mark = scopes_.back().labels;
  if (uint32_t* known = label_names_.FindSince(mark, name)) return *known;
  uint32_t id = static_cast<uint32_t>(pending_labels_.size());
  pending_labels_.push_back({name, at, false, 0, kNone});
  label_names_.Declare(name, id);
  return id;
}

bool BodyParser::DefineLabel(std::string_view name, SourceLocation at) {
  PendingLabel& label = pending_labels_[MentionLabel(name, at)];
  if (label.defined) {
    return context_.Fail(at, Cat("label '", name, "' is defined twice"));
  }
  label.defined = true;
  label.instruction = static_cast<uint32_t>(body_.instructions.size());
  return true;
}

void BodyParser::CloseLabels(const Scope& inner, size_t outer_mark) {
  std::vector<uint32_t> undefined;
  label_names_.ForEachSince(inner.labels, [&](std::string_view, uint32_t id) {
    if (!pending_labels_[id].defined) undefined.push_back(id);
  });
  label_names_.PopTo(inner.labels);
  for (uint32_t id : undefined) {
    PendingLabel& label = pending_labels_[id];
    if (uint32_t* outer = label_names_.FindSince(outer_mark, label.name)) {
      label.forward = *outer;
    } else {
      label_names_.Declare(label.name, id);
    }
  }
}

// Numbers the defined labels and writes them to whatever mentions them. The
// outermost block has not been closed by CloseLabels, so its undefined labels
// are undefined for good.
bool BodyParser::FinishLabels() {
  std::vector<uint32_t> final_index(pending_labels_.size(), kNone);
  for (size_t i = 0; i < pending_labels_.size(); ++i) {
    const PendingLabel& label = pending_labels_[i];
    if (!label.defined) continue;
    final_index[i] = static_cast<uint32_t>(body_.labels.size());
    body_.labels.push_back({label.name, label.instruction});
  }
  // A label forwards to one of an outer block, which closes later: following
  // the chain ends after at most max_block_depth steps.
  auto resolve = [&](uint32_t* id) {
    uint32_t at = *id;
    while (pending_labels_[at].forward != kNone) {
      at = pending_labels_[at].forward;
    }
    *id = final_index[at];
    if (*id != kNone) return true;
    const PendingLabel& label = pending_labels_[at];
    return context_.Fail(label.first_use,
                         Cat("undeclared label '", label.name, "'"));
  };
  for (uint32_t operand : label_operands_) {
    if (!resolve(&body_.operands[operand].index)) return false;
  }
  for (TargetTable& table : body_.target_tables) {
    if (table.calls) continue;
    for (uint32_t& target : table.targets) {
      if (!resolve(&target)) return false;
    }
  }
  return true;
}

// Behind `name:`. Tables and prototypes are names of their own, not places.
bool BodyParser::LabelDirective(std::string_view name, SourceLocation at) {
  std::string_view word = cursor_.PeekDirective();
  bool branches = word == "branchtargets";
  bool calls = word == "calltargets";
  bool prototype = word == "callprototype";
  if (!branches && !calls && !prototype) return DefineLabel(name, at);
  cursor_.Directive();
  NameEntry entry;
  entry.kind = prototype ? NameKind::kPrototype : NameKind::kTargetTable;
  entry.index = static_cast<uint32_t>(prototype ? body_.prototypes.size()
                                                : body_.target_tables.size());
  if (!Declare(name, entry, at)) return false;
  return prototype ? PrototypeDirective(name)
                   : TargetTableDirective(name, calls);
}

bool BodyParser::TargetTableDirective(std::string_view name, bool calls) {
  TargetTable table;
  table.name = name;
  table.calls = calls;
  do {
    cursor_.SkipSpace();
    SourceLocation at = cursor_.Here();
    std::string_view target = cursor_.Name();
    if (target.empty()) return context_.FailExpected("a target");
    if (!calls) {
      table.targets.push_back(MentionLabel(target, at));
      continue;
    }
    const NameEntry* entry = context_.names.Find(target);
    if (entry == nullptr || entry->kind != NameKind::kFunction) {
      return context_.Fail(at, Cat("undeclared function '", target, "'"));
    }
    table.targets.push_back(entry->index);
  } while (cursor_.Accept(','));
  body_.target_tables.push_back(std::move(table));
  return context_.Expect(';');
}

// `.callprototype (returns) _ (params) {.noreturn};`
bool BodyParser::PrototypeDirective(std::string_view name) {
  Prototype prototype;
  prototype.name = name;
  cursor_.SkipSpace();
  if (cursor_.Peek() == '(' &&
      !ParseParameterList(&context_, &prototype.returns)) {
    return false;
  }
  if (cursor_.Name().empty()) return context_.FailExpected("'_'");
  cursor_.SkipSpace();
  if (cursor_.Peek() == '(' &&
      !ParseParameterList(&context_, &prototype.params)) {
    return false;
  }
  while (cursor_.Peek() == '.' || cursor_.PeekDirective() != "") {
    SourceLocation at = cursor_.Here();
    std::string_view word = cursor_.Directive();
    if (word == "noreturn") {
      prototype.noreturn = true;
    } else if (word == "abi_preserve" || word == "abi_preserve_control") {
      uint64_t ignored = 0;
      if (!context_.Unsigned(65536, "a register count", &ignored)) return false;
    } else {
      return context_.Unsupported(
          at, Cat("unknown directive '.", word, "' of a prototype"));
    }
  }
  body_.prototypes.push_back(std::move(prototype));
  return context_.Expect(';');
}

}  // namespace hetgpu::ptx
