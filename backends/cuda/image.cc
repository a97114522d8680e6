#include "backends/cuda/image.h"

#include <charconv>

#include "absl/strings/str_cat.h"

namespace hetgpu::cuda {
namespace {

constexpr std::string_view kComment = "// ";
constexpr std::string_view kMagic = "hetgpu cuda image 1";

// The next comment line without its mark; nothing when another line follows.
bool TakeLine(std::string_view& rest, std::string_view& line) {
  if (rest.substr(0, kComment.size()) != kComment) return false;
  const size_t end = rest.find('\n');
  if (end == std::string_view::npos) return false;
  line = rest.substr(kComment.size(), end - kComment.size());
  rest.remove_prefix(end + 1);
  return true;
}

std::string_view TakeWord(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

bool TakeNumber(std::string_view& line, uint64_t& number) {
  const std::string_view word = TakeWord(line);
  const char* const end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(word.data(), end, number);
  return error == std::errc() && rest == end && !word.empty();
}

absl::Status Bad(std::string_view what) {
  return absl::InvalidArgumentError(
      "cuda: kernel image: " + std::string(what));
}

struct Parts {
  std::string_view directives;  // from .version to .address_size, whole lines
  std::string_view body;
};

absl::StatusOr<Parts> Split(std::string_view image) {
  const size_t begin = image.find("\n.version ");
  const size_t last = image.find("\n.address_size ");
  const size_t end = last == std::string_view::npos
                         ? last
                         : image.find('\n', last + 1);
  if (begin > last || end == std::string_view::npos) {
    return Bad("expected directives from .version to .address_size");
  }
  return Parts{image.substr(begin + 1, end - begin), image.substr(end + 1)};
}

}  // namespace

std::string FormatHeader(const ImageHeader& header) {
  std::string text = "// " + std::string(kMagic) + "\n// entry " +
                     header.entry + "\n";
  for (const ConstCopy& copy : header.const_copies) {
    absl::StrAppend(&text, "// const ", copy.symbol, " ", copy.offset, " ",
                    copy.bytes, "\n");
  }
  return text + "// why " + header.why + "\n";
}

absl::StatusOr<ImageHeader> ParseHeader(std::string_view image) {
  ImageHeader header;
  std::string_view line;
  if (!TakeLine(image, line) || line != kMagic) {
    return Bad("expected one that begins \"// " + std::string(kMagic) + "\"");
  }
  while (TakeLine(image, line)) {
    const std::string_view key = TakeWord(line);
    if (key == "entry") {
      header.entry = std::string(line);
    } else if (key == "const") {
      ConstCopy& copy = header.const_copies.emplace_back();
      copy.symbol = std::string(TakeWord(line));
      if (copy.symbol.empty() || !TakeNumber(line, copy.offset) ||
          !TakeNumber(line, copy.bytes)) {
        return Bad("expected a symbol, an offset and a size after \"const\"");
      }
    } else if (key == "why") {
      header.why = std::string(line);
      break;
    } else {
      return Bad("unknown line \"" + std::string(key) + "\"");
    }
  }
  if (header.entry.empty()) return Bad("names no entry");
  return header;
}

absl::StatusOr<std::string> JoinPtx(
    const std::vector<std::string_view>& images) {
  std::string joined;
  std::string_view directives;
  for (std::string_view image : images) {
    const absl::StatusOr<Parts> parts = Split(image);
    if (!parts.ok()) return parts.status();
    if (joined.empty()) {
      directives = parts->directives;
      joined = std::string(directives);
    } else if (parts->directives != directives) {
      return Bad("directives differ from those of the image before");
    }
    joined += parts->body;
  }
  return joined;
}

}  // namespace hetgpu::cuda
