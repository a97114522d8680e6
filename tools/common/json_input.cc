#include "tools/common/json_input.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using Json = nlohmann::ordered_json;

const Json& Node(const void* node) { return *static_cast<const Json*>(node); }

absl::Status ErrorAt(std::string_view text, size_t offset,
                     std::string_view what) {
  const std::string_view before = text.substr(0, offset);
  const size_t line_start = before.rfind('\n') + 1;
  return absl::DataLossError(
      Cat(1 + std::count(before.begin(), before.end(), '\n'), ":",
          1 + before.size() - line_start, ": ", what));
}

// Limits nesting before any tree is built. Brackets in strings do not count.
absl::Status CheckDepth(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) {
        return ErrorAt(
            text, i, Cat("JSON nested deeper than ", kMaxJsonDepth, " levels"));
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return absl::OkStatus();
}

// Remembers the keys of the objects that are open and the first repeated one.
class DuplicateKeys {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    const size_t level = static_cast<size_t>(depth);
    if (event == Json::parse_event_t::object_start) {
      if (keys_.size() <= level + 1) keys_.resize(level + 2);
      keys_[level + 1].clear();
    } else if (event == Json::parse_event_t::key && !duplicate_) {
      std::string key = value.get<std::string>();
      if (keys_.size() <= level) keys_.resize(level + 1);
      if (!keys_[level].insert(key).second) duplicate_ = key;
    }
    return true;
  }
  const std::optional<std::string>& duplicate() const { return duplicate_; }

 private:
  std::vector<std::set<std::string>> keys_;
  std::optional<std::string> duplicate_;
};

// The library's text without its own prefix, which repeats the place.
std::string Explain(const Json::parse_error& error) {
  std::string_view text = error.what();
  if (const size_t at = text.find(": "); at != text.npos) {
    text.remove_prefix(at + 2);
  }
  return Cat("not valid JSON: ",
             text.substr(0, std::min<size_t>(text.size(), 200)));
}

absl::StatusOr<Json> ParseText(std::string_view text) {
  DuplicateKeys keys;
  try {
    Json json = Json::parse(text.begin(), text.end(), std::ref(keys));
    if (keys.duplicate()) {
      return absl::DataLossError(
          Cat("key \"", *keys.duplicate(), "\" appears twice"));
    }
    return json;
  } catch (const Json::parse_error& error) {
    return ErrorAt(text, std::min(error.byte, text.size()), Explain(error));
  } catch (const std::exception& error) {
    const std::string_view text = error.what();
    return absl::DataLossError(
        Cat("not valid JSON: ", text.substr(0, std::min<size_t>(
                                                   text.size(), 200))));
  }
}

std::string_view NameOf(JsonRef::Kind kind) {
  constexpr std::string_view kNames[] = {"null",     "a boolean", "a number",
                                         "a string", "an array",  "an object"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace

JsonRef::Kind JsonRef::kind() const {
  const Json& json = Node(node_);
  if (json.is_object()) return Kind::kObject;
  if (json.is_array()) return Kind::kArray;
  if (json.is_string()) return Kind::kString;
  if (json.is_number()) return Kind::kNumber;
  if (json.is_boolean()) return Kind::kBool;
  return Kind::kNull;
}

absl::Status JsonRef::Error(std::string_view message) const {
  return absl::DataLossError(Cat(path_, ": ", message));
}

absl::Status JsonRef::TypeError(std::string_view expected) const {
  return Error(Cat("found ", NameOf(kind()), ", expected ", expected));
}

absl::StatusOr<std::string> JsonRef::String() const {
  if (!IsString()) return TypeError("a string");
  return *Node(node_).get_ptr<const std::string*>();
}

absl::StatusOr<bool> JsonRef::Bool() const {
  if (kind() != Kind::kBool) return TypeError("true or false");
  return *Node(node_).get_ptr<const bool*>();
}

absl::StatusOr<uint64_t> JsonRef::Unsigned(uint64_t max) const {
  if (!Node(node_).is_number_unsigned()) {
    return TypeError("an integer that is not negative");
  }
  const uint64_t value = *Node(node_).get_ptr<const uint64_t*>();
  if (value > max) {
    return Error(Cat(value, " is greater than ", max));
  }
  return value;
}

absl::StatusOr<double> JsonRef::Double() const {
  if (!IsNumber()) return TypeError("a number");
  return Node(node_).get<double>();
}

absl::StatusOr<Literal> JsonRef::Number() const {
  const Json& json = Node(node_);
  if (json.is_number_unsigned()) {
    return Literal::Unsigned(*json.get_ptr<const uint64_t*>());
  }
  if (json.is_number_integer()) {
    const int64_t value = *json.get_ptr<const int64_t*>();
    // A signed zero was written "-0": floats keep its sign.
    return value == 0 ? Literal::Real(-0.0) : Literal::Integer(value);
  }
  if (json.is_number()) return Literal::Real(json.get<double>());
  return TypeError("a number");
}

absl::StatusOr<std::vector<JsonRef>> JsonRef::Items() const {
  if (!IsArray()) return TypeError("an array");
  std::vector<JsonRef> items;
  const Json& json = Node(node_);
  items.reserve(json.size());
  for (size_t i = 0; i < json.size(); ++i) {
    items.push_back(JsonRef(&json[i], Cat(path_, "[", i, "]")));
  }
  return items;
}

absl::StatusOr<std::vector<JsonRef::Member>> JsonRef::Members() const {
  if (!IsObject()) return TypeError("an object");
  std::vector<Member> members;
  const Json& json = Node(node_);
  for (auto it = json.begin(); it != json.end(); ++it) {
    members.emplace_back(it.key(),
                         JsonRef(&it.value(), Cat(path_, ".", it.key())));
  }
  return members;
}

bool JsonRef::Has(std::string_view key) const {
  return Node(node_).is_object() && Node(node_).contains(std::string(key));
}

JsonRef JsonRef::At(std::string_view key) const {
  return JsonRef(&*Node(node_).find(std::string(key)), Cat(path_, ".", key));
}

absl::StatusOr<JsonRef> JsonRef::Require(std::string_view key) const {
  if (!IsObject()) return TypeError("an object");
  if (!Has(key)) return Error(Cat("lacks the key \"", key, "\""));
  return At(key);
}

absl::Status JsonRef::OnlyKeys(
    std::initializer_list<std::string_view> keys) const {
  if (!IsObject()) return TypeError("an object");
  const Json& json = Node(node_);
  for (auto it = json.begin(); it != json.end(); ++it) {
    if (std::find(keys.begin(), keys.end(), it.key()) == keys.end()) {
      return Error(
          Cat("unknown key \"", it.key(), "\", expected ", Join(keys, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<JsonDocument> JsonDocument::Parse(std::string_view text) {
  if (text.size() > kMaxJsonBytes) {
    return absl::DataLossError(
        Cat("JSON text is larger than ", kMaxJsonBytes, " bytes"));
  }
  if (auto s = CheckDepth(text); !s.ok()) return s;
  auto json = ParseText(text);
  if (!json.ok()) return json.status();
  JsonDocument document;
  document.node_ = std::make_shared<const Json>(*std::move(json));
  return document;
}

}  // namespace hetgpu::tools
