#include "hetir/container/manifest.h"

#include <cstdint>
#include <string>
#include <vector>

#include "hetir/container/bytes.h"

namespace hetgpu {
namespace {

constexpr uint64_t kMaxDataBytes = uint64_t{1} << 40;
constexpr uint32_t kMinRecordBytes = 4;  // its length

absl::Status Damaged(const std::string& what) {
  return absl::DataLossError("manifest: " + what);
}

bool IsPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

bool Inside(uint64_t offset, uint64_t size, uint64_t limit) {
  return offset <= limit && size <= limit - offset;
}

// --- Writing ---

void WriteStatus(ByteWriter& out, const absl::Status& status) {
  out.U32(static_cast<uint32_t>(status.code()));
  out.String({status.message().data(), status.message().size()});
}

void WriteParam(ByteWriter& out, const ParamInfo& param) {
  out.String(param.name);
  out.U32(param.offset);
  out.U32(param.size);
  out.U32(param.align);
  out.U8(static_cast<uint8_t>(param.type));
  out.U8(param.is_array);
  out.U8(param.is_pointer);
}

uint8_t Bits(bool first, bool second, bool third = false) {
  return static_cast<uint8_t>(first | second << 1 | third << 2);
}

void WriteAccess(ByteWriter& out, const AccessSummary& access) {
  out.U8(Bits(access.is_known, access.reads_unknown, access.writes_unknown));
  out.U32(static_cast<uint32_t>(access.pointers.size()));
  for (const PointerAccess& pointer : access.pointers) {
    out.U32(pointer.offset);
    out.U8(Bits(pointer.reads, pointer.writes));
  }
}

void WriteKernel(ByteWriter& out, const KernelInfo& kernel) {
  out.String(kernel.name);
  out.U32(kernel.param_bytes);
  out.U32(kernel.static_shared_bytes);
  out.U32(kernel.dynamic_shared_offset);
  out.U8(kernel.uses_dynamic_shared);
  out.U32(kernel.local_bytes);
  for (uint32_t threads : kernel.max_threads) out.U32(threads);
  for (uint32_t threads : kernel.required_threads) out.U32(threads);
  out.U32(kernel.line);
  WriteStatus(out, kernel.refusal);
  out.U32(static_cast<uint32_t>(kernel.params.size()));
  for (const ParamInfo& param : kernel.params) {
    out.Record([&](ByteWriter& record) { WriteParam(record, param); });
  }
  WriteAccess(out, kernel.access);
}

void WriteSymbol(ByteWriter& out, const SymbolInfo& symbol) {
  out.String(symbol.name);
  out.U8(static_cast<uint8_t>(symbol.space));
  out.U64(symbol.offset);
  out.U64(symbol.size);
  out.U32(symbol.align);
  out.U8(static_cast<uint8_t>(symbol.type));
}

void WriteRelocation(ByteWriter& out, const Relocation& relocation) {
  out.U64(relocation.offset);
  out.U8(static_cast<uint8_t>(relocation.kind));
  out.U64(static_cast<uint64_t>(relocation.addend));
  out.String(relocation.function);
}

// --- Reading ---

absl::Status ReadStatus(ByteReader& in) {
  uint32_t code = in.U32();
  std::string message(in.String());
  if (code == 0) return absl::OkStatus();
  bool known =
      code <= static_cast<uint32_t>(absl::StatusCode::kUnauthenticated);
  return absl::Status(known ? static_cast<absl::StatusCode>(code)
                            : absl::StatusCode::kUnknown,
                      message);
}

bool ReadType(ByteReader& in, ScalarType* type) {
  uint8_t value = in.U8();
  if (value > static_cast<uint8_t>(ScalarType::kF64)) return false;
  *type = static_cast<ScalarType>(value);
  return true;
}

absl::Status ReadParam(ByteReader in, const KernelInfo& kernel,
                       ParamInfo* param) {
  param->name = in.String();
  param->offset = in.U32();
  param->size = in.U32();
  param->align = in.U32();
  bool known = ReadType(in, &param->type);
  param->is_array = in.U8() != 0;
  param->is_pointer = in.U8() != 0;
  if (!in.ok()) return Damaged("a parameter is cut short");
  if (!known || !IsPowerOfTwo(param->align) ||
      !Inside(param->offset, param->size, kernel.param_bytes)) {
    return Damaged("kernel '" + kernel.name + "': parameter '" + param->name +
                   "' does not fit in the parameter block");
  }
  return absl::OkStatus();
}

void ReadAccess(ByteReader& in, AccessSummary* access) {
  constexpr uint32_t kPointerBytes = 5;
  const uint8_t bits = in.U8();
  access->is_known = (bits & 1) != 0;
  access->reads_unknown = (bits & 2) != 0;
  access->writes_unknown = (bits & 4) != 0;
  const uint32_t pointers = in.Count(kPointerBytes);
  for (uint32_t i = 0; i < pointers; ++i) {
    PointerAccess pointer;
    pointer.offset = in.U32();
    const uint8_t kinds = in.U8();
    pointer.reads = (kinds & 1) != 0;
    pointer.writes = (kinds & 2) != 0;
    access->pointers.push_back(pointer);
  }
}

absl::Status ReadKernel(ByteReader in, KernelInfo* kernel) {
  kernel->name = in.String();
  kernel->param_bytes = in.U32();
  kernel->static_shared_bytes = in.U32();
  kernel->dynamic_shared_offset = in.U32();
  kernel->uses_dynamic_shared = in.U8() != 0;
  kernel->local_bytes = in.U32();
  for (uint32_t& threads : kernel->max_threads) threads = in.U32();
  for (uint32_t& threads : kernel->required_threads) threads = in.U32();
  kernel->line = in.U32();
  kernel->refusal = ReadStatus(in);
  uint32_t params = in.Count(kMinRecordBytes);
  for (uint32_t i = 0; i < params && in.ok(); ++i) {
    absl::Status status =
        ReadParam(in.Record(), *kernel, &kernel->params.emplace_back());
    if (!status.ok()) return status;
  }
  ReadAccess(in, &kernel->access);
  if (!in.ok() || kernel->name.empty()) {
    return Damaged("a kernel is cut short");
  }
  if (kernel->dynamic_shared_offset < kernel->static_shared_bytes) {
    return Damaged("kernel '" + kernel->name +
                   "': dynamic shared memory begins inside the static part");
  }
  return absl::OkStatus();
}

absl::Status ReadSymbol(ByteReader in, uint64_t data_size, SymbolInfo* symbol) {
  symbol->name = in.String();
  uint8_t space = in.U8();
  symbol->offset = in.U64();
  symbol->size = in.U64();
  symbol->align = in.U32();
  bool known = ReadType(in, &symbol->type);
  if (!in.ok()) return Damaged("a symbol is cut short");
  symbol->space = static_cast<AddressSpace>(space);
  bool data = symbol->space == AddressSpace::kGlobal ||
              symbol->space == AddressSpace::kConst;
  if (!known || !data || !IsPowerOfTwo(symbol->align) ||
      !Inside(symbol->offset, symbol->size, data_size)) {
    return Damaged("symbol '" + symbol->name +
                   "' does not fit in the module's data");
  }
  return absl::OkStatus();
}

absl::Status ReadRelocation(ByteReader in, uint64_t data_size,
                            Relocation* relocation) {
  relocation->offset = in.U64();
  uint8_t kind = in.U8();
  relocation->addend = static_cast<int64_t>(in.U64());
  relocation->function = in.String();
  if (!in.ok() || kind > static_cast<uint8_t>(Relocation::Kind::kFunction) ||
      !Inside(relocation->offset, sizeof(uint64_t), data_size)) {
    return Damaged("a relocation does not fit in the module's data");
  }
  relocation->kind = static_cast<Relocation::Kind>(kind);
  return absl::OkStatus();
}

// Reads a counted list of records into `items`.
template <typename Item, typename Read>
absl::Status ReadList(ByteReader& in, std::vector<Item>* items, Read read) {
  uint32_t count = in.Count(kMinRecordBytes);
  for (uint32_t i = 0; i < count && in.ok(); ++i) {
    absl::Status status = read(in.Record(), &items->emplace_back());
    if (!status.ok()) return status;
  }
  return in.ok() ? absl::OkStatus() : Damaged("a list is cut short");
}

}  // namespace

std::string EncodeManifest(const ModuleInfo& info) {
  ByteWriter out;
  out.Record([&](ByteWriter& record) {
    record.String(info.name);
    record.U32(info.ptx_version);
    record.String(info.target);
    record.U64(info.data_size);
    record.U32(info.data_align);
  });
  out.U32(static_cast<uint32_t>(info.kernels.size()));
  for (const KernelInfo& kernel : info.kernels) {
    out.Record([&](ByteWriter& record) { WriteKernel(record, kernel); });
  }
  out.U32(static_cast<uint32_t>(info.symbols.size()));
  for (const SymbolInfo& symbol : info.symbols) {
    out.Record([&](ByteWriter& record) { WriteSymbol(record, symbol); });
  }
  out.U32(static_cast<uint32_t>(info.relocations.size()));
  for (const Relocation& relocation : info.relocations) {
    out.Record(
        [&](ByteWriter& record) { WriteRelocation(record, relocation); });
  }
  return out.Take();
}

absl::StatusOr<ModuleInfo> DecodeManifest(std::string_view bytes,
                                          std::string_view data_init) {
  ByteReader in(bytes);
  ModuleInfo info;
  ByteReader head = in.Record();
  info.name = head.String();
  info.ptx_version = head.U32();
  info.target = head.String();
  info.data_size = head.U64();
  info.data_align = head.U32();
  if (!in.ok() || !head.ok()) return Damaged("the module is cut short");
  if (info.data_size > kMaxDataBytes || data_init.size() > info.data_size ||
      !IsPowerOfTwo(info.data_align)) {
    return Damaged("size or alignment of the module's data");
  }
  info.data_init = data_init;
  absl::Status status = ReadList(in, &info.kernels, ReadKernel);
  if (!status.ok()) return status;
  status = ReadList(in, &info.symbols,
                    [&info](ByteReader record, SymbolInfo* symbol) {
                      return ReadSymbol(record, info.data_size, symbol);
                    });
  if (!status.ok()) return status;
  status = ReadList(in, &info.relocations,
                    [&info](ByteReader record, Relocation* relocation) {
                      return ReadRelocation(record, info.data_size, relocation);
                    });
  if (!status.ok()) return status;
  return info;
}

}  // namespace hetgpu
