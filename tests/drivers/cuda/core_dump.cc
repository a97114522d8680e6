#include "tests/drivers/cuda/core_dump.h"

#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

constexpr uint64_t kEntry = 0x7f0000001000;
constexpr uint64_t kCodeBytes = 0x200;
constexpr uint64_t kFailing = kEntry + 0x90;
constexpr uint64_t kGridId = 7;
constexpr size_t kElfHeader = 64;

struct Section {
  std::string name;
  uint32_t type = 0;
  uint32_t link = 0, info = 0;
  uint64_t row_bytes = 0;
  std::string content;
};

template <typename T>
void Put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}
std::string Words(std::initializer_list<uint32_t> words) {
  std::string out;
  for (const uint32_t word : words) Put(out, word);
  return out;
}
std::string Longs(std::initializer_list<uint64_t> longs) {
  std::string out;
  for (const uint64_t value : longs) Put(out, value);
  return out;
}
void PutUnsigned(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void PutSigned(std::string& out, int64_t value) {
  for (; value < -64 || value > 63; value >>= 7) {
    out += static_cast<char>(value | 0x80);
  }
  out += static_cast<char>(value & 0x7f);
}

// Contents, then the headers; the last section holds the names.
std::string Elf(std::vector<Section> sections) {
  std::string names(1, '\0'), contents, headers;
  sections.insert(sections.begin(), Section{});
  sections.push_back({".shstrtab", 3, 0, 0, 0, ""});
  for (size_t i = 0; i < sections.size(); ++i) {
    Section& section = sections[i];
    const auto name = static_cast<uint32_t>(names.size());
    names += section.name + '\0';
    if (i + 1 == sections.size()) section.content = names;
    headers += Words({name, section.type}) +
               Longs({0, 0, kElfHeader + contents.size(),
                      section.content.size()}) +
               Words({section.link, section.info}) +
               Longs({1, section.row_bytes});
    contents += section.content;
  }
  std::string file("\x7f" "ELF\x02\x01\x01", 7);
  file.resize(16);
  file += Words({0x00be0004, 1}) + Longs({0, 0, kElfHeader + contents.size()});
  file += Words({0, 64, 64u << 16});
  file.resize(60);
  Put(file, static_cast<uint16_t>(sections.size()));
  Put(file, static_cast<uint16_t>(sections.size() - 1));
  return file + contents + headers;
}

// Of one sequence: line 1 at the entry, `line` where the failure is.
std::string LineTable(uint32_t line) {
  std::string program;
  program += std::string("\0\x09\x02", 3);
  Put(program, kEntry);
  program += "\x01";      // line 1 from here on
  program += "\x02";      // forward to the failure
  PutUnsigned(program, kFailing - kEntry);
  program += "\x03";
  PutSigned(program, int64_t{line} - 1);
  program += "\x01\x02";
  PutUnsigned(program, kCodeBytes - (kFailing - kEntry));
  program += std::string("\0\x01\x01", 3);
  std::string header("\x01\x01\xfb\x0e\x0a\x00\x01\x01\x01\x01\x00\x00\x00\x01",
                     14);
  header += std::string(2, '\0');  // no folders, no files
  std::string unit;
  Put(unit, uint16_t{2});
  Put(unit, static_cast<uint32_t>(header.size()));
  unit += header + program;
  std::string table;
  Put(table, static_cast<uint32_t>(unit.size()));
  return table + unit;
}

std::string Code(const LaunchError& error, bool line_info) {
  std::string symbols(24, '\0');
  symbols += Words({1, 0x12}) + Longs({kEntry, kCodeBytes});
  std::vector<Section> sections = {
      {".strtab", 3, 0, 0, 0, std::string(1, '\0') + error.kernel + '\0'},
      {".symtab", 2, 1, 0, 24, std::move(symbols)}};
  if (line_info) {
    sections.push_back(
        {".nv_debug_line_sass", 1, 0, 0, 0, LineTable(error.line)});
  }
  return Elf(std::move(sections));
}

std::string Lane(uint32_t number, const Dim3& thread) {
  return Longs({kFailing, kFailing - kEntry}) +
         Words({number, thread.x, thread.y, thread.z, 0, 0, 0, 0, 0, 0});
}

}  // namespace

std::string CoreDump(const LaunchError& error, bool line_info) {
  const uint32_t number = error.thread.x % 32;
  const uint32_t other = (number + 1) % 32;
  Dim3 neighbour = error.thread;
  neighbour.x += other - number;
  const uint32_t valid = 1u << number | 1u << other;
  std::string grid = Longs({kGridId, 0, 0, kEntry, 0, 0, 0});
  grid.resize(136);
  std::string block = Longs({kGridId}) +
                      Words({error.block.x, error.block.y, error.block.z});
  block.resize(56);
  std::string warp =
      Longs({0}) + Words({0, valid, 1u << number, /*stopped*/ 1, 0, 0});
  warp.resize(64);
  std::string lanes = other < number
                          ? Lane(other, neighbour) + Lane(number, error.thread)
                          : Lane(number, error.thread) + Lane(other, neighbour);
  std::string multiprocessor(48, '\0');
  return Elf({{".cudbg.relfimg", 0x80000007, 0, 0, 0, Code(error, line_info)},
              {".cudbg.gridtbl", 0x8000000c, 0, 0, 136, grid},
              {".cudbg.smtbl", 0x8000000b, 0, 0, 48, multiprocessor},
              {".cudbg.ctatbl", 0x8000000d, 3, 0, 56, block},
              {".cudbg.wptbl", 0x8000000e, 4, 0, 64, warp},
              {".cudbg.lntbl", 0x8000000f, 5, 0, 56, lanes}});
}

void WriteCoreDump(const LaunchError& error, bool line_info) {
  std::lock_guard<std::mutex> lock(Get().mutex);
  if (!Get().dumps) return;
  std::ofstream(Get().dump_path, std::ios::binary)
      << CoreDump(error, line_info);
}

CUresult CoredumpSetAttributeGlobal(int which, void* value, size_t* bytes) {
  std::lock_guard<std::mutex> lock(Get().mutex);
  if (which == CU_COREDUMP_FILE) {
    Get().dump_path = static_cast<const char*>(value);
    if (*bytes != Get().dump_path.size() + 1) {
      return Misuse("cuCoredumpSetAttributeGlobal");
    }
  } else if (which == CU_COREDUMP_ENABLE_ON_EXCEPTION) {
    // The driver sets contexts up for it when it makes them.
    if (*bytes != sizeof(bool) || !Get().contexts.empty()) {
      return Misuse("cuCoredumpSetAttributeGlobal");
    }
    Get().dumps = *static_cast<bool*>(value);
  } else if (which != CU_COREDUMP_GENERATION_FLAGS ||
             *bytes != sizeof(unsigned)) {
    return Misuse("cuCoredumpSetAttributeGlobal");
  }
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake
