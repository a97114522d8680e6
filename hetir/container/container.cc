#include "hetir/container/container.h"

#include <xxhash.h>

#include <iterator>
#include <utility>

#include "hetir/container/bytes.h"
#include "hetir/container/manifest.h"

namespace hetgpu {
namespace {

constexpr std::string_view kMagic("HETIR\0\r\n", 8);
constexpr size_t kSizeAt = 16;
constexpr size_t kHashedFrom = 40;
constexpr size_t kHeaderBytes = 48;
constexpr size_t kSectionRowBytes = 24;

enum class SectionKind : uint32_t {
  kManifest = 1,
  kSourceMap = 2,
  kBytecode = 3,
  kData = 4,
};

// 16 bytes in the hash's canonical (big-endian) order.
std::string HashOf(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical,
                           XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest),
                     sizeof(canonical.digest));
}

std::string EncodeSourceMap(const SourceMap& map) {
  ByteWriter out;
  out.U32(static_cast<uint32_t>(map.files.size()));
  for (const std::string& file : map.files) out.String(file);
  out.U32(static_cast<uint32_t>(map.entries.size()));
  for (const SourceMap::Entry& entry : map.entries) {
    out.U32(entry.ptx_line);
    out.U32(entry.file);
    out.U32(entry.line);
    out.U32(entry.column);
  }
  return out.Take();
}

bool DecodeSourceMap(std::string_view bytes, SourceMap* map) {
  ByteReader in(bytes);
  uint32_t files = in.Count(4);
  for (uint32_t i = 0; i < files && in.ok(); ++i) {
    map->files.emplace_back(in.String());
  }
  uint32_t entries = in.Count(16);
  uint32_t last_line = 0;
  for (uint32_t i = 0; i < entries && in.ok(); ++i) {
    SourceMap::Entry entry;
    entry.ptx_line = in.U32();
    entry.file = in.U32();
    entry.line = in.U32();
    entry.column = in.U32();
    if (entry.file >= map->files.size() || entry.ptx_line < last_line) {
      return false;
    }
    last_line = entry.ptx_line;
    map->entries.push_back(entry);
  }
  return in.ok();
}

struct Sections {
  std::string_view manifest, source_map, bytecode, data;
  bool has_manifest = false;
};

// Unknown kinds are of a newer minor version.
void Assign(SectionKind kind, std::string_view content, Sections* sections) {
  switch (kind) {
    case SectionKind::kManifest:
      sections->manifest = content;
      sections->has_manifest = true;
      break;
    case SectionKind::kSourceMap: sections->source_map = content; break;
    case SectionKind::kBytecode: sections->bytecode = content; break;
    case SectionKind::kData: sections->data = content; break;
  }
}

bool FindSections(std::string_view bytes, Sections* sections) {
  ByteReader in(bytes.substr(kHashedFrom));
  uint32_t count = in.Count(1);
  in.U32();
  if (count > in.remaining() / kSectionRowBytes) return false;
  for (uint32_t i = 0; i < count; ++i) {
    SectionKind kind = static_cast<SectionKind>(in.U32());
    in.U32();
    uint64_t offset = in.U64();
    uint64_t size = in.U64();
    if (offset > bytes.size() || size > bytes.size() - offset) return false;
    Assign(kind, bytes.substr(offset, size), sections);
  }
  return in.ok() && sections->has_manifest;
}

std::string VersionText(uint16_t major, uint16_t minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

absl::Status CheckVersion(const ContainerVersion& found,
                          const std::string& name) {
  ContainerVersion mine;
  if (found.format_major != mine.format_major) {
    return absl::UnimplementedError(
        name + ": container format " +
        VersionText(found.format_major, found.format_minor) +
        ", this build reads " + std::to_string(mine.format_major) + ".x");
  }
  if (found.dialect_major != mine.dialect_major) {
    return absl::UnimplementedError(
        name + ": hetIR version " +
        VersionText(found.dialect_major, found.dialect_minor) +
        ", this build reads " + std::to_string(mine.dialect_major) + ".x");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsContainer(std::string_view bytes) {
  return bytes.substr(0, kMagic.size()) == kMagic;
}

std::string WriteContainer(const ModuleInfo& info, const SourceMap& source_map,
                           std::string_view bytecode) {
  const std::string manifest = EncodeManifest(info);
  const std::string map = EncodeSourceMap(source_map);
  const std::pair<SectionKind, std::string_view> sections[] = {
      {SectionKind::kManifest, manifest},
      {SectionKind::kData, info.data_init},
      {SectionKind::kSourceMap, map},
      {SectionKind::kBytecode, bytecode},
  };
  ByteWriter body;
  body.U32(static_cast<uint32_t>(std::size(sections)));
  body.U32(0);
  uint64_t offset = kHeaderBytes + std::size(sections) * kSectionRowBytes;
  for (const auto& [kind, content] : sections) {
    body.U32(static_cast<uint32_t>(kind));
    body.U32(0);
    body.U64(offset);
    body.U64(content.size());
    offset += content.size();
  }
  for (const auto& [kind, content] : sections) body.Bytes(content);
  ContainerVersion version;
  ByteWriter out;
  out.Bytes(kMagic);
  out.U16(version.format_major);
  out.U16(version.format_minor);
  out.U16(version.dialect_major);
  out.U16(version.dialect_minor);
  out.Bytes(std::string(kHashedFrom - kSizeAt, '\0'));
  out.Bytes(body.Take());
  std::string bytes = out.Take();
  SealContainer(&bytes);
  return bytes;
}

void SealContainer(std::string* bytes) {
  ByteWriter out;
  out.U64(bytes->size());
  out.Bytes(HashOf(std::string_view(*bytes).substr(kHashedFrom)));
  bytes->replace(kSizeAt, kHashedFrom - kSizeAt, out.Take());
}

absl::StatusOr<Container> ReadContainer(std::string_view bytes,
                                        std::string_view name_view) {
  const std::string name(name_view);
  if (!IsContainer(bytes)) {
    return absl::InvalidArgumentError(name + ": not a hetIR container");
  }
  ByteReader header(bytes.substr(kMagic.size()));
  Container container;
  container.version.format_major = header.U16();
  container.version.format_minor = header.U16();
  container.version.dialect_major = header.U16();
  container.version.dialect_minor = header.U16();
  absl::Status status = CheckVersion(container.version, name);
  if (!status.ok()) return status;
  uint64_t size = header.U64();
  if (bytes.size() < kHeaderBytes || size != bytes.size()) {
    return absl::DataLossError(name + ": expected " + std::to_string(size) +
                               " bytes, found " +
                               std::to_string(bytes.size()));
  }
  if (header.Bytes(16) != HashOf(bytes.substr(kHashedFrom))) {
    return absl::DataLossError(name + ": content does not match its hash");
  }
  Sections sections;
  if (!FindSections(bytes, &sections)) {
    return absl::DataLossError(name + ": section table is damaged");
  }
  if (!DecodeSourceMap(sections.source_map, &container.source_map)) {
    return absl::DataLossError(name + ": source map is damaged");
  }
  absl::StatusOr<ModuleInfo> info =
      DecodeManifest(sections.manifest, sections.data);
  if (!info.ok()) {
    std::string what(info.status().message());
    return absl::DataLossError(name + ": " + what);
  }
  container.info = *std::move(info);
  container.bytecode = sections.bytecode;
  return container;
}

}  // namespace hetgpu
