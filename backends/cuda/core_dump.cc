#include "backends/cuda/core_dump.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cuda/elf_view.h"
#include "backends/cuda/line_table.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

using Section = ElfView::Section;

enum SectionType : uint32_t {
  kSymbols = 2,
  kCode = 0x80000007,  // of a module, relocated
  kMultiprocessors = 0x8000000b,
  kGrids = 0x8000000c,
  kBlocks = 0x8000000d,
  kWarps = 0x8000000e,
  kLanes = 0x8000000f,
};
constexpr uint8_t kFunctionSymbol = 2;

// Offsets of what is read of the rows.
namespace grid {
constexpr size_t kId = 0, kEntry = 24;
}
namespace multiprocessor {
constexpr size_t kException = 8, kHasErrorPc = 12, kErrorPc = 16;
}
namespace block {
constexpr size_t kGrid = 0, kIndex = 8;
}
namespace warp {
constexpr size_t kErrorPc = 0, kActive = 16, kIsStopped = 20, kHasErrorPc = 24;
}
namespace lane {
constexpr size_t kPc = 0, kNumber = 16, kThread = 20, kException = 32;
}
namespace symbol {
constexpr size_t kName = 0, kInfo = 4, kValue = 8, kSize = 16;
}

Dim3 IndexAt(std::string_view row, size_t offset) {
  return {NumberAt<uint32_t>(row, offset), NumberAt<uint32_t>(row, offset + 4),
          NumberAt<uint32_t>(row, offset + 8)};
}

// The code of the modules.
class Code {
 public:
  explicit Code(const ElfView& dump) {
    for (const Section& section : dump.sections()) {
      if (section.type != kCode) continue;
      auto image = ElfView::Open(section.content);
      if (image.ok()) images_.push_back(*std::move(image));
    }
  }

  // The function that the address lies in; "" for none.
  std::string FunctionAt(uint64_t address) const {
    for (const ElfView& image : images_) {
      for (const Section& section : image.sections()) {
        if (section.type != kSymbols) continue;
        const std::string name = FunctionAt(image, section, address);
        if (!name.empty()) return name;
      }
    }
    return "";
  }

  uint32_t LineAt(uint64_t address) const {
    for (const ElfView& image : images_) {
      const Section* const table = image.Named(".nv_debug_line_sass");
      const uint32_t line =
          table == nullptr ? 0 : LineOf(table->content, address);
      if (line != 0) return line;
    }
    return 0;
  }

 private:
  static std::string FunctionAt(const ElfView& image, const Section& symbols,
                                uint64_t address) {
    const Section* const names = image.At(symbols.link);
    if (names == nullptr) return "";
    for (size_t i = 0; i < symbols.rows(); ++i) {
      const std::string_view row = symbols.Row(i);
      const auto value = NumberAt<uint64_t>(row, symbol::kValue);
      const auto size = NumberAt<uint64_t>(row, symbol::kSize);
      const auto name = NumberAt<uint32_t>(row, symbol::kName);
      if ((NumberAt<uint8_t>(row, symbol::kInfo) & 0xf) != kFunctionSymbol ||
          address < value || address - value >= size ||
          name >= names->content.size()) {
        continue;
      }
      const std::string_view rest = names->content.substr(name);
      return std::string(rest.substr(0, rest.find('\0')));
    }
    return "";
  }

  std::vector<ElfView> images_;
};

// How sure a lane is the one that failed, upwards.
enum class Evidence { kNone, kWarpStopped, kWarpError, kLaneException };

struct Candidate {
  Evidence evidence = Evidence::kNone;
  std::string_view block, lane;
  uint64_t pc = 0;
};

// `lanes` is the table of a warp.
Candidate LookAt(const ElfView& dump, const Section& lanes) {
  Candidate candidate;
  const Section* const warps = dump.At(lanes.link);
  const Section* const blocks = warps ? dump.At(warps->link) : nullptr;
  if (blocks == nullptr || warps->type != kWarps || blocks->type != kBlocks) {
    return candidate;
  }
  const std::string_view warp = warps->Row(lanes.info);
  candidate.block = blocks->Row(warps->info);
  const bool has_pc = NumberAt<uint32_t>(warp, warp::kHasErrorPc) != 0;
  const Evidence of_warp =
      has_pc ? Evidence::kWarpError
      : NumberAt<uint32_t>(warp, warp::kIsStopped) != 0 ? Evidence::kWarpStopped
                                                        : Evidence::kNone;
  const auto active = NumberAt<uint32_t>(warp, warp::kActive);
  for (size_t i = 0; i < lanes.rows(); ++i) {
    const std::string_view row = lanes.Row(i);
    const auto number = NumberAt<uint32_t>(row, lane::kNumber) % 32;
    const bool failed = NumberAt<uint32_t>(row, lane::kException) != 0;
    const Evidence evidence = failed ? Evidence::kLaneException
                              : (active >> number & 1) != 0 ? of_warp
                                                            : Evidence::kNone;
    if (evidence <= candidate.evidence) continue;
    candidate.evidence = evidence;
    candidate.lane = row;
    candidate.pc = has_pc ? NumberAt<uint64_t>(warp, warp::kErrorPc)
                          : NumberAt<uint64_t>(row, lane::kPc);
  }
  return candidate;
}

uint64_t EntryOf(const ElfView& dump, uint64_t grid) {
  for (const Section& section : dump.sections()) {
    if (section.type != kGrids) continue;
    for (size_t i = 0; i < section.rows(); ++i) {
      const std::string_view row = section.Row(i);
      if (NumberAt<uint64_t>(row, grid::kId) == grid) {
        return NumberAt<uint64_t>(row, grid::kEntry);
      }
    }
  }
  return 0;
}

FaultSite SiteOf(const ElfView& dump, const Candidate& candidate) {
  const Code code(dump);
  FaultSite site;
  site.has_thread = true;
  site.block = IndexAt(candidate.block, block::kIndex);
  site.thread = IndexAt(candidate.lane, lane::kThread);
  site.kernel = code.FunctionAt(
      EntryOf(dump, NumberAt<uint64_t>(candidate.block, block::kGrid)));
  site.line = code.LineAt(candidate.pc);
  return site;
}

// What a multiprocessor remembers of a warp that is gone.
absl::StatusOr<FaultSite> FindExitedFault(const ElfView& dump) {
  for (const Section& section : dump.sections()) {
    if (section.type != kMultiprocessors) continue;
    for (size_t i = 0; i < section.rows(); ++i) {
      const std::string_view row = section.Row(i);
      if (NumberAt<uint32_t>(row, multiprocessor::kException) == 0 ||
          NumberAt<uint32_t>(row, multiprocessor::kHasErrorPc) == 0) {
        continue;
      }
      const auto pc = NumberAt<uint64_t>(row, multiprocessor::kErrorPc);
      const Code code(dump);
      FaultSite site;
      site.kernel = code.FunctionAt(pc);
      site.line = code.LineAt(pc);
      return site;
    }
  }
  return absl::NotFoundError("no thread failed in the core dump");
}

// The folder of this process's dump; "" = not enabled.
std::string& Folder() {
  static auto* const folder = new std::string;
  return *folder;
}

std::string DumpPath() { return Folder() + "/core"; }

// Empty folders of processes that did not fail.
void RemoveFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(Folder(), ignored);
}

absl::Status MakeFolder() {
  std::error_code error;
  const std::filesystem::path base =
      std::filesystem::temp_directory_path(error);
  std::string name = (base / "hetgpu-core-XXXXXX").string();
  if (error || mkdtemp(name.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat(
        "cuda: HETGPU_CUDA_COREDUMP: no folder can be made at ", name));
  }
  Folder() = std::move(name);
  std::atexit(RemoveFolder);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<FaultSite> FindFault(std::string_view dump) {
  const absl::StatusOr<ElfView> view = ElfView::Open(dump);
  if (!view.ok()) return view.status();
  Candidate best;
  for (const Section& section : view->sections()) {
    if (section.type != kLanes) continue;
    const Candidate candidate = LookAt(*view, section);
    if (candidate.evidence > best.evidence) best = candidate;
  }
  if (best.evidence == Evidence::kNone) return FindExitedFault(*view);
  return SiteOf(*view, best);
}

absl::Status EnableCoreDumps(const Library& library) {
  const char* const given = std::getenv("HETGPU_CUDA_COREDUMP");
  const std::string_view value = given == nullptr ? "" : given;
  if (value.empty() || value == "0") return absl::OkStatus();
  if (value != "1") {
    return absl::InvalidArgumentError(absl::StrCat(
        "HETGPU_CUDA_COREDUMP is \"", given, "\", expected 0 or 1"));
  }
  if (library.CoredumpSetAttributeGlobal == nullptr) {
    return absl::UnimplementedError(
        "cuda: HETGPU_CUDA_COREDUMP: this driver's core dumps cannot be set by "
        "calls");
  }
  const absl::Status made = MakeFolder();
  if (!made.ok()) return made;
  std::string path = DumpPath();
  size_t bytes = path.size() + 1;
  HETGPU_CUDA_RETURN_IF_ERROR(library, CoredumpSetAttributeGlobal,
                              (CU_COREDUMP_FILE, path.data(), &bytes));
  unsigned flags = kCoredumpLightweight | kCoredumpSkipAbort;
  bytes = sizeof(flags);
  HETGPU_CUDA_RETURN_IF_ERROR(library, CoredumpSetAttributeGlobal,
                              (CU_COREDUMP_GENERATION_FLAGS, &flags, &bytes));
  bool enabled = true;
  bytes = sizeof(enabled);
  HETGPU_CUDA_RETURN_IF_ERROR(
      library, CoredumpSetAttributeGlobal,
      (CU_COREDUMP_ENABLE_ON_EXCEPTION, &enabled, &bytes));
  return absl::OkStatus();
}

bool CoreDumpsEnabled() { return !Folder().empty(); }

absl::StatusOr<FaultSite> TakeCoreDump() {
  std::ifstream file(DumpPath(), std::ios::binary);
  if (!file) return absl::NotFoundError("the driver wrote no core dump");
  std::ostringstream content;
  content << file.rdbuf();
  std::error_code ignored;
  std::filesystem::remove(DumpPath(), ignored);
  return FindFault(content.str());
}

}  // namespace hetgpu::cuda
