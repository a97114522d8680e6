// The "steps" of a plan. A step is recognised by its first word, as in the
// table of docs/plan-format.md.
#include <limits>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"
#include "tools/hetgpu-run/plan.h"
#include "tools/hetgpu-run/spec.h"

namespace hetgpu::tools {
namespace {

constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();

absl::StatusOr<Extent> ParsePlanExtent(const JsonRef& json) {
  std::vector<JsonRef> items = {json};
  if (json.IsArray()) {
    ASSIGN_OR_RETURN(items, json.Items());
  }
  if (items.empty() || items.size() > 3) {
    return json.Error("expected a number or an array of 1 to 3 numbers");
  }
  uint32_t values[3] = {1, 1, 1};
  for (size_t i = 0; i < items.size(); ++i) {
    ASSIGN_OR_RETURN(const uint64_t value, items[i].Unsigned(kMax32));
    if (value == 0) return items[i].Error("must be at least 1");
    values[i] = static_cast<uint32_t>(value);
  }
  return Extent{values[0], values[1], values[2]};
}

absl::StatusOr<Argument> ParseArgument(const JsonRef& json);

absl::StatusOr<Argument> ParseStruct(const JsonRef& json) {
  Argument::Struct result;
  ASSIGN_OR_RETURN(const auto items, json.Items());
  if (items.empty()) return json.Error("a struct without members");
  for (const JsonRef& item : items) {
    ASSIGN_OR_RETURN(Argument member, ParseArgument(item));
    result.members.push_back(std::move(member));
  }
  return Argument{std::move(result)};
}

absl::StatusOr<Argument> ParseBytes(const JsonRef& json) {
  ASSIGN_OR_RETURN(const std::string digits, json.String());
  auto bytes = ParseHexBytes(digits);
  if (!bytes.ok()) return json.Error(ToStd(bytes.status().message()));
  return Argument{Argument::Bytes{*std::move(bytes)}};
}

absl::StatusOr<Argument> ParseScalar(std::string_view name,
                                     const JsonRef& json) {
  const auto type = ParseElementType(name);
  if (!type.ok() || NameOf(*type) != name || *type == ElementType::kPtr) {
    return json.Error(Cat("\"", name, "\" is no form of an argument"));
  }
  ASSIGN_OR_RETURN(Literal value, ParsePlanValue(json, true));
  if (value.kind != Literal::Kind::kVariable) {
    const auto bits = EncodeLiteral(value, *type);
    if (!bits.ok()) return json.Error(ToStd(bits.status().message()));
  }
  return Argument{Argument::Scalar{*type, std::move(value)}};
}

absl::StatusOr<Argument> ParseArgument(const JsonRef& json) {
  if (json.Has("buffer") || json.Has("symbol") || json.Has("null")) {
    ASSIGN_OR_RETURN(Address address, ParsePlanAddress(json));
    return Argument{std::move(address)};
  }
  ASSIGN_OR_RETURN(const auto members, json.Members());
  if (members.size() != 1) {
    return json.Error("expected one form of an argument");
  }
  const auto& [name, value] = members[0];
  if (name == "bytes") return ParseBytes(value);
  if (name == "struct") return ParseStruct(value);
  return ParseScalar(name, value);
}

absl::Status ParseWork(const JsonRef& json, std::string_view key,
                       double* work) {
  if (!json.Has(key)) return absl::OkStatus();
  ASSIGN_OR_RETURN(*work, json.At(key).Double());
  if (*work < 0) return json.At(key).Error("must not be negative");
  return absl::OkStatus();
}

absl::StatusOr<Step> ParseLaunch(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys(
      {"launch", "grid", "block", "shared", "cooperative", "args", "flops",
       "bytes"}));
  LaunchStep launch;
  ASSIGN_OR_RETURN(launch.kernel, json.At("launch").String());
  ASSIGN_OR_RETURN(const JsonRef grid, json.Require("grid"));
  ASSIGN_OR_RETURN(launch.grid, ParsePlanExtent(grid));
  ASSIGN_OR_RETURN(const JsonRef block, json.Require("block"));
  ASSIGN_OR_RETURN(launch.block, ParsePlanExtent(block));
  if (json.Has("shared")) {
    ASSIGN_OR_RETURN(const uint64_t shared, json.At("shared").Unsigned(kMax32));
    launch.shared = static_cast<uint32_t>(shared);
  }
  if (json.Has("cooperative")) {
    ASSIGN_OR_RETURN(launch.cooperative, json.At("cooperative").Bool());
  }
  if (json.Has("args")) {
    ASSIGN_OR_RETURN(const auto items, json.At("args").Items());
    for (const JsonRef& item : items) {
      ASSIGN_OR_RETURN(Argument argument, ParseArgument(item));
      launch.args.push_back(std::move(argument));
    }
  }
  RETURN_IF_ERROR(ParseWork(json, "flops", &launch.flops));
  RETURN_IF_ERROR(ParseWork(json, "bytes", &launch.bytes));
  return Step{json.path(), std::move(launch)};
}

absl::StatusOr<Until> ParseUntil(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"buffer", "index", "equals", "less_than"}));
  Until until;
  ASSIGN_OR_RETURN(const JsonRef buffer, json.Require("buffer"));
  ASSIGN_OR_RETURN(until.buffer, buffer.String());
  if (json.Has("index")) {
    ASSIGN_OR_RETURN(until.index, json.At("index").Unsigned());
  }
  if (json.Has("equals") == json.Has("less_than")) {
    return json.Error("expected either \"equals\" or \"less_than\"");
  }
  const bool equals = json.Has("equals");
  until.test = equals ? Until::Test::kEquals : Until::Test::kLessThan;
  ASSIGN_OR_RETURN(
      until.value,
      ParsePlanValue(json.At(equals ? "equals" : "less_than"), false));
  return until;
}

absl::StatusOr<Step> ParseRepeat(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"repeat", "var", "until", "steps"}));
  RepeatStep repeat;
  ASSIGN_OR_RETURN(repeat.times, json.At("repeat").Unsigned());
  if (json.Has("var")) {
    ASSIGN_OR_RETURN(repeat.variable, json.At("var").String());
  }
  if (json.Has("until")) {
    ASSIGN_OR_RETURN(repeat.until, ParseUntil(json.At("until")));
  }
  ASSIGN_OR_RETURN(const JsonRef steps, json.Require("steps"));
  ASSIGN_OR_RETURN(repeat.steps, ParsePlanSteps(steps));
  return Step{json.path(), std::move(repeat)};
}

absl::StatusOr<Step> ParseFor(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"for", "in", "steps"}));
  ForStep loop;
  ASSIGN_OR_RETURN(loop.variable, json.At("for").String());
  ASSIGN_OR_RETURN(const JsonRef in, json.Require("in"));
  ASSIGN_OR_RETURN(const auto items, in.Items());
  for (const JsonRef& item : items) {
    ASSIGN_OR_RETURN(Literal value, item.Number());
    loop.values.push_back(std::move(value));
  }
  ASSIGN_OR_RETURN(const JsonRef steps, json.Require("steps"));
  ASSIGN_OR_RETURN(loop.steps, ParsePlanSteps(steps));
  return Step{json.path(), std::move(loop)};
}

absl::StatusOr<Step> ParseSwap(const JsonRef& json) {
  RETURN_IF_ERROR(json.OnlyKeys({"swap"}));
  ASSIGN_OR_RETURN(const auto names, json.At("swap").Items());
  if (names.size() != 2) return json.Error("swap needs two names");
  SwapStep swap;
  ASSIGN_OR_RETURN(swap.a, names[0].String());
  ASSIGN_OR_RETURN(swap.b, names[1].String());
  return Step{json.path(), std::move(swap)};
}

absl::StatusOr<Step> ParseCopy(const JsonRef& outer) {
  RETURN_IF_ERROR(outer.OnlyKeys({"copy"}));
  const JsonRef json = outer.At("copy");
  RETURN_IF_ERROR(
      json.OnlyKeys({"from", "to", "from_offset", "to_offset", "size"}));
  CopyStep copy;
  ASSIGN_OR_RETURN(const JsonRef from, json.Require("from"));
  ASSIGN_OR_RETURN(copy.from, from.String());
  ASSIGN_OR_RETURN(const JsonRef to, json.Require("to"));
  ASSIGN_OR_RETURN(copy.to, to.String());
  if (json.Has("from_offset")) {
    ASSIGN_OR_RETURN(copy.from_offset, json.At("from_offset").Unsigned());
  }
  if (json.Has("to_offset")) {
    ASSIGN_OR_RETURN(copy.to_offset, json.At("to_offset").Unsigned());
  }
  if (json.Has("size")) {
    ASSIGN_OR_RETURN(copy.size, json.At("size").Unsigned());
  }
  return Step{outer.path(), std::move(copy)};
}

absl::StatusOr<Step> ParseFillStep(const JsonRef& outer) {
  RETURN_IF_ERROR(outer.OnlyKeys({"fill"}));
  const JsonRef json = outer.At("fill");
  RETURN_IF_ERROR(json.OnlyKeys({"buffer", "value"}));
  FillStep fill;
  ASSIGN_OR_RETURN(const JsonRef buffer, json.Require("buffer"));
  ASSIGN_OR_RETURN(fill.buffer, buffer.String());
  ASSIGN_OR_RETURN(const JsonRef value, json.Require("value"));
  ASSIGN_OR_RETURN(fill.value, ParsePlanValue(value, true));
  return Step{outer.path(), std::move(fill)};
}

struct StepKind {
  std::string_view key;
  absl::StatusOr<Step> (*parse)(const JsonRef& json);
};
constexpr StepKind kStepKinds[] = {
    {"launch", ParseLaunch}, {"repeat", ParseRepeat}, {"for", ParseFor},
    {"swap", ParseSwap},     {"copy", ParseCopy},     {"fill", ParseFillStep},
};

absl::StatusOr<Step> ParseStep(const JsonRef& json) {
  for (const StepKind& kind : kStepKinds) {
    if (json.Has(kind.key)) return kind.parse(json);
  }
  return json.Error("expected a step: launch, repeat, for, swap, copy or fill");
}

}  // namespace

absl::StatusOr<Steps> ParsePlanSteps(const JsonRef& json) {
  Steps steps;
  ASSIGN_OR_RETURN(const auto items, json.Items());
  for (const JsonRef& item : items) {
    ASSIGN_OR_RETURN(Step step, ParseStep(item));
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace hetgpu::tools
