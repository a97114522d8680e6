#include "backends/cpu/image.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/guarded_memory.h"
#include "backends/cpu/imports.h"

namespace hetgpu::cpu {
namespace {

constexpr char kMagic[8] = {'H', 'E', 'T', 'C', 'P', 'U', '\0', '\1'};
constexpr uint64_t kMaxCodeBytes = uint64_t{1} << 31;
constexpr uint32_t kMaxStackBytes = 1u << 30;

template <typename... Parts>
absl::Status Bad(std::string_view name, const Parts&... parts) {
  return absl::InvalidArgumentError(
      absl::StrCat("cpu: image of kernel ", std::string(name), ": ", parts...));
}

// The parts of an image, once its header has been checked.
struct Parts {
  ImageHeader header;
  std::vector<ImportRecord> imports;
  std::vector<LineRecord> lines;
  std::string_view explanation;
  std::string_view code;
};

absl::Status CheckHeader(std::string_view name, std::string_view bytes,
                         const ImageHeader& header) {
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0) {
    return Bad(name, "not a CPU kernel image");
  }
  if (header.abi_version != kAbiVersion) {
    return Bad(name, "made for ABI version ", header.abi_version, ", expected ",
               kAbiVersion);
  }
  if (header.lanes_per_unit != 1 && header.lanes_per_unit != kWarpSize) {
    return Bad(name, "units of ", header.lanes_per_unit,
               " lanes, expected 1 or 32");
  }
  if (header.needs_fibers > 1) {
    return Bad(name, "needs_fibers is ", header.needs_fibers,
               ", expected 0 or 1");
  }
  if (header.stack_bytes > kMaxStackBytes) {
    return Bad(name, header.stack_bytes, " bytes of stack per unit, at most ",
               kMaxStackBytes, " are possible");
  }
  if (header.code_offset > bytes.size() ||
      header.code_bytes > bytes.size() - header.code_offset) {
    return Bad(name, "code of ", header.code_bytes, " bytes at offset ",
               header.code_offset, " does not fit in ", bytes.size(), " bytes");
  }
  if (header.code_bytes > kMaxCodeBytes ||
      header.entry_offset >= header.code_bytes) {
    return Bad(name, "entry at offset ", header.entry_offset, " of ",
               header.code_bytes, " bytes of code");
  }
  return absl::OkStatus();
}

// Takes `count` records off the front of `*rest`; false when they do not fit.
template <typename Record>
bool TakeRecords(std::string_view* rest, uint32_t count,
                 std::vector<Record>* records) {
  if (count > rest->size() / sizeof(Record)) return false;
  records->resize(count);
  if (count != 0) {
    std::memcpy(records->data(), rest->data(), count * sizeof(Record));
  }
  rest->remove_prefix(count * sizeof(Record));
  return true;
}

absl::Status CheckImports(std::string_view name, const Parts& parts) {
  for (const ImportRecord& import : parts.imports) {
    if (import.function >= ImportCount()) {
      return Bad(name, "imports function ", import.function, " of ",
                 ImportCount());
    }
    const uint64_t slot = import.slot_offset;
    if (slot % 8 != 0 || slot > parts.code.size() ||
        parts.code.size() - slot < 8) {
      return Bad(name, "import slot at offset ", slot, " of ",
                 parts.code.size(), " bytes of code");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckLines(std::string_view name, const Parts& parts) {
  for (size_t i = 0; i < parts.lines.size(); ++i) {
    const uint32_t offset = parts.lines[i].code_offset;
    if (offset > parts.code.size() ||
        (i != 0 && offset < parts.lines[i - 1].code_offset)) {
      return Bad(name, "line record ", i, " at code offset ", offset,
                 " is out of order or past the code");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Parts> Parse(std::string_view name, std::string_view bytes) {
  Parts parts;
  if (bytes.size() < sizeof(ImageHeader)) {
    return Bad(name, bytes.size(), " bytes, expected at least ",
               sizeof(ImageHeader));
  }
  std::memcpy(&parts.header, bytes.data(), sizeof(ImageHeader));
  const ImageHeader& header = parts.header;
  if (absl::Status status = CheckHeader(name, bytes, header); !status.ok()) {
    return status;
  }
  parts.code = bytes.substr(header.code_offset, header.code_bytes);
  std::string_view rest = bytes.substr(0, header.code_offset);
  if (rest.size() < sizeof(ImageHeader)) {
    return Bad(name, "code at offset ", header.code_offset,
               " overlaps the header");
  }
  rest.remove_prefix(sizeof(ImageHeader));
  if (!TakeRecords(&rest, header.import_count, &parts.imports) ||
      !TakeRecords(&rest, header.line_count, &parts.lines) ||
      header.explanation_bytes > rest.size()) {
    return Bad(name, header.import_count, " imports, ", header.line_count,
               " lines and ", header.explanation_bytes,
               " bytes of text do not fit before the code");
  }
  parts.explanation = rest.substr(0, header.explanation_bytes);
  for (const absl::Status& status :
       {CheckImports(name, parts), CheckLines(name, parts)}) {
    if (!status.ok()) return status;
  }
  return parts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LoadedImage>> LoadedImage::Load(
    std::string_view name, std::string_view bytes) {
  absl::StatusOr<Parts> parts = Parse(name, bytes);
  if (!parts.ok()) return parts.status();
  std::unique_ptr<LoadedImage> image(new LoadedImage());
  const size_t size = RoundUp(parts->code.size(), kPageBytes);
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cpu: no memory for ", size, " bytes of code"));
  }
  image->mapping_ = mapping;
  image->mapping_bytes_ = size;
  auto* code = static_cast<uint8_t*>(mapping);
  std::memcpy(code, parts->code.data(), parts->code.size());
  for (const ImportRecord& import : parts->imports) {
    const uint64_t address = ImportAddress(import.function);
    std::memcpy(code + import.slot_offset, &address, sizeof(address));
  }
  if (mprotect(mapping, size, PROT_READ | PROT_EXEC) != 0) {
    return absl::InternalError(absl::StrCat(
        "cpu: cannot make code executable: ", std::strerror(errno)));
  }
  __builtin___clear_cache(static_cast<char*>(mapping),
                          static_cast<char*>(mapping) + size);
  KernelCode& result = image->code_;
  result.name = std::string(name);
  result.entry = reinterpret_cast<Entry>(code + parts->header.entry_offset);
  result.begin = reinterpret_cast<uintptr_t>(code);
  result.end = result.begin + parts->code.size();
  result.lines = std::move(parts->lines);
  result.lanes_per_unit = parts->header.lanes_per_unit;
  result.needs_fibers = parts->header.needs_fibers != 0;
  result.stack_bytes = parts->header.stack_bytes;
  image->explanation_ = std::string(parts->explanation);
  return image;
}

LoadedImage::~LoadedImage() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

}  // namespace hetgpu::cpu
