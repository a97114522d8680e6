#include "tests/isa/run_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace hetgpu::isa {
namespace {

constexpr uint8_t kPoison = 0xCD;

struct TypeRow {
  absl::string_view name;
  ElementType type;
  size_t size;
};

constexpr std::array<TypeRow, 10> kTypes = {{
    {"b8", ElementType::kB8, 1},
    {"b16", ElementType::kB16, 2},
    {"b32", ElementType::kB32, 4},
    {"b64", ElementType::kB64, 8},
    {"f16", ElementType::kF16, 2},
    {"bf16", ElementType::kBf16, 2},
    {"f16x2", ElementType::kF16x2, 4},
    {"bf16x2", ElementType::kBf16x2, 4},
    {"f32", ElementType::kF32, 4},
    {"f64", ElementType::kF64, 8},
}};

template <typename T>
bool ParseNumber(absl::string_view text, int base, T* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(),
                                      *value, base);
  return error == std::errc() && end == text.data() + text.size();
}

// Walks the lines of a text and builds messages with their place.
class LineReader {
 public:
  LineReader(absl::string_view text, absl::string_view name)
      : rest_(text), name_(name) {}

  bool Next(absl::string_view* line) {
    if (rest_.empty()) return false;
    ++line_number_;
    size_t end = rest_.find('\n');
    *line = rest_.substr(0, end);
    rest_.remove_prefix(end == absl::string_view::npos ? rest_.size() : end + 1);
    return true;
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ":", line_number_, ": ", what));
  }

  // The lines up to "end", joined with line feeds.
  absl::StatusOr<std::string> Block() {
    std::string block;
    absl::string_view line;
    while (Next(&line)) {
      if (line == "end") return block;
      absl::StrAppend(&block, line, "\n");
    }
    return Error("the text ends before 'end'");
  }

  absl::StatusOr<Values> ValueBlock() {
    absl::StatusOr<std::string> block = Block();
    if (!block.ok()) return block.status();
    Values values;
    for (absl::string_view word :
         absl::StrSplit(*block, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
      std::pair<absl::string_view, absl::string_view> parts =
          absl::StrSplit(word, absl::MaxSplits('*', 1));
      uint64_t value = 0;
      size_t repeat = 1;
      if (!ParseNumber(parts.first, 16, &value) ||
          (!parts.second.empty() && !ParseNumber(parts.second, 10, &repeat)) ||
          repeat > (1u << 24)) {
        return Error(absl::StrCat("'", word, "' is no value"));
      }
      values.insert(values.end(), repeat, value);
    }
    return values;
  }

 private:
  absl::string_view rest_;
  absl::string_view name_;
  int line_number_ = 0;
};

using Words = std::vector<absl::string_view>;

std::optional<ElementType> ParseType(absl::string_view word) {
  for (const TypeRow& row : kTypes) {
    if (row.name == word) return row.type;
  }
  return std::nullopt;
}

bool ParseShape(const Words& words, uint32_t (&shape)[3]) {
  if (words.size() != 4) return false;
  for (int i = 0; i < 3; ++i) {
    if (!ParseNumber(words[i + 1], 10, &shape[i])) return false;
  }
  return true;
}

bool ParseCompare(const Words& words, size_t first, Compare* compare) {
  size_t count = words.size() - first;
  if (count == 1 && words[first] == "exact") return true;
  if (count == 1 && words[first] == "nan") {
    compare->kind = Compare::Kind::kNan;
    return true;
  }
  compare->kind = Compare::Kind::kUlp;
  if (count < 2 || words[first] != "ulp" ||
      !ParseNumber(words[first + 1], 10, &compare->ulp)) {
    return false;
  }
  if (count == 2) return true;
  int exponent = 0;
  if (count != 4 || words[first + 2] != "abs" ||
      words[first + 3].substr(0, 2) != "2^" ||
      !ParseNumber(words[first + 3].substr(2), 10, &exponent)) {
    return false;
  }
  compare->absolute = std::ldexp(1.0, exponent);
  return true;
}

bool ParseSource(absl::string_view word, Param* param) {
  if (word.substr(0, 4) == "set:") {
    param->source = Param::Source::kSet;
    param->set = std::string(word.substr(4));
    return true;
  }
  param->source =
      word == "iota" ? Param::Source::kIota : Param::Source::kZero;
  return word == "iota" || word == "zero";
}

bool ParseBytes(absl::string_view hex, std::vector<uint8_t>* bytes) {
  for (size_t i = 0; i < hex.size(); i += 2) {
    uint8_t byte = 0;
    if (hex.size() - i < 2 || !ParseNumber(hex.substr(i, 2), 16, &byte)) {
      return false;
    }
    bytes->push_back(byte);
  }
  return !bytes->empty();
}

std::optional<Param::Role> ParseRole(absl::string_view word) {
  if (word == "in") return Param::Role::kIn;
  if (word == "out") return Param::Role::kOut;
  if (word == "inout") return Param::Role::kInOut;
  if (word == "arg") return Param::Role::kArg;
  return std::nullopt;
}

// in NAME TYPE COUNT SOURCE | out NAME TYPE COUNT COMPARE
// | inout NAME TYPE COUNT SOURCE COMPARE | arg NAME HEX
bool ParseParam(Param::Role role, const Words& words, Param* param) {
  param->role = role;
  if (words.size() < 3) return false;
  param->name = std::string(words[1]);
  if (role == Param::Role::kArg) {
    return words.size() == 3 && ParseBytes(words[2], &param->value);
  }
  std::optional<ElementType> type = ParseType(words[2]);
  if (!type || words.size() < 5 ||
      !ParseNumber(words[3], 10, &param->count)) {
    return false;
  }
  param->type = *type;
  size_t next = 4;
  if (role != Param::Role::kOut && !ParseSource(words[next++], param)) {
    return false;
  }
  if (role == Param::Role::kIn) return words.size() == next;
  return words.size() > next && ParseCompare(words, next, &param->compare);
}

absl::Status ParseBlocks(LineReader& reader, const Words& words,
                         RunFile* run) {
  if (words[0] == "ptx") {
    absl::StatusOr<std::string> block = reader.Block();
    if (block.ok()) run->ptx = *std::move(block);
    return block.status();
  }
  absl::StatusOr<Values> values = reader.ValueBlock();
  if (values.ok()) run->expect[std::string(words[1])] = *std::move(values);
  return values.status();
}

absl::Status ParseLine(LineReader& reader, absl::string_view line,
                       RunFile* run) {
  Words words = absl::StrSplit(line, ' ');
  absl::string_view key = words[0];
  if (key == "note") return absl::OkStatus();
  if (key == "ptx" || (key == "expect" && words.size() == 2)) {
    return ParseBlocks(reader, words, run);
  }
  bool good = false;
  if (std::optional<Param::Role> role = ParseRole(key)) {
    good = ParseParam(*role, words, &run->params.emplace_back());
  } else if (key == "grid") {
    good = ParseShape(words, run->grid);
  } else if (key == "block") {
    good = ParseShape(words, run->block);
  } else if (words.size() == 2 && key == "form") {
    run->forms.emplace_back(words[1]);
    good = true;
  } else if (words.size() == 2 && key == "sm") {
    good = ParseNumber(words[1], 10, &run->sm);
  } else if (words.size() == 2 && key == "shared") {
    good = ParseNumber(words[1], 10, &run->shared_bytes);
  }
  if (good) return absl::OkStatus();
  return reader.Error(absl::StrCat("'", line, "' is no run-file line"));
}

absl::Status CheckComplete(const RunFile& run, const LineReader& reader) {
  if (run.forms.empty()) return reader.Error("no 'form' line");
  if (run.ptx.empty()) return reader.Error("no 'ptx' block");
  if (run.expect.empty()) return absl::OkStatus();
  for (const Param& param : run.params) {
    if (!param.IsOutput()) continue;
    auto values = run.expect.find(param.name);
    size_t found = values == run.expect.end() ? 0 : values->second.size();
    if (found != param.count) {
      return reader.Error(absl::StrCat("output '", param.name, "' has ",
                                       param.count, " elements, but ", found,
                                       " expected values"));
    }
  }
  return absl::OkStatus();
}

std::vector<uint8_t> BytesOf(const Values& values, size_t count,
                             ElementType type) {
  size_t size = ElementSize(type);
  std::vector<uint8_t> bytes;
  bytes.reserve(count * size);
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < size; ++k) bytes.push_back(values[i] >> (8 * k));
  }
  return bytes;
}

}  // namespace

size_t ElementSize(ElementType type) {
  return kTypes[static_cast<size_t>(type)].size;
}

absl::StatusOr<RunFile> ParseRunFile(absl::string_view text,
                                     absl::string_view name) {
  LineReader reader(text, name);
  absl::string_view line;
  if (!reader.Next(&line) || line != "hetgpu-isa 1") {
    return reader.Error("expected 'hetgpu-isa 1'");
  }
  RunFile run;
  while (reader.Next(&line)) {
    absl::Status status = ParseLine(reader, line, &run);
    if (!status.ok()) return status;
  }
  absl::Status status = CheckComplete(run, reader);
  if (!status.ok()) return status;
  return run;
}

absl::StatusOr<InputSets> ParseInputSets(absl::string_view text,
                                         absl::string_view name) {
  LineReader reader(text, name);
  absl::string_view line;
  InputSets sets;
  while (reader.Next(&line)) {
    if (line.empty() || line[0] == '#') continue;
    Words words = absl::StrSplit(line, ' ');
    size_t count = 0;
    std::optional<ElementType> type;
    if (words.size() == 4) type = ParseType(words[2]);
    if (!type || words[0] != "set" || !ParseNumber(words[3], 10, &count)) {
      return reader.Error(absl::StrCat("'", line, "' starts no set"));
    }
    absl::StatusOr<Values> values = reader.ValueBlock();
    if (!values.ok()) return values.status();
    if (values->size() != count) {
      return reader.Error(absl::StrCat("set '", words[1], "' has ",
                                       values->size(), " values, not ",
                                       count));
    }
    sets[std::string(words[1])] = {*type, *std::move(values)};
  }
  return sets;
}

absl::StatusOr<std::vector<uint8_t>> InitialBytes(const Param& param,
                                                  const InputSets& sets) {
  size_t size = param.count * ElementSize(param.type);
  switch (param.source) {
    case Param::Source::kNone:
      return std::vector<uint8_t>(size, kPoison);
    case Param::Source::kZero:
      return std::vector<uint8_t>(size, 0);
    case Param::Source::kIota: {
      Values values(param.count);
      for (size_t i = 0; i < param.count; ++i) values[i] = i;
      return BytesOf(values, param.count, param.type);
    }
    case Param::Source::kSet:
      break;
  }
  auto set = sets.find(param.set);
  if (set == sets.end() || set->second.values.size() < param.count ||
      ElementSize(set->second.type) != ElementSize(param.type)) {
    return absl::NotFoundError(
        absl::StrCat("no input set '", param.set, "' of ", param.count,
                     " elements for parameter '", param.name, "'"));
  }
  return BytesOf(set->second.values, param.count, param.type);
}

Values ValuesOf(const std::vector<uint8_t>& bytes, ElementType type) {
  size_t size = ElementSize(type);
  Values values(bytes.size() / size, 0);
  for (size_t i = 0; i < values.size() * size; ++i) {
    values[i / size] |= uint64_t{bytes[i]} << (8 * (i % size));
  }
  return values;
}

}  // namespace hetgpu::isa
