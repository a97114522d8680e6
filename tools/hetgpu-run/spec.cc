#include "tools/hetgpu-run/spec.h"

#include <utility>
#include <vector>

#include "tools/common/exit_code.h"
#include "tools/common/host_bytes.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

constexpr uint64_t kMaxParameterFile = 1 << 20;

absl::Status Bad(std::string_view text, std::string_view expected) {
  return absl::InvalidArgumentError(Cat("'", text, "': expected ", expected));
}

bool IsName(std::string_view text) {
  if (text.empty() || IsDigit(text[0])) return false;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && !IsDigit(c) && c != '_' && c != '$' && c != '.') {
      return false;
    }
  }
  return true;
}

// Splits at commas outside of brackets; "" gives nothing.
std::vector<std::string_view> SplitList(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(StripSpace(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (!StripSpace(text).empty()) {
    parts.push_back(StripSpace(text.substr(start)));
  }
  return parts;
}

// "name(inside)" or "name[inside]"; nothing when `text` is not of that form.
struct Call {
  std::string_view name, inside;
};
std::optional<Call> ParseCall(std::string_view text, char open, char close) {
  const size_t at = text.find(open);
  if (at == std::string_view::npos || text.back() != close) {
    return std::nullopt;
  }
  return Call{text.substr(0, at), text.substr(at + 1, text.size() - at - 2)};
}

absl::StatusOr<uint64_t> ParseSeed(std::string_view text) {
  auto literal = ParseLiteral(text);
  if (!literal.ok()) return literal.status();
  return EncodeLiteral(*literal, ElementType::kU64);
}

absl::StatusOr<Init> ParseRand(std::string_view inside) {
  RandInit rand;
  for (const std::string_view part : SplitList(inside)) {
    auto option = ParseAssignment(part);
    if (!option.ok()) return option.status();
    if (option->name == "seed") {
      auto seed = ParseSeed(option->value);
      if (!seed.ok()) return seed.status();
      rand.range.seed = *seed;
      continue;
    }
    auto value = ParseLiteral(option->value);
    if (!value.ok()) return value.status();
    if (option->name == "min")
      rand.range.min = *value;
    else if (option->name == "max")
      rand.range.max = *value;
    else
      return Bad(part, "seed=, min= or max=");
  }
  return rand;
}

absl::StatusOr<Init> ParseIota(std::string_view inside) {
  IotaInit iota;
  for (const std::string_view part : SplitList(inside)) {
    auto option = ParseAssignment(part);
    if (!option.ok()) return option.status();
    auto value = ParseLiteral(option->value);
    if (!value.ok()) return value.status();
    if (option->name == "start")
      iota.start = *value;
    else if (option->name == "step")
      iota.step = *value;
    else
      return Bad(part, "start= or step=");
  }
  return iota;
}

absl::StatusOr<Init> ParseFill(std::string_view inside) {
  auto value = ParseLiteral(StripSpace(inside));
  if (!value.ok()) return value.status();
  return FillInit{*value};
}

absl::StatusOr<Init> ParseValues(std::string_view inside) {
  ValuesInit values;
  for (const std::string_view part : SplitList(inside)) {
    auto value = ParseLiteral(part);
    if (!value.ok()) return value.status();
    values.values.push_back(*value);
  }
  return values;
}

absl::StatusOr<Init> ParseAddresses(std::string_view inside) {
  AddressesInit list;
  for (const std::string_view part : SplitList(inside)) {
    auto address = ParseAddress(part);
    if (!address.ok()) return address.status();
    list.addresses.push_back(*std::move(address));
  }
  return list;
}

struct Generator {
  std::string_view name;
  char open, close;
  absl::StatusOr<Init> (*parse)(std::string_view inside);
};
constexpr Generator kGenerators[] = {
    {"rand", '(', ')', ParseRand},      {"iota", '(', ')', ParseIota},
    {"fill", '(', ')', ParseFill},      {"values", '(', ')', ParseValues},
    {"addr", '[', ']', ParseAddresses},
};

// The number of elements that an initialiser fixes by itself.
std::optional<uint64_t> CountOf(const Init& init) {
  if (const auto* values = std::get_if<ValuesInit>(&init)) {
    return values->values.size();
  }
  if (const auto* list = std::get_if<AddressesInit>(&init)) {
    return list->addresses.size();
  }
  return std::nullopt;
}

// "f32[1000]", "f32[]" or "f32".
absl::Status ParseShape(std::string_view text, BufferDef* def) {
  std::string_view name = text;
  if (const auto call = ParseCall(text, '[', ']')) {
    name = call->name;
    if (!call->inside.empty()) {
      auto count = ParseCount(call->inside);
      if (!count.ok()) return count.status();
      def->count = *count;
    }
  }
  auto type = ParseElementType(name);
  if (!type.ok()) return Annotate(type.status(), Cat("'", text, "'"));
  def->type = *type;
  return absl::OkStatus();
}

bool IsTypeName(std::string_view shape) {
  return ParseElementType(shape.substr(0, shape.find('['))).ok();
}

// A buffer without its direction; `source` gets what follows "=".
absl::Status ParseBufferBody(std::string_view text, BufferDef* def,
                             std::optional<std::string_view>* source) {
  if (text.starts_with("addr[")) {
    def->type = ElementType::kPtr;
    *source = text;
    return absl::OkStatus();
  }
  const size_t equals = text.find('=');
  const std::string_view shape = text.substr(0, equals);
  if (text.ends_with(".npy") && !IsTypeName(shape)) {
    def->init = FileInit{std::string(text)};
    return absl::OkStatus();
  }
  if (equals != std::string_view::npos) *source = text.substr(equals + 1);
  return ParseShape(shape, def);
}

// Gives an input buffer its content and checks that its size is known.
absl::Status FinishInput(std::string_view text,
                         std::optional<std::string_view> source,
                         BufferDef* def) {
  if (source) {
    auto init = ParseSource(*source);
    if (!init.ok()) return init.status();
    def->init = *std::move(init);
  }
  if (!def->count) def->count = CountOf(def->init);
  if (!def->count && !std::holds_alternative<FileInit>(def->init)) {
    return Bad(text, "a count, as in f32[1000]");
  }
  return absl::OkStatus();
}

std::optional<Direction> ConsumeDirection(std::string_view* text) {
  if (ConsumePrefix(text, "in:")) return Direction::kIn;
  if (ConsumePrefix(text, "out:")) return Direction::kOut;
  if (ConsumePrefix(text, "inout:")) return Direction::kInOut;
  return std::nullopt;
}

absl::StatusOr<std::string> ReadParameterFile(std::string_view path) {
  auto bytes = ReadFile(std::string(path), kMaxParameterFile);
  if (!bytes.ok()) return bytes.status();
  return std::string(bytes->view());
}

absl::StatusOr<Argument> ParseValue(std::string_view text);

absl::StatusOr<Argument> ParseStruct(std::string_view inside) {
  Argument::Struct result;
  for (const std::string_view part : SplitList(inside)) {
    auto member = ParseValue(part);
    if (!member.ok()) return member.status();
    result.members.push_back(*std::move(member));
  }
  return Argument{std::move(result)};
}

absl::StatusOr<Argument> ParseScalar(std::string_view text) {
  const size_t colon = text.find(':');
  const auto type = ParseElementType(text.substr(0, colon));
  if (colon == std::string_view::npos || !type.ok()) {
    return Bad(text,
               "TYPE:VALUE, in:, out:, inout:, ptr:, sym:, hex:, file:, "
               "struct(…) or null");
  }
  auto value = ParseLiteral(text.substr(colon + 1));
  if (!value.ok()) return Annotate(value.status(), Cat("'", text, "'"));
  // Ranges are checked here, where the text is at hand.
  const auto bits = EncodeLiteral(*value, *type);
  if (!bits.ok()) return Annotate(bits.status(), Cat("'", text, "'"));
  return Argument{Argument::Scalar{*type, *value}};
}

absl::StatusOr<Argument> ParseValue(std::string_view text) {
  std::string_view rest = text;
  if (text == "null") return Argument{Address{}};
  if (text.starts_with("sym:") || ConsumePrefix(&rest, "ptr:")) {
    auto address = ParseAddress(rest);
    if (!address.ok()) return address.status();
    return Argument{*std::move(address)};
  }
  if (ConsumePrefix(&rest, "hex:")) {
    auto bytes = ParseHexBytes(rest);
    if (!bytes.ok()) return bytes.status();
    return Argument{Argument::Bytes{*std::move(bytes)}};
  }
  if (ConsumePrefix(&rest, "file:")) {
    auto bytes = ReadParameterFile(rest);
    if (!bytes.ok()) return bytes.status();
    return Argument{Argument::Bytes{*std::move(bytes)}};
  }
  const auto call = ParseCall(text, '(', ')');
  if (call && call->name == "struct") return ParseStruct(call->inside);
  return ParseScalar(text);
}

}  // namespace

std::string_view SpecHelp() {
  return R"(SPEC, the value of one kernel argument:
  TYPE:VALUE            a scalar: u32:7  i8:-1  f32:1.5  f64:0x1.8p-3  f16:nan
                        0x… without point or exponent is the element's bits
  [NAME=]in:BUFFER      a buffer that is filled before the run
  [NAME=]out:BUFFER     a zeroed buffer; its "=FILE" is written after the run
  [NAME=]inout:BUFFER   a filled buffer that is an output too
  ptr:NAME[+BYTES]      address of a named buffer
  sym:NAME[+BYTES]      address of a module global
  null                  address 0
  hex:DIGITS            the bytes of a struct, in memory order
  file:PATH             the same from a file
  struct(SPEC,…)        a C struct of values, with C alignment
BUFFER:
  FILE.npy              type and size from the file
  TYPE=FILE             raw bytes; TYPE[COUNT]=FILE checks the size
  TYPE[COUNT]           zeros; COUNT may end in K, M or G (powers of 1024)
  TYPE[COUNT]=GEN       generated: rand(seed=1,min=0,max=1)  iota(start=0,step=1)
                        fill(VALUE)  values(V,V,…)  zero
  ptr[N]=addr[A,B,…]    addresses: null, NAME, NAME+BYTES, sym:NAME+BYTES;
                        "ptr[N]=" may be left out
TYPE:
  i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64 ptr (also s8…s64, b8…b64)
Buffers without a name are called arg0, arg1, … by position of the argument.
)";
}

absl::StatusOr<Init> ParseSource(std::string_view text) {
  if (text == "zero") return ZeroInit{};
  if (text == "rand") return RandInit{};
  if (text == "iota") return IotaInit{};
  for (const Generator& generator : kGenerators) {
    const auto call = ParseCall(text, generator.open, generator.close);
    if (call && call->name == generator.name) {
      auto init = generator.parse(call->inside);
      if (!init.ok()) {
        return Annotate(init.status(), Cat("'", text, "'"));
      }
      return init;
    }
  }
  if (text.empty()) return Bad(text, "a generator or a file name after '='");
  return FileInit{std::string(text)};
}

absl::StatusOr<BufferSpec> ParseBufferSpec(std::string_view text) {
  BufferSpec spec;
  std::string_view rest = text;
  spec.direction = ConsumeDirection(&rest).value_or(Direction::kInOut);
  std::optional<std::string_view> source;
  if (auto s = ParseBufferBody(rest, &spec.def, &source); !s.ok()) return s;
  if (spec.direction != Direction::kOut) {
    if (auto s = FinishInput(text, source, &spec.def); !s.ok()) return s;
    return spec;
  }
  if (!spec.def.type || !spec.def.count) {
    return Bad(text, "a type and a count, as in out:f32[1000]=y.npy");
  }
  if (source && source->empty()) return Bad(text, "a file name after '='");
  spec.output = std::string(source.value_or(""));
  return spec;
}

absl::StatusOr<BufferDef> ParseSymbolSpec(std::string_view text) {
  if (const auto value = ParseValue(text); value.ok()) {
    BufferDef def;
    if (const auto* scalar = std::get_if<Argument::Scalar>(&value->form)) {
      def.type = scalar->type;
      def.count = 1;
      def.init = FillInit{scalar->value};
    } else if (const auto* raw = std::get_if<Argument::Bytes>(&value->form)) {
      def.type = ElementType::kU8;
      def.count = raw->bytes.size();
      def.init = BytesInit{raw->bytes};
    } else if (const auto* address = std::get_if<Address>(&value->form)) {
      def.type = ElementType::kPtr;
      def.count = 1;
      def.init = AddressesInit{{*address}};
    } else {
      return Bad(text, "a buffer, a scalar, hex: or file:");
    }
    return def;
  }
  auto spec = ParseBufferSpec(text);
  if (!spec.ok()) return spec.status();
  if (spec->direction == Direction::kOut) {
    return Bad(text, "initial content, not an out: buffer");
  }
  return std::move(spec->def);
}

absl::StatusOr<ArgumentSpec> ParseArgumentSpec(std::string_view text) {
  ArgumentSpec spec;
  std::string_view rest = text;
  const size_t equals = text.find('=');
  const bool named =
      equals != std::string_view::npos && IsName(text.substr(0, equals));
  if (named) rest.remove_prefix(equals + 1);
  std::string_view body = rest;
  if (ConsumeDirection(&body) || body.starts_with("addr[")) {
    auto buffer = ParseBufferSpec(rest);
    if (!buffer.ok()) return buffer.status();
    if (named) spec.name = std::string(text.substr(0, equals));
    spec.buffer = *std::move(buffer);
    return spec;
  }
  if (named) return Bad(text, "in:, out: or inout: after the name");
  auto value = ParseValue(text);
  if (!value.ok()) return value.status();
  spec.value = *std::move(value);
  return spec;
}

absl::StatusOr<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text == "null") return address;
  std::string_view rest = text;
  address.base = ConsumePrefix(&rest, "sym:") ? Address::Base::kSymbol
                                              : Address::Base::kBuffer;
  const size_t plus = rest.find('+');
  const std::string_view name = rest.substr(0, plus);
  if (!IsName(name)) return Bad(text, "NAME or NAME+BYTES");
  address.name = std::string(name);
  if (plus != std::string_view::npos) {
    auto offset = ParseCount(rest.substr(plus + 1));
    if (!offset.ok()) return Annotate(offset.status(), Cat("'", text, "'"));
    address.offset = *offset;
  }
  return address;
}

absl::StatusOr<Extent> ParseExtent(std::string_view text) {
  uint32_t values[3] = {1, 1, 1};
  const auto parts = SplitList(text);
  if (parts.empty() || parts.size() > 3) {
    return Bad(text, "one to three numbers, as in 64,2,1");
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto value = ParseCount(parts[i]);
    if (!value.ok()) return Bad(text, "one to three numbers, as in 64,2,1");
    if (*value > ~uint32_t{0}) {
      return absl::AbortedError(
          Cat("'", text, "': no device takes a size of 2^32 or more"));
    }
    values[i] = static_cast<uint32_t>(*value);
  }
  return Extent{values[0], values[1], values[2]};
}

absl::StatusOr<Assignment> ParseAssignment(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || !IsName(text.substr(0, equals))) {
    return Bad(text, "NAME=…");
  }
  return Assignment{std::string(text.substr(0, equals)),
                    std::string(text.substr(equals + 1))};
}

absl::StatusOr<std::string> ParseHexBytes(std::string_view text) {
  std::string bytes;
  uint8_t high = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    uint8_t digit = 0;
    if (IsDigit(c))
      digit = static_cast<uint8_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<uint8_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<uint8_t>(c - 'A' + 10);
    else
      return Bad(text, "hexadecimal digits");
    if (i % 2 == 0)
      high = digit;
    else
      bytes.push_back(static_cast<char>(high << 4 | digit));
  }
  if (text.size() % 2 != 0) return Bad(text, "an even number of digits");
  return bytes;
}

}  // namespace hetgpu::tools
