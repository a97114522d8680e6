#include "backends/cpu/compile/link.h"

#include <cstring>
#include <map>
#include <optional>

#include "backends/cpu/compile/object_file.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

namespace hetgpu::cpu {
namespace {

namespace ELF = llvm::ELF;
using llvm::object::ELF64LE;
using llvm::support::endian::write32le;
using llvm::support::endian::write64le;

constexpr const char* kImports[] = {
#define HETGPU_CPU_IMPORT_NAME(name) #name,
    HETGPU_CPU_IMPORTS(HETGPU_CPU_IMPORT_NAME)
#undef HETGPU_CPU_IMPORT_NAME
};

constexpr uint8_t kStub[] = {0xff, 0x25, 0, 0, 0, 0, 0xcc, 0xcc};

std::optional<uint32_t> ImportIndex(llvm::StringRef name) {
  for (uint32_t i = 0; i < std::size(kImports); ++i) {
    if (name == kImports[i]) return i;
  }
  return std::nullopt;
}

class Linker {
 public:
  explicit Linker(const ElfObject& object)
      : file_(object.getELFFile()) {}

  absl::Status Run();
  absl::StatusOr<uint64_t> AddressOf(llvm::StringRef symbol);

  std::string& code() { return code_; }
  const std::vector<ImportRecord>& imports() const { return imports_; }

 private:
  using Shdr = ELF64LE::Shdr;
  using Sym = ELF64LE::Sym;
  using Rela = ELF64LE::Rela;

  absl::Status Place();
  absl::Status PlaceSection(const Shdr& section, llvm::StringRef name);
  absl::Status CollectImports();
  absl::Status Relocate(const Shdr& section);
  absl::Status Apply(const Rela& relocation, uint64_t place);
  // Address of a symbol; of an imported function, its stub.
  absl::StatusOr<uint64_t> Resolve(const Sym& symbol);
  llvm::StringRef NameOf(const Sym& symbol);
  std::optional<uint64_t> SlotOf(const Sym& symbol);

  // The object was made by LLVM a moment ago: a structure that cannot be read
  // is a bug, reported as such.
  template <typename T>
  absl::Status Take(llvm::Expected<T> expected, T& value) {
    if (expected) {
      value = *expected;
      return absl::OkStatus();
    }
    return absl::InternalError("cpu: unreadable object: " +
                               llvm::toString(expected.takeError()));
  }

  struct Import {
    uint32_t function;
    uint64_t stub;
    uint64_t slot;
  };

  const llvm::object::ELFFile<ELF64LE>& file_;
  std::string code_;
  std::map<uint64_t, uint64_t> placed_;  // section index to offset in code_
  std::map<std::string, Import> import_of_;
  std::vector<ImportRecord> imports_;
  ELF64LE::SymRange symbols_;
  llvm::StringRef names_;
};

llvm::StringRef Linker::NameOf(const Sym& symbol) {
  llvm::Expected<llvm::StringRef> name = symbol.getName(names_);
  if (name) return *name;
  llvm::consumeError(name.takeError());
  return "";
}

absl::Status Linker::PlaceSection(const Shdr& section, llvm::StringRef name) {
  if (section.sh_flags & ELF::SHF_WRITE) {
    return absl::InternalError("cpu: the object has writable data in section " +
                               name.str());
  }
  llvm::ArrayRef<uint8_t> content;
  absl::Status status = Take(file_.getSectionContents(section), content);
  if (!status.ok()) return status;
  code_.resize(llvm::alignTo(code_.size(),
                             std::max<uint64_t>(section.sh_addralign, 1)),
               '\xcc');
  llvm::ArrayRef<Shdr> sections;
  status = Take(file_.sections(), sections);
  if (!status.ok()) return status;
  placed_[&section - sections.begin()] = code_.size();
  code_.append(reinterpret_cast<const char*>(content.data()), content.size());
  return absl::OkStatus();
}

// Text goes first so that line offsets are code offsets.
absl::Status Linker::Place() {
  llvm::ArrayRef<Shdr> sections;
  absl::Status status = Take(file_.sections(), sections);
  if (!status.ok()) return status;
  for (bool text : {true, false}) {
    for (const Shdr& section : sections) {
      bool is_text = section.sh_flags & ELF::SHF_EXECINSTR;
      if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_size == 0 ||
          is_text != text) {
        continue;
      }
      llvm::StringRef name;
      status = Take(file_.getSectionName(section), name);
      if (!status.ok()) return status;
      if (name == ".eh_frame") continue;  // nothing unwinds
      status = PlaceSection(section, name);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status Linker::CollectImports() {
  for (const Sym& symbol : symbols_) {
    llvm::StringRef name = NameOf(symbol);
    if (symbol.st_shndx != ELF::SHN_UNDEF || name.empty() ||
        name == "_GLOBAL_OFFSET_TABLE_") {
      continue;
    }
    std::optional<uint32_t> index = ImportIndex(name);
    if (!index) {
      return absl::UnimplementedError(
          "cpu: the code generator calls " + name.str() +
          ", which an image may not import");
    }
    import_of_[name.str()] = {*index, 0, 0};
  }
  for (auto& [name, import] : import_of_) {
    code_.resize(llvm::alignTo(code_.size(), 8), '\xcc');
    import.stub = code_.size();
    code_.append(reinterpret_cast<const char*>(kStub), sizeof(kStub));
  }
  for (auto& [name, import] : import_of_) {
    code_.resize(llvm::alignTo(code_.size(), 8), '\0');
    import.slot = code_.size();
    code_.append(8, '\0');
    write32le(code_.data() + import.stub + 2, import.slot - import.stub - 6);
    imports_.push_back({import.function, 0, import.slot});
  }
  return absl::OkStatus();
}

std::optional<uint64_t> Linker::SlotOf(const Sym& symbol) {
  auto found = import_of_.find(NameOf(symbol).str());
  if (symbol.st_shndx != ELF::SHN_UNDEF || found == import_of_.end()) {
    return std::nullopt;
  }
  return found->second.slot;
}

absl::StatusOr<uint64_t> Linker::Resolve(const Sym& symbol) {
  if (symbol.st_shndx == ELF::SHN_UNDEF) {
    auto found = import_of_.find(NameOf(symbol).str());
    if (found != import_of_.end()) return found->second.stub;
  }
  auto section = placed_.find(symbol.st_shndx);
  if (section == placed_.end()) {
    return absl::InternalError("cpu: symbol " + NameOf(symbol).str() +
                               " has no place in the code");
  }
  return section->second + symbol.st_value;
}

absl::StatusOr<uint64_t> Linker::AddressOf(llvm::StringRef name) {
  for (const Sym& symbol : symbols_) {
    if (NameOf(symbol) == name) return Resolve(symbol);
  }
  return absl::InternalError("cpu: the object lacks symbol " + name.str());
}

absl::Status Linker::Apply(const Rela& relocation, uint64_t place) {
  const Sym& symbol = symbols_[relocation.getSymbol(false)];
  uint32_t type = relocation.getType(false);
  char* at = code_.data() + place;
  uint64_t origin = relocation.r_addend - place;
  bool through_got = type == ELF::R_X86_64_GOTPCREL ||
                     type == ELF::R_X86_64_GOTPCRELX ||
                     type == ELF::R_X86_64_REX_GOTPCRELX;
  if (std::optional<uint64_t> slot = SlotOf(symbol); slot && through_got) {
    write32le(at, *slot + origin);
    return absl::OkStatus();
  }
  absl::StatusOr<uint64_t> target = Resolve(symbol);
  if (!target.ok()) return target.status();
  constexpr uint8_t kMov = 0x8b, kLea = 0x8d;
  if (through_got && static_cast<uint8_t>(at[-2]) == kMov) {
    at[-2] = static_cast<char>(kLea);  // the address is near: no load
    type = ELF::R_X86_64_PC32;
  }
  switch (type) {
    case ELF::R_X86_64_PC32:
    case ELF::R_X86_64_PLT32:
      write32le(at, *target + origin);
      return absl::OkStatus();
    case ELF::R_X86_64_PC64:
      write64le(at, *target + origin);
      return absl::OkStatus();
    default:
      return absl::InternalError(
          "cpu: relocation " +
          llvm::object::getELFRelocationTypeName(ELF::EM_X86_64, type).str() +
          " needs an absolute address");
  }
}

absl::Status Linker::Relocate(const Shdr& section) {
  auto placed = placed_.find(section.sh_info);
  if (section.sh_type != ELF::SHT_RELA || placed == placed_.end()) {
    return absl::OkStatus();
  }
  ELF64LE::RelaRange relocations;
  absl::Status status = Take(file_.relas(section), relocations);
  if (!status.ok()) return status;
  for (const Rela& relocation : relocations) {
    status = Apply(relocation, placed->second + relocation.r_offset);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Linker::Run() {
  llvm::ArrayRef<Shdr> sections;
  absl::Status status = Take(file_.sections(), sections);
  if (!status.ok()) return status;
  for (const Shdr& section : sections) {
    if (section.sh_type != ELF::SHT_SYMTAB) continue;
    status = Take(file_.symbols(&section), symbols_);
    if (!status.ok()) return status;
    status = Take(file_.getStringTableForSymtab(section), names_);
    if (!status.ok()) return status;
  }
  status = Place();
  if (!status.ok()) return status;
  status = CollectImports();
  for (const Shdr& section : sections) {
    if (status.ok()) status = Relocate(section);
  }
  return status;
}

template <typename T>
void AppendRecords(std::string& out, const std::vector<T>& records) {
  out.append(reinterpret_cast<const char*>(records.data()),
             records.size() * sizeof(T));
}

}  // namespace

absl::StatusOr<std::string> LinkImage(std::string_view bytes,
                                      const LinkOptions& options) {
  llvm::Expected<ElfObject> object = ElfObject::create(llvm::MemoryBufferRef(
      llvm::StringRef(bytes.data(), bytes.size()), "kernel"));
  if (!object) {
    return absl::InternalError("cpu: unreadable object: " +
                               llvm::toString(object.takeError()));
  }
  Linker linker(*object);
  absl::Status status = linker.Run();
  if (!status.ok()) return status;
  absl::StatusOr<uint64_t> entry = linker.AddressOf(options.entry);
  if (!entry.ok()) return entry.status();
  std::vector<LineRecord> lines = ReadLines(*object);

  ImageHeader header = {};
  std::memcpy(header.magic, "HETCPU\0\1", sizeof(header.magic));
  header.abi_version = kAbiVersion;
  header.lanes_per_unit = options.lanes;
  header.needs_fibers = options.needs_fibers;
  header.stack_bytes = ReadStackBytes(*object);
  header.import_count = linker.imports().size();
  header.line_count = lines.size();
  header.explanation_bytes = options.explanation.size();
  header.code_bytes = linker.code().size();
  header.entry_offset = *entry;

  std::string image(sizeof(header), '\0');
  AppendRecords(image, linker.imports());
  AppendRecords(image, lines);
  image += options.explanation;
  image.resize(llvm::alignTo(image.size(), 64), '\0');
  header.code_offset = image.size();
  std::memcpy(image.data(), &header, sizeof(header));
  return image + linker.code();
}

}  // namespace hetgpu::cpu
