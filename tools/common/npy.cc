#include "tools/common/npy.h"

#include <optional>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr uint64_t kMaxHeader = 1 << 20;
constexpr uint64_t kMaxFile = uint64_t{1} << 38;
constexpr size_t kMaxDimensions = 64;

absl::Status Bad(std::string_view what) {
  return absl::DataLossError(Cat("not a usable .npy file: ", what));
}

// Reads the Python dictionary of the header: three known keys in any order.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  absl::StatusOr<NpyHeader> Parse() {
    if (!Consume('{')) return Bad("header does not begin with '{'");
    while (!Consume('}')) {
      if (auto s = ParseEntry(); !s.ok()) return s;
      if (!Consume(',') && Peek() != '}') {
        return Bad("expected ',' or '}' in header");
      }
    }
    if (!StripSpace(rest_).empty()) {
      return Bad("text after '}' in header");
    }
    if (!descr_ || !order_ || !shape_) {
      return Bad("header lacks 'descr', 'fortran_order' or 'shape'");
    }
    return std::move(header_);
  }

 private:
  void SkipSpace() {
    while (!rest_.empty() && IsSpace(rest_[0])) rest_.remove_prefix(1);
  }
  char Peek() {
    SkipSpace();
    return rest_.empty() ? '\0' : rest_[0];
  }
  bool Consume(char c) {
    if (Peek() != c || rest_.empty()) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool ConsumeWord(std::string_view word) {
    SkipSpace();
    return ConsumePrefix(&rest_, word);
  }

  std::optional<std::string_view> String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    const size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  absl::Status ParseEntry() {
    const auto key = String();
    if (!key || !Consume(':')) return Bad("expected a quoted key in header");
    if (*key == "descr") return ParseDescr();
    if (*key == "fortran_order") return ParseOrder();
    if (*key == "shape") return ParseShape();
    return Bad(Cat("unknown header key '", *key, "'"));
  }

  absl::Status ParseDescr() {
    if (Peek() == '[') return Bad("structured types are not supported");
    const auto text = String();
    if (descr_ || !text || text->size() < 2) return Bad("bad 'descr'");
    descr_ = true;
    const char order = (*text)[0];
    const std::string_view kind = text->substr(1);
    if (order == '>' && !kind.ends_with("1")) {
      return Bad(Cat("big-endian type '", *text, "'"));
    }
    if (kind == "b1") {
      header_.is_bool = true;
      return absl::OkStatus();
    }
    for (int i = 0; i <= static_cast<int>(ElementType::kF64); ++i) {
      const ElementType type = static_cast<ElementType>(i);
      if (type == ElementType::kBF16 || InfoOf(type).npy != kind) continue;
      if (order != '<' && order != '|' && order != '=' && order != '>') break;
      header_.type = type;
      return absl::OkStatus();
    }
    return Bad(Cat("type '", *text, "' is not supported"));
  }

  absl::Status ParseOrder() {
    if (std::exchange(order_, true)) return Bad("two 'fortran_order'");
    if (ConsumeWord("False")) return absl::OkStatus();
    if (ConsumeWord("True")) {
      return Bad("fortran_order is True, only C order is supported");
    }
    return Bad("'fortran_order' is neither True nor False");
  }

  absl::Status ParseShape() {
    if (std::exchange(shape_, true)) return Bad("two 'shape'");
    if (!Consume('(')) return Bad("'shape' is not a tuple");
    while (!Consume(')')) {
      if (auto s = ParseDimension(); !s.ok()) return s;
      if (!Consume(',') && Peek() != ')') return Bad("bad 'shape'");
    }
    return absl::OkStatus();
  }

  absl::Status ParseDimension() {
    if (!IsDigit(Peek())) {
      return Bad("'shape' holds something that is not a count");
    }
    uint64_t value = 0;
    while (!rest_.empty() && IsDigit(rest_[0])) {
      if (__builtin_mul_overflow(value, uint64_t{10}, &value) ||
          __builtin_add_overflow(value, uint64_t(rest_[0] - '0'), &value)) {
        return Bad("'shape' overflows");
      }
      rest_.remove_prefix(1);
    }
    if (header_.shape.size() == kMaxDimensions) {
      return Bad("more than 64 dimensions");
    }
    header_.shape.push_back(value);
    if (__builtin_mul_overflow(header_.count, value, &header_.count)) {
      return Bad("'shape' overflows");
    }
    return absl::OkStatus();
  }

  std::string_view rest_;
  NpyHeader header_;
  bool descr_ = false, order_ = false, shape_ = false;
};

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<uint8_t>(bytes[i]);
  }
  return value;
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpy(std::string_view file) {
  if (!file.starts_with(kMagic)) return Bad("wrong magic number");
  if (file.size() < 8) return Bad("truncated before the version");
  const int major = static_cast<uint8_t>(file[6]);
  if (major < 1 || major > 3) {
    return Bad(Cat("version ", major, ", expected 1, 2 or 3"));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (file.size() < 8 + length_bytes) return Bad("truncated header length");
  const uint64_t length = LittleEndian(file.substr(8, length_bytes));
  const uint64_t offset = 8 + length_bytes + length;
  if (length > kMaxHeader) return Bad("header longer than 1 MiB");
  if (offset > file.size()) return Bad("truncated header");
  auto header = HeaderParser(file.substr(8 + length_bytes, length)).Parse();
  if (!header.ok()) return header.status();
  header->data_offset = offset;
  const auto bytes = ByteSize(header->type, header->count);
  if (!bytes.ok() || *bytes != file.size() - offset) {
    return Bad(Cat("holds ", file.size() - offset,
                   " bytes of data, but its shape (", Join(header->shape, ", "),
                   ") of ", NameOf(header->type), " is not of that size"));
  }
  return header;
}

absl::StatusOr<NpyArray> ReadNpy(const std::string& path) {
  auto bytes = ReadFile(path, kMaxFile);
  if (!bytes.ok()) return bytes.status();
  auto header = ParseNpy(bytes->view());
  if (!header.ok()) {
    return Annotate(header.status(), Cat("'", path, "'"));
  }
  bytes->Skip(header->data_offset);
  return NpyArray{*std::move(header), *std::move(bytes)};
}

std::string MakeNpyHeader(ElementType type,
                          const std::vector<uint64_t>& shape) {
  const ElementTypeInfo& info = InfoOf(type);
  std::string dict =
      Cat("{'descr': '", info.size == 1 ? "|" : "<", info.npy,
          "', 'fortran_order': False, 'shape': (", Join(shape, ", "),
          shape.size() == 1 ? "," : "", "), }");
  const size_t prefix = kMagic.size() + 4;
  const size_t total = (prefix + dict.size() + 1 + 63) / 64 * 64;
  dict.append(total - prefix - dict.size() - 1, ' ');
  dict.push_back('\n');
  const char length[2] = {static_cast<char>(dict.size() & 0xff),
                          static_cast<char>(dict.size() >> 8)};
  return Cat(kMagic, std::string_view("\x01\x00", 2),
             std::string_view(length, 2), dict);
}

absl::Status WriteNpy(const std::string& path, ElementType type,
                      const std::vector<uint64_t>& shape,
                      std::string_view data) {
  return WriteFile(path, MakeNpyHeader(type, shape), data);
}

bool IsNpyPath(std::string_view path) { return path.ends_with(".npy"); }

}  // namespace hetgpu::tools
