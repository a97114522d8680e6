// `.entry` and `.func`: header, performance directives, body.
#include <utility>

#include "frontend/ptx/parse_context.h"

namespace hetgpu::ptx {
namespace {

bool ParseDims(ParseContext* context, std::array<uint32_t, 3>* dims) {
  *dims = {1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    if (i > 0 && !context->cursor.Accept(',')) break;
    uint64_t value = 0;
    if (!context->Unsigned(0xffffffff, "a thread count", &value)) return false;
    (*dims)[i] = static_cast<uint32_t>(value);
  }
  return true;
}

bool ParseCount(ParseContext* context, uint32_t* count) {
  uint64_t value = 0;
  if (!context->Unsigned(0xffffffff, "a count", &value)) return false;
  *count = static_cast<uint32_t>(value);
  return true;
}

bool ParsePragma(ParseContext* context, PerformanceDirectives* directives) {
  do {
    std::string_view text;
    if (!context->cursor.QuotedString(&text)) {
      return context->FailExpected("a string");
    }
    directives->pragmas.push_back(text);
  } while (context->cursor.Accept(','));
  return context->Expect(';');
}

bool ParseDirective(ParseContext* context, PerformanceDirectives* directives) {
  SourceLocation at = context->cursor.Here();
  std::string_view word = context->cursor.Directive();
  if (word == "maxntid") return ParseDims(context, &directives->maxntid);
  if (word == "reqntid") return ParseDims(context, &directives->reqntid);
  if (word == "reqnctapercluster") {
    return ParseDims(context, &directives->reqnctapercluster);
  }
  if (word == "minnctapersm") {
    return ParseCount(context, &directives->minnctapersm);
  }
  if (word == "maxnctapersm") {
    return ParseCount(context, &directives->maxnctapersm);
  }
  if (word == "maxnreg") return ParseCount(context, &directives->maxnreg);
  if (word == "maxclusterrank") {
    return ParseCount(context, &directives->maxclusterrank);
  }
  if (word == "explicitcluster") {
    directives->explicit_cluster = true;
    return true;
  }
  if (word == "noreturn") {
    directives->noreturn = true;
    return true;
  }
  if (word == "abi_preserve" || word == "abi_preserve_control") {
    uint32_t ignored = 0;  // register allocation of the callee
    return ParseCount(context, &ignored);
  }
  if (word == "pragma") return ParsePragma(context, directives);
  return context->Unsupported(
      at, Cat("unknown directive '.", word, "' of a function"));
}

bool ParseHeader(ParseContext* context, Function* function) {
  Cursor& cursor = context->cursor;
  // `.func .attribute(.unified(…)) (ret) name`
  while (cursor.PeekDirective() == "attribute") {
    cursor.Directive();
    return context->Unsupported(cursor.Here(),
                                "attributes of functions are not supported");
  }
  cursor.SkipSpace();
  if (!function->is_entry && cursor.Peek() == '(' &&
      !ParseParameterList(context, &function->returns)) {
    return false;
  }
  cursor.SkipSpace();
  function->location = cursor.Here();
  function->name = cursor.Name();
  if (function->name.empty()) return context->FailExpected("a function name");
  cursor.SkipSpace();
  if (cursor.Peek() == '(' && !ParseParameterList(context, &function->params)) {
    return false;
  }
  while (!cursor.PeekDirective().empty()) {
    if (ParseDirective(context, &function->directives)) continue;
    if (!absl::IsUnimplemented(context->error)) return false;
    // It refuses this function alone, with whatever follows it.
    function->refusal = std::exchange(context->error, absl::OkStatus());
    cursor.SkipToBody();
  }
  return true;
}

// Binds the header to an earlier declaration of the name, or to a new entry.
bool Bind(ParseContext* context, Function header, uint32_t* index) {
  std::vector<Function>& functions = context->module->functions;
  const NameEntry* known = context->names.Find(header.name);
  if (known == nullptr) {
    *index = static_cast<uint32_t>(functions.size());
    NameEntry entry;
    entry.kind = NameKind::kFunction;
    entry.index = *index;
    context->names.Declare(header.name, entry);
    functions.push_back(std::move(header));
    return true;
  }
  if (known->kind != NameKind::kFunction ||
      functions[known->index].is_entry != header.is_entry) {
    return context->Fail(
        header.location,
        Cat("'", header.name, "' is declared as something else before"));
  }
  *index = known->index;
  Function& earlier = functions[known->index];
  if (earlier.params.size() != header.params.size() ||
      earlier.returns.size() != header.returns.size()) {
    return context->Fail(header.location, Cat("'", header.name,
                                              "' is declared with other "
                                              "parameters before"));
  }
  if (header.linkage == Linkage::kExtern && earlier.defined) return true;
  bool defined = earlier.defined;
  absl::Status refusal =
      earlier.refusal.ok() ? header.refusal : earlier.refusal;
  std::unique_ptr<Body> body = std::move(earlier.body);
  if (!defined) earlier = std::move(header);
  earlier.defined = defined;
  earlier.refusal = refusal;
  earlier.body = std::move(body);
  return true;
}

// At '{'. A body that is not understood refuses this function alone.
bool DefineFunction(ParseContext* context, uint32_t index) {
  Function& function = context->module->functions[index];
  if (function.defined) {
    return context->FailHere(Cat("'", function.name, "' is defined twice"));
  }
  function.defined = true;
  Cursor start = context->cursor;
  if (function.refusal.ok()) {
    size_t names = context->names.Mark();
    auto body = std::make_unique<Body>();
    if (ParseBody(context, &function, body.get())) {
      body->operands.shrink_to_fit();
      function.body = std::move(body);
      return true;
    }
    function.refusal = std::exchange(context->error, absl::OkStatus());
    context->names.PopTo(names);
    context->cursor = start;
  }
  if (context->cursor.SkipBraces()) return true;
  return context->Fail(start.Here(),
                       Cat("the body of '", function.name, "' does not end"));
}

}  // namespace

bool ParseFunction(ParseContext* context, bool is_entry, Linkage linkage) {
  Function header;
  header.is_entry = is_entry;
  header.linkage = linkage;
  if (!ParseHeader(context, &header)) return false;
  uint32_t index = 0;
  if (!Bind(context, std::move(header), &index)) return false;
  context->cursor.SkipSpace();
  if (context->cursor.Peek() == '{') return DefineFunction(context, index);
  if (context->cursor.Accept(';')) return true;
  return context->FailExpected("';' or a body");
}

}  // namespace hetgpu::ptx
