// The module level: header, variables, functions.
#include <utility>

#include "frontend/ptx/parse_context.h"

namespace hetgpu::ptx {
namespace {

constexpr uint32_t kOldestVersion = 32;
constexpr uint32_t kNewestVersion = 99;

class ModuleParser {
 public:
  explicit ModuleParser(ParseContext* context)
      : context_(*context),
        cursor_(context->cursor),
        module_(*context->module) {}

  bool Parse() {
    if (!Version()) return false;
    while (true) {
      cursor_.SkipSpace();
      if (cursor_.AtEnd()) break;
      if (!TopLevel()) return false;
    }
    if (module_.target.empty()) {
      return context_.FailHere("the module has no .target");
    }
    NumberFunctions();
    return CheckAliases();
  }

 private:
  bool Version() {
    cursor_.SkipSpace();
    SourceLocation at = cursor_.Here();
    if (cursor_.Directive() != "version") {
      return context_.Fail(at, "expected .version at the start of a module");
    }
    cursor_.SkipSpace();
    at = cursor_.Here();
    uint32_t parts[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      if (i == 1 && cursor_.Peek() == '.') cursor_.Advance();
      int digits = 0;
      while (HasClass(cursor_.Peek(), kDigit) && digits++ < 2) {
        parts[i] = parts[i] * 10 + static_cast<uint32_t>(cursor_.Peek() - '0');
        cursor_.Advance();
      }
      if (digits == 0 || HasClass(cursor_.Peek(), kNameChar)) {
        return context_.Fail(at, "malformed .version, expected major.minor");
      }
    }
    module_.version = parts[0] * 10 + parts[1];
    if (parts[1] < 10 && module_.version >= kOldestVersion &&
        module_.version <= kNewestVersion) {
      return true;
    }
    return context_.Unsupported(at, Cat("PTX ISA ", parts[0], ".", parts[1],
                                        " is not supported, expected 3.2 to "
                                        "9.9"));
  }

  bool TopLevel() {
    SourceLocation at = cursor_.Here();
    if (cursor_.Peek() == ';') {
      cursor_.Advance();
      return true;
    }
    if (cursor_.Peek() == '@' && cursor_.PeekAt(1) == '@') {
      cursor_.SkipToLineEnd();  // @@DWARF, the debug data of old compilers
      return true;
    }
    if (cursor_.Peek() != '.') return context_.FailExpected("a directive");
    Linkage linkage = Linkage::kInternal;
    std::string_view word = cursor_.Directive();
    if (LinkageOf(word, &linkage)) {
      at = cursor_.Here();
      word = cursor_.Directive();
    }
    if (word != "target" && module_.target.empty()) {
      return context_.Fail(at, "expected .target behind .version");
    }
    if (word == "entry") return ParseFunction(&context_, true, linkage);
    if (word == "func") return ParseFunction(&context_, false, linkage);
    StateSpace space = SpaceOf(word);
    if (space != StateSpace::kGeneric && space != StateSpace::kParam) {
      return Variables(linkage, space);
    }
    if (linkage != Linkage::kInternal) {
      return context_.Fail(at,
                           "expected a variable or function behind its "
                           "linkage");
    }
    return OtherDirective(word, at);
  }

  static bool LinkageOf(std::string_view word, Linkage* linkage) {
    static constexpr std::pair<std::string_view, Linkage> kLinkages[] = {
        {"visible", Linkage::kVisible},
        {"extern", Linkage::kExtern},
        {"weak", Linkage::kWeak},
        {"common", Linkage::kCommon},
    };
    for (const auto& [name, value] : kLinkages) {
      if (name != word) continue;
      *linkage = value;
      return true;
    }
    return false;
  }

  bool OtherDirective(std::string_view word, SourceLocation at) {
    if (word == "target") return Target();
    if (word == "address_size") return AddressSize(at);
    if (word == "file") return File();
    if (word == "section") return Section();
    if (word == "alias") return Alias();
    if (word == "pragma") return Pragma();
    if (word == "loc") {
      // Outside of functions it marks nothing.
      cursor_.SkipToLineEnd();
      return true;
    }
    if (word == "version") {
      return context_.Fail(at, "a module has one .version");
    }
    return context_.Unsupported(at, Cat("unknown directive '.", word, "'"));
  }

  bool Target() {
    do {
      cursor_.SkipSpace();
      SourceLocation at = cursor_.Here();
      std::string_view word = cursor_.Name();
      if (word.empty()) return context_.FailExpected("a target");
      if (word.starts_with("sm_")) {
        if (!Architecture(word, at)) return false;
      } else if (!IsTargetOption(word)) {
        return context_.Unsupported(
            at, Cat("unsupported target option '", word, "'"));
      } else {
        module_.target_options.push_back(word);
      }
    } while (cursor_.Accept(','));
    if (module_.target.empty()) return context_.FailExpected("sm_XX");
    return true;
  }

  // map_f64_to_f32 is left out: it changes what every .f64 means.
  static bool IsTargetOption(std::string_view word) {
    return word == "debug" || word == "texmode_unified" ||
           word == "texmode_independent";
  }

  bool Architecture(std::string_view word, SourceLocation at) {
    uint32_t number = 0;
    size_t i = 3;
    while (i < word.size() && i < 7 && HasClass(word[i], kDigit)) {
      number = number * 10 + static_cast<uint32_t>(word[i++] - '0');
    }
    char suffix = i + 1 == word.size() ? word[i] : '\0';
    bool plain = i == word.size();
    if (i == 3 || (!plain && suffix != 'a' && suffix != 'f')) {
      return context_.Unsupported(at, Cat("unknown target '", word, "'"));
    }
    if (!module_.target.empty() && number != module_.sm) {
      return context_.Fail(at, Cat("a second target '", word, "' behind '",
                                   module_.target, "'"));
    }
    module_.target = word;
    module_.sm = number;
    module_.sm_suffix = plain ? '\0' : suffix;
    return true;
  }

  bool AddressSize(SourceLocation at) {
    uint64_t bits = 0;
    if (!context_.Unsigned(1024, "an address size", &bits)) return false;
    if (bits == 64) return true;
    return context_.Unsupported(
        at, Cat(".address_size ", bits, " is not supported, expected 64"));
  }

  // `.file number "name" {, timestamp, size}`
  bool File() {
    uint64_t number = 0;
    if (!context_.Unsigned(0xffffffff, "a file number", &number)) return false;
    SourceFile file;
    file.number = static_cast<uint32_t>(number);
    if (!cursor_.QuotedString(&file.name)) {
      return context_.FailExpected("a file name");
    }
    for (int i = 0; i < 2 && cursor_.Accept(','); ++i) {
      uint64_t ignored = 0;
      if (!context_.Unsigned(~0ull, "a number", &ignored)) return false;
    }
    cursor_.Accept(';');
    module_.files.push_back(file);
    return true;
  }

  // DWARF; the line table of .loc is what is used.
  bool Section() {
    SourceLocation at = cursor_.Here();
    if (cursor_.Directive().empty()) {
      return context_.FailExpected("a section name");
    }
    cursor_.SkipSpace();
    if (cursor_.Peek() != '{') return context_.FailExpected("'{'");
    return cursor_.SkipBraces() ||
           context_.Fail(at, "the section does not end");
  }

  bool Alias() {
    uint32_t indices[2] = {kNone, kNone};
    for (int i = 0; i < 2; ++i) {
      if (i == 1 && !context_.Expect(',')) return false;
      cursor_.SkipSpace();
      SourceLocation at = cursor_.Here();
      std::string_view name = cursor_.Name();
      const NameEntry* entry = context_.names.Find(name);
      if (entry == nullptr || entry->kind != NameKind::kFunction) {
        return context_.Fail(at, Cat("undeclared function '", name, "'"));
      }
      if (module_.functions[entry->index].is_entry) {
        return context_.Fail(
            at, Cat("kernel '", name, "' cannot be part of an alias"));
      }
      indices[i] = entry->index;
    }
    module_.functions[indices[0]].alias_of = indices[1];
    return context_.Expect(';');
  }

  void NumberFunctions() {
    uint32_t next = 1;
    for (Function& function : module_.functions) {
      if (!function.is_entry && function.defined) function.token = next++;
    }
  }

  // An alias has no body and stands for a function that has one, which may come
  // behind it.
  bool CheckAliases() {
    for (const Function& function : module_.functions) {
      if (function.alias_of == kNone) continue;
      const Function& target = module_.functions[function.alias_of];
      if (function.defined || !target.defined) {
        return context_.Fail(function.location, Cat("'", function.name,
                                                    "' cannot be an alias of "
                                                    "'",
                                                    target.name, "'"));
      }
    }
    return true;
  }

  bool Pragma() {
    do {
      std::string_view text;
      if (!cursor_.QuotedString(&text)) {
        return context_.FailExpected("a string");
      }
      module_.pragmas.push_back(text);
    } while (cursor_.Accept(','));
    return context_.Expect(';');
  }

  bool Variables(Linkage linkage, StateSpace space) {
    std::vector<Variable> variables;
    if (!ParseVariables(&context_, linkage, space, &variables)) return false;
    for (Variable& variable : variables) {
      if (!AddVariable(std::move(variable))) return false;
    }
    return true;
  }

  // A definition may follow its .extern declaration, and a declaration a
  // definition.
  bool AddVariable(Variable variable) {
    const NameEntry* known = context_.names.Find(variable.name);
    if (known == nullptr) {
      NameEntry entry;
      entry.kind = NameKind::kModuleVariable;
      entry.index = static_cast<uint32_t>(module_.variables.size());
      context_.names.Declare(variable.name, entry);
      module_.variables.push_back(std::move(variable));
      return true;
    }
    bool is_variable = known->kind == NameKind::kModuleVariable;
    Variable* earlier =
        is_variable ? &module_.variables[known->index] : nullptr;
    bool redeclares = is_variable && earlier->space == variable.space &&
                      (earlier->linkage == Linkage::kExtern ||
                       variable.linkage == Linkage::kExtern ||
                       (earlier->linkage == variable.linkage &&
                        (variable.linkage == Linkage::kWeak ||
                         variable.linkage == Linkage::kCommon)));
    if (!redeclares) {
      return context_.Fail(variable.location,
                           Cat("'", variable.name, "' is declared twice"));
    }
    if (variable.linkage != Linkage::kExtern) *earlier = std::move(variable);
    return true;
  }

  ParseContext& context_;
  Cursor& cursor_;
  Module& module_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> Parse(std::string_view text,
                                              std::string_view file_name,
                                              const ParseOptions& options) {
  auto module = std::make_unique<Module>();
  module->file_name = file_name;
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  constexpr uint64_t kMaxOffset = 0xfffffffe;  // labels and lines are 32 bits
  if (text.size() > options.max_text_bytes || text.size() > kMaxOffset) {
    return absl::ResourceExhaustedError(
        Cat(file_name, ":1:1: the text is larger than the limit"));
  }
  module->text = text;
  ParseContext context(module.get(), options);
  ModuleParser parser(&context);
  const bool parsed = parser.Parse();
  // Whatever else is wrong: all that follows the comment is missing.
  if (const auto& comment = context.cursor.open_comment()) {
    context.Fail(*comment, "the comment does not end");
    return context.error;
  }
  if (!parsed) return context.error;
  return module;
}

}  // namespace hetgpu::ptx
