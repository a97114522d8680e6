#include "tools/hetgpu-run/plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/host_bytes.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

absl::StatusOr<ElementType> ParseType(const JsonRef& json) {
  ASSIGN_OR_RETURN(const std::string name, json.String());
  const auto type = ParseElementType(name);
  // The command line knows more spellings than the format.
  if (!type.ok() || NameOf(*type) != name) {
    return json.Error(Cat("unknown element type \"", name, "\""));
  }
  return *type;
}

class PlanParser {
 public:
  explicit PlanParser(std::string_view folder) : folder_(folder) {}
  absl::StatusOr<Job> Parse(const JsonRef& root);

 private:
  absl::StatusOr<std::string> Path(const JsonRef& json) const;
  absl::StatusOr<Init> ParseInit(const JsonRef& json) const;
  absl::StatusOr<Init> ParseInitKey(std::string_view key,
                                    const JsonRef& json) const;
  absl::StatusOr<std::vector<BufferDef>> ParseBuffers(const JsonRef& json,
                                                      bool symbols) const;
  absl::StatusOr<BufferDef> ParseBuffer(const JsonRef& json, bool symbol) const;
  absl::StatusOr<std::vector<Output>> ParseOutputs(const JsonRef& json) const;
  absl::StatusOr<Output> ParseOutput(const JsonRef& json) const;
  absl::StatusOr<Check> ParseCheck(const JsonRef& json) const;

  std::string_view folder_;
};

constexpr std::string_view kInitKeys[] = {"fill", "values", "iota",
                                          "rand", "file",   "addresses"};

absl::StatusOr<Init> ParseRand(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"seed", "min", "max"}));
  RandInit rand;
  if (json.Has("seed")) {
    ASSIGN_OR_RETURN(rand.range.seed, json.At("seed").Unsigned());
  }
  if (json.Has("min")) {
    ASSIGN_OR_RETURN(rand.range.min, json.At("min").Number());
  }
  if (json.Has("max")) {
    ASSIGN_OR_RETURN(rand.range.max, json.At("max").Number());
  }
  return rand;
}

absl::StatusOr<Init> ParseIota(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"start", "step"}));
  IotaInit iota;
  if (json.Has("start")) {
    ASSIGN_OR_RETURN(iota.start, json.At("start").Number());
  }
  if (json.Has("step")) {
    ASSIGN_OR_RETURN(iota.step, json.At("step").Number());
  }
  return iota;
}

absl::StatusOr<Init> ParseValues(const JsonRef& json) {
  ValuesInit values;
  ASSIGN_OR_RETURN(const auto items, json.Items());
  values.values.reserve(items.size());
  for (const JsonRef& item : items) {
    ASSIGN_OR_RETURN(auto value, ParsePlanValue(item, false));
    values.values.push_back(std::move(value));
  }
  return values;
}

absl::StatusOr<Init> ParseAddresses(const JsonRef& json) {
  AddressesInit list;
  ASSIGN_OR_RETURN(const auto items, json.Items());
  for (const JsonRef& item : items) {
    ASSIGN_OR_RETURN(auto address, ParsePlanAddress(item));
    list.addresses.push_back(std::move(address));
  }
  return list;
}

absl::StatusOr<Picture> ParsePicture(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"width", "height", "min", "max", "ramp"}));
  Picture picture;
  constexpr uint64_t kMaxSide = 1 << 20;
  ASSIGN_OR_RETURN(const JsonRef width, json.Require("width"));
  ASSIGN_OR_RETURN(picture.width, width.Unsigned(kMaxSide));
  ASSIGN_OR_RETURN(const JsonRef height, json.Require("height"));
  ASSIGN_OR_RETURN(picture.height, height.Unsigned(kMaxSide));
  if (picture.width == 0 || picture.height == 0) {
    return json.Error("width and height must be at least 1");
  }
  if (json.Has("min")) {
    ASSIGN_OR_RETURN(picture.min, json.At("min").Double());
  }
  if (json.Has("max")) {
    ASSIGN_OR_RETURN(picture.max, json.At("max").Double());
  }
  if (json.Has("ramp")) {
    ASSIGN_OR_RETURN(picture.ramp, json.At("ramp").String());
    if (picture.ramp.empty()) return json.Error("ramp is empty");
  }
  return picture;
}

absl::StatusOr<std::string> PlanParser::Path(const JsonRef& json) const {
  ASSIGN_OR_RETURN(const std::string path, json.String());
  if (path.empty()) return json.Error("empty path");
  if (path.find('\0') != path.npos) return json.Error("NUL in path");
  return ResolvePath(folder_, path);
}

absl::StatusOr<Init> PlanParser::ParseInitKey(std::string_view key,
                                              const JsonRef& json) const {
  if (key == "values") return ParseValues(json);
  if (key == "iota") return ParseIota(json);
  if (key == "rand") return ParseRand(json);
  if (key == "addresses") return ParseAddresses(json);
  if (key == "file") {
    ASSIGN_OR_RETURN(std::string path, Path(json));
    return FileInit{std::move(path)};
  }
  ASSIGN_OR_RETURN(Literal value, ParsePlanValue(json, false));
  return FillInit{std::move(value)};
}

// Exactly one of the initialiser keys; the caller has checked the others.
absl::StatusOr<Init> PlanParser::ParseInit(const JsonRef& json) const {
  std::string_view found;
  for (const std::string_view key : kInitKeys) {
    if (!json.Has(key)) continue;
    if (!found.empty()) {
      return json.Error(Cat("both \"", found, "\" and \"", key, "\""));
    }
    found = key;
  }
  if (found.empty()) {
    return json.Error(Cat("expected one of ", Join(kInitKeys, ", ")));
  }
  return ParseInitKey(found, json.At(found));
}

absl::StatusOr<BufferDef> PlanParser::ParseBuffer(const JsonRef& json,
                                                  bool symbol) const {
  if (symbol) {
    RETURN_IF_ERROR(json.OnlyKeys({"type", "count", "init"}));
    RETURN_IF_ERROR(json.Require("init").status());
  } else {
    RETURN_IF_ERROR(json.OnlyKeys({"type", "count", "init", "readonly"}));
  }
  BufferDef def;
  ASSIGN_OR_RETURN(const JsonRef type, json.Require("type"));
  ASSIGN_OR_RETURN(def.type, ParseType(type));
  ASSIGN_OR_RETURN(const JsonRef count, json.Require("count"));
  ASSIGN_OR_RETURN(def.count, count.Unsigned());
  if (json.Has("init")) {
    const JsonRef init = json.At("init");
    RETURN_IF_ERROR(
        init.OnlyKeys({"fill", "values", "iota", "rand", "file", "addresses"}));
    ASSIGN_OR_RETURN(def.init, ParseInit(init));
  }
  if (json.Has("readonly")) {
    ASSIGN_OR_RETURN(def.readonly, json.At("readonly").Bool());
  }
  return def;
}

absl::StatusOr<std::vector<BufferDef>> PlanParser::ParseBuffers(
    const JsonRef& json, bool symbols) const {
  std::vector<BufferDef> buffers;
  ASSIGN_OR_RETURN(const auto members, json.Members());
  for (const auto& [name, value] : members) {
    ASSIGN_OR_RETURN(BufferDef def, ParseBuffer(value, symbols));
    def.name = name;
    buffers.push_back(std::move(def));
  }
  return buffers;
}

absl::StatusOr<Check> PlanParser::ParseCheck(const JsonRef& json) const {
  RETURN_IF_ERROR(json.OnlyKeys(
      {"fill", "values", "iota", "rand", "file", "atol", "rtol", "bits"}));
  Check check;
  ASSIGN_OR_RETURN(check.reference, ParseInit(json));
  if (json.Has("atol")) {
    ASSIGN_OR_RETURN(check.tolerance.atol, json.At("atol").Double());
  }
  if (json.Has("rtol")) {
    ASSIGN_OR_RETURN(check.tolerance.rtol, json.At("rtol").Double());
  }
  if (json.Has("bits")) {
    ASSIGN_OR_RETURN(check.tolerance.bits, json.At("bits").Bool());
  }
  if (check.tolerance.atol < 0 || check.tolerance.rtol < 0) {
    return json.Error("a tolerance is negative");
  }
  return check;
}

absl::Status ParseOutputSource(const JsonRef& json, Output* output) {
  if (json.Has("buffer") == json.Has("symbol")) {
    return json.Error("expected either \"buffer\" or \"symbol\"");
  }
  if (json.Has("buffer")) {
    ASSIGN_OR_RETURN(output->buffer, json.At("buffer").String());
    if (json.Has("type") || json.Has("count")) {
      return json.Error("type and count belong to a symbol");
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(output->symbol, json.At("symbol").String());
  ASSIGN_OR_RETURN(const JsonRef type, json.Require("type"));
  ASSIGN_OR_RETURN(output->type, ParseType(type));
  ASSIGN_OR_RETURN(const JsonRef count, json.Require("count"));
  ASSIGN_OR_RETURN(output->count, count.Unsigned());
  return absl::OkStatus();
}

absl::StatusOr<Output> PlanParser::ParseOutput(const JsonRef& json) const {
  RETURN_IF_ERROR(json.OnlyKeys({"buffer", "symbol", "type", "count", "file",
                                 "shape", "print", "picture", "check"}));
  Output output;
  RETURN_IF_ERROR(ParseOutputSource(json, &output));
  if (json.Has("file")) {
    ASSIGN_OR_RETURN(output.file, Path(json.At("file")));
  }
  if (json.Has("shape")) {
    ASSIGN_OR_RETURN(const auto items, json.At("shape").Items());
    for (const JsonRef& item : items) {
      ASSIGN_OR_RETURN(const uint64_t side, item.Unsigned());
      output.shape.push_back(side);
    }
  }
  if (json.Has("print")) {
    ASSIGN_OR_RETURN(output.print, json.At("print").Unsigned());
  }
  if (json.Has("picture")) {
    ASSIGN_OR_RETURN(output.picture, ParsePicture(json.At("picture")));
  }
  if (json.Has("check")) {
    ASSIGN_OR_RETURN(output.check, ParseCheck(json.At("check")));
  }
  return output;
}

absl::StatusOr<std::vector<Output>> PlanParser::ParseOutputs(
    const JsonRef& json) const {
  std::vector<Output> outputs;
  ASSIGN_OR_RETURN(const auto members, json.Members());
  for (const auto& [name, value] : members) {
    ASSIGN_OR_RETURN(Output output, ParseOutput(value));
    output.name = name;
    outputs.push_back(std::move(output));
  }
  return outputs;
}

absl::StatusOr<Job> PlanParser::Parse(const JsonRef& root) {
  RETURN_IF_ERROR(root.OnlyKeys(
      {"module", "description", "buffers", "symbols", "steps", "outputs"}));
  Job job;
  ASSIGN_OR_RETURN(const JsonRef module, root.Require("module"));
  ASSIGN_OR_RETURN(job.module, Path(module));
  if (root.Has("description")) {
    ASSIGN_OR_RETURN(job.description, root.At("description").String());
  }
  if (root.Has("buffers")) {
    ASSIGN_OR_RETURN(job.buffers, ParseBuffers(root.At("buffers"), false));
  }
  if (root.Has("symbols")) {
    ASSIGN_OR_RETURN(job.symbols, ParseBuffers(root.At("symbols"), true));
  }
  ASSIGN_OR_RETURN(const JsonRef steps, root.Require("steps"));
  ASSIGN_OR_RETURN(job.steps, ParsePlanSteps(steps));
  if (root.Has("outputs")) {
    ASSIGN_OR_RETURN(job.outputs, ParseOutputs(root.At("outputs")));
  }
  return job;
}

absl::StatusOr<Literal> ParseSpecial(const JsonRef& json) {
  ASSIGN_OR_RETURN(const std::string text, json.String());
  if (text.starts_with("0x") || text == "nan" || text == "inf" ||
      text == "-inf") {
    const auto literal = ParseLiteral(text);
    // A hexadecimal float is a word of the command line, not of the format.
    if (literal.ok() && (literal->kind == Literal::Kind::kBits ||
                         text.find('x') == text.npos)) {
      return *literal;
    }
  }
  return json.Error(Cat("\"", text,
                        "\" is no value, expected \"0x…\", \"nan\", \"inf\" "
                        "or \"-inf\""));
}

}  // namespace

absl::StatusOr<Literal> ParsePlanValue(const JsonRef& json, bool variables) {
  if (json.IsNumber()) return json.Number();
  if (json.IsString()) return ParseSpecial(json);
  if (!json.IsObject() || !variables) {
    return json.Error("expected a number or a string");
  }
  RETURN_IF_ERROR(json.OnlyKeys({"var"}));
  ASSIGN_OR_RETURN(const JsonRef name, json.Require("var"));
  Literal literal;
  literal.kind = Literal::Kind::kVariable;
  ASSIGN_OR_RETURN(literal.name, name.String());
  return literal;
}

absl::StatusOr<Address> ParsePlanAddress(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"buffer", "symbol", "null", "offset"}));
  Address address;
  if (json.Has("buffer") + json.Has("symbol") + json.Has("null") != 1) {
    return json.Error("expected one of \"buffer\", \"symbol\" and \"null\"");
  }
  if (json.Has("null")) {
    ASSIGN_OR_RETURN(const bool yes, json.At("null").Bool());
    if (!yes || json.Has("offset")) {
      return json.Error("expected {\"null\": true}");
    }
    return address;
  }
  const bool buffer = json.Has("buffer");
  address.base = buffer ? Address::Base::kBuffer : Address::Base::kSymbol;
  ASSIGN_OR_RETURN(address.name,
                   json.At(buffer ? "buffer" : "symbol").String());
  if (json.Has("offset")) {
    ASSIGN_OR_RETURN(address.offset, json.At("offset").Unsigned());
  }
  return address;
}

absl::StatusOr<Job> ParsePlan(std::string_view text, std::string_view folder) {
  ASSIGN_OR_RETURN(const JsonDocument document, JsonDocument::Parse(text));
  return PlanParser(folder).Parse(document.root());
}

absl::StatusOr<Job> ReadPlan(const std::string& path) {
  ASSIGN_OR_RETURN(const HostBytes text, ReadFile(path, kMaxJsonBytes));
  auto job = ParsePlan(text.view(), FolderOf(path));
  if (!job.ok()) return Annotate(job.status(), path);
  return job;
}

}  // namespace hetgpu::tools
