// Reading JSON that may be hostile: size and depth are limited, duplicate and
// unknown keys are errors, and every error names its place ("steps[2].grid").
//
//   JsonDocument   owns the parsed text
//     JsonRef      one value in it plus its path; cheap to copy
//
// All type errors are DataLoss: a plan is an input file.
#ifndef HETGPU_TOOLS_COMMON_JSON_INPUT_H_
#define HETGPU_TOOLS_COMMON_JSON_INPUT_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/common/literal.h"

namespace hetgpu::tools {

inline constexpr size_t kMaxJsonBytes = 64 << 20;
inline constexpr int kMaxJsonDepth = 64;

class JsonRef {
 public:
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kNumber,
    kString,
    kArray,
    kObject,
  };
  using Member = std::pair<std::string, JsonRef>;

  Kind kind() const;
  bool IsObject() const { return kind() == Kind::kObject; }
  bool IsArray() const { return kind() == Kind::kArray; }
  bool IsString() const { return kind() == Kind::kString; }
  bool IsNumber() const { return kind() == Kind::kNumber; }

  // "$" for the document, "$.steps[2].grid" inside.
  const std::string& path() const { return path_; }
  // A DataLoss error at this place.
  absl::Status Error(std::string_view message) const;

  // The value as a type; an error when it is of another.
  absl::StatusOr<std::string> String() const;
  absl::StatusOr<bool> Bool() const;
  absl::StatusOr<uint64_t> Unsigned(uint64_t max = ~uint64_t{0}) const;
  absl::StatusOr<double> Double() const;
  absl::StatusOr<Literal> Number() const;
  absl::StatusOr<std::vector<JsonRef>> Items() const;
  // In the order of the file.
  absl::StatusOr<std::vector<Member>> Members() const;

  // Objects: is there such a key, and its value (Has must hold).
  bool Has(std::string_view key) const;
  JsonRef At(std::string_view key) const;
  // The value of a key that must be there.
  absl::StatusOr<JsonRef> Require(std::string_view key) const;
  // An error unless this is an object and each of its keys is listed.
  absl::Status OnlyKeys(std::initializer_list<std::string_view> keys) const;

 private:
  friend class JsonDocument;
  // `node` is a value of the JSON library, kept out of this header.
  JsonRef(const void* node, std::string path)
      : node_(node), path_(std::move(path)) {}
  absl::Status TypeError(std::string_view expected) const;

  const void* node_;
  std::string path_;
};

class JsonDocument {
 public:
  // DataLoss with line and column when the text is no JSON or over a limit.
  static absl::StatusOr<JsonDocument> Parse(std::string_view text);
  JsonRef root() const { return JsonRef(node_.get(), "$"); }

 private:
  std::shared_ptr<const void> node_;
};

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_JSON_INPUT_H_
