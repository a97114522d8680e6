#include "tools/hetgpu-run/init.h"

#include <unistd.h>

#include <cstring>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/npy.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

// Some files never end; a buffer takes as much memory again.
uint64_t MaxRawFile() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE)) / 2;
}

// bf16 and ptr have no .npy type of their own: unsigned integers stand for
// them, and a boolean file for u8.
bool Matches(ElementType want, ElementType got) {
  return want == got ||
         (want == ElementType::kBF16 && got == ElementType::kU16) ||
         (want == ElementType::kPtr && got == ElementType::kU64);
}

absl::StatusOr<HostArray> FromNpy(const BufferDef& def,
                                  const std::string& path) {
  auto npy = ReadNpy(path);
  if (!npy.ok()) return npy.status();
  const ElementType type = def.type.value_or(npy->header.type);
  if (!Matches(type, npy->header.type)) {
    return absl::DataLossError(Cat("'", path, "' holds ",
                                   NameOf(npy->header.type), ", expected ",
                                   NameOf(type)));
  }
  if (def.count && *def.count != npy->header.count) {
    return absl::DataLossError(Cat("'", path, "' holds ", npy->header.count,
                                   " elements, expected ", *def.count));
  }
  HostArray array{.type = type,
                  .count = npy->header.count,
                  .bytes = npy->data.size(),
                  .data = std::move(npy->data),
                  .has_data = true};
  return array;
}

absl::StatusOr<HostArray> FromRawFile(const BufferDef& def,
                                      const std::string& path) {
  auto data = ReadFile(path, MaxRawFile());
  if (!data.ok()) return data.status();
  const uint32_t size = SizeOf(*def.type);
  const uint64_t count = data->size() / size;
  if (data->size() % size != 0 || (def.count && count != *def.count)) {
    return absl::DataLossError(
        Cat("'", path, "' has ", data->size(), " bytes, expected ",
            def.count ? Cat(*def.count) : std::string("a multiple"), " of the ",
            size, " bytes of ", NameOf(*def.type)));
  }
  HostArray array{.type = *def.type,
                  .count = count,
                  .bytes = data->size(),
                  .data = *std::move(data),
                  .has_data = true};
  return array;
}

absl::Status Generate(const ZeroInit&, HostArray* array) {
  array->has_data = false;
  return absl::OkStatus();
}

absl::Status Generate(const FillInit& fill, HostArray* array) {
  const auto bits = EncodeLiteral(fill.value, array->type);
  if (!bits.ok()) return bits.status();
  GenerateFill(array->type, *bits, array->count, array->data.data());
  return absl::OkStatus();
}

absl::Status Generate(const ValuesInit& values, HostArray* array) {
  if (values.values.size() != array->count) {
    return absl::InvalidArgumentError(
        Cat(values.values.size(), " values, expected ", array->count));
  }
  uint8_t* out = array->data.data();
  for (const Literal& value : values.values) {
    const auto bits = EncodeLiteral(value, array->type);
    if (!bits.ok()) return bits.status();
    StoreElement(out, *bits, array->type);
    out += SizeOf(array->type);
  }
  return absl::OkStatus();
}

absl::Status Generate(const IotaInit& iota, HostArray* array) {
  return GenerateIota(array->type, iota.start, iota.step, array->count,
                      array->data.data());
}

absl::Status Generate(const RandInit& rand, HostArray* array) {
  return GenerateRand(array->type, rand.range, array->count,
                      array->data.data());
}

absl::Status Generate(const BytesInit& raw, HostArray* array) {
  std::memcpy(array->data.data(), raw.bytes.data(), raw.bytes.size());
  return absl::OkStatus();
}

absl::Status Generate(const AddressesInit& list, HostArray* array) {
  if (array->type != ElementType::kPtr) {
    return absl::InvalidArgumentError(
        Cat("addresses need the type ptr, not ", NameOf(array->type)));
  }
  if (list.addresses.size() != array->count) {
    return absl::InvalidArgumentError(
        Cat(list.addresses.size(), " addresses, expected ", array->count));
  }
  array->has_data = false;
  return absl::OkStatus();
}

absl::Status Generate(const FileInit&, HostArray*) {
  return absl::InternalError("files are read, not generated");
}

absl::StatusOr<HostArray> Generated(const BufferDef& def) {
  const auto bytes = ByteSize(*def.type, *def.count);
  if (!bytes.ok()) return bytes.status();
  HostArray array{.type = *def.type,
                  .count = *def.count,
                  .bytes = *bytes,
                  .data = {},
                  .has_data = true};
  const bool zero = std::holds_alternative<ZeroInit>(def.init);
  auto data = HostBytes::Uninitialized(zero ? 0 : *bytes);
  if (!data.ok()) return data.status();
  array.data = *std::move(data);
  auto status = std::visit(
      [&](const auto& init) { return Generate(init, &array); }, def.init);
  if (!status.ok()) return status;
  return array;
}

absl::StatusOr<HostArray> Make(const BufferDef& def) {
  if (const auto* file = std::get_if<FileInit>(&def.init)) {
    if (IsNpyPath(file->path)) return FromNpy(def, file->path);
    return FromRawFile(def, file->path);
  }
  return Generated(def);
}

}  // namespace

absl::StatusOr<HostArray> MakeHostArray(const BufferDef& def) {
  auto array = Make(def);
  if (!array.ok()) return Annotate(array.status(), Cat("'", def.name, "'"));
  return array;
}

absl::StatusOr<HostArray> MakeReference(const BufferDef& def) {
  auto array = MakeHostArray(def);
  if (!array.ok() || array->has_data) return array;
  auto data = HostBytes::Uninitialized(array->bytes);
  if (!data.ok()) return data.status();
  std::memset(data->data(), 0, data->size());
  array->data = *std::move(data);
  array->has_data = true;
  return array;
}

}  // namespace hetgpu::tools
