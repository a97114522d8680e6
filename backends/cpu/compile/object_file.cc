#include "backends/cpu/compile/object_file.h"

#include <algorithm>

#include "backends/llvm_ir/emit.h"
#include "llvm/DebugInfo/DWARF/DWARFContext.h"
#include "llvm/Support/DataExtractor.h"

namespace hetgpu::cpu {

std::vector<LineRecord> ReadLines(const ElfObject& object) {
  std::unique_ptr<llvm::DWARFContext> context =
      llvm::DWARFContext::create(object);
  std::vector<LineRecord> records;
  for (const auto& unit : context->compile_units()) {
    const llvm::DWARFDebugLine::LineTable* table =
        context->getLineTableForUnit(unit.get());
    if (!table) continue;
    for (const llvm::DWARFDebugLine::Row& row : table->Rows) {
      records.push_back({static_cast<uint32_t>(row.Address.Address),
                         row.EndSequence ? 0 : row.Line,
                         row.EndSequence ? uint16_t{0} : row.Column});
    }
  }
  // The last row of an address is the one that counts.
  std::stable_sort(records.begin(), records.end(),
                   [](const LineRecord& a, const LineRecord& b) {
                     return a.code_offset < b.code_offset;
                   });
  std::vector<LineRecord> merged;
  for (const LineRecord& record : records) {
    if (!merged.empty() && merged.back().code_offset == record.code_offset) {
      merged.pop_back();
    }
    if (!merged.empty() && merged.back().line == record.line &&
        merged.back().site == record.site) {
      continue;
    }
    merged.push_back(record);
  }
  return merged;
}

// Functions besides the entry that call nothing but each other, once.
uint32_t CountShared(const ElfObject& object) {
  uint32_t count = 0;
  for (const llvm::object::ELFSymbolRef& symbol : object.symbols()) {
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    count += symbol.getELFType() == llvm::ELF::STT_FUNC &&
             name->starts_with(llvm_ir::kSharedPrefix);
  }
  return count;
}

// One function is left when all others were inlined, besides those that are
// shared and do not recur: the sum of all frames is enough.
uint32_t ReadStackBytes(const ElfObject& object) {
  uint32_t functions = 0;
  uint64_t bytes = 0;
  for (const llvm::object::SectionRef& section : object.sections()) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name != ".stack_sizes") continue;
    llvm::Expected<llvm::StringRef> content = section.getContents();
    if (!content) {
      llvm::consumeError(content.takeError());
      return 0;
    }
    llvm::DataExtractor data(*content, true, 8);
    uint64_t offset = 0;
    while (offset + 8 < content->size()) {
      data.getU64(&offset);
      bytes += data.getULEB128(&offset);
      ++functions;
    }
  }
  constexpr uint64_t kReturnAddress = 8;
  bytes += functions * kReturnAddress;
  const bool known = functions == CountShared(object) + 1;
  return known && bytes <= UINT32_MAX ? bytes : 0;
}

}  // namespace hetgpu::cpu
