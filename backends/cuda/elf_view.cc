#include "backends/cuda/elf_view.h"

#include "absl/strings/str_cat.h"

namespace hetgpu::cuda {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kSectionBytes = 64;
constexpr uint32_t kNoBits = 8;
constexpr uint32_t kNamesElsewhere = 0xffff;
constexpr std::string_view kMagic = "\x7f" "ELF\x02\x01";

std::string_view Part(std::string_view file, uint64_t offset, uint64_t bytes) {
  if (offset > file.size() || bytes > file.size() - offset) return {};
  return file.substr(offset, bytes);
}

std::string_view TextAt(std::string_view strings, uint64_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

ElfView::Section ReadSection(std::string_view file, std::string_view header) {
  ElfView::Section section;
  section.type = NumberAt<uint32_t>(header, 4);
  section.link = NumberAt<uint32_t>(header, 40);
  section.info = NumberAt<uint32_t>(header, 44);
  section.row_bytes = NumberAt<uint64_t>(header, 56);
  if (section.type != kNoBits) {
    section.content = Part(file, NumberAt<uint64_t>(header, 24),
                           NumberAt<uint64_t>(header, 32));
  }
  return section;
}

}  // namespace

std::string_view ElfView::Section::Row(size_t index) const {
  return index < rows() ? content.substr(index * row_bytes, row_bytes)
                        : std::string_view();
}

// A file of 65280 sections or more has their number, and which one has their
// names, in the first section's header.
absl::StatusOr<ElfView> ElfView::Open(std::string_view file) {
  if (file.size() < kHeaderBytes ||
      file.substr(0, kMagic.size()) != kMagic) {
    return absl::InvalidArgumentError(
        "expected a 64-bit little-endian ELF file");
  }
  const auto table = NumberAt<uint64_t>(file, 40);
  const std::string_view first = Part(file, table, kSectionBytes);
  uint64_t count = NumberAt<uint16_t>(file, 60);
  if (count == 0) count = NumberAt<uint64_t>(first, 32);
  uint64_t names_index = NumberAt<uint16_t>(file, 62);
  if (names_index == kNamesElsewhere) {
    names_index = NumberAt<uint32_t>(first, 40);
  }
  if (table > file.size() || count > (file.size() - table) / kSectionBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file of ", file.size(), " bytes ends before its ",
                     count, " section headers"));
  }
  const auto header = [&](uint64_t index) {
    return file.substr(table + index * kSectionBytes, kSectionBytes);
  };
  std::string_view names;
  if (names_index < count) {
    names = ReadSection(file, header(names_index)).content;
  }
  ElfView view;
  view.sections_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    Section& section =
        view.sections_.emplace_back(ReadSection(file, header(i)));
    section.name = TextAt(names, NumberAt<uint32_t>(header(i), 0));
  }
  return view;
}

const ElfView::Section* ElfView::At(size_t index) const {
  return index < sections_.size() ? &sections_[index] : nullptr;
}

const ElfView::Section* ElfView::Named(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

}  // namespace hetgpu::cuda
