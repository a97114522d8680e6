#include "frontend/ptx/source_map.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace hetgpu::ptx {

SourceMap BuildSourceMap(const Module& module) {
  SourceMap map;
  std::unordered_map<uint32_t, uint32_t> index_of;  // by .file number
  for (const SourceFile& file : module.files) {
    if (!index_of.emplace(file.number, map.files.size()).second) continue;
    map.files.emplace_back(file.name);
  }
  for (const Function& function : module.functions) {
    if (!function.body) continue;
    const Body& body = *function.body;
    uint32_t current = kNone;
    for (const Instruction& inst : body.instructions) {
      if (inst.loc == current || inst.loc == kNone) continue;
      current = inst.loc;
      const LineInfo& info = body.locs[inst.loc];
      auto file = index_of.find(info.file);
      if (file == index_of.end()) continue;
      map.entries.push_back(
          {inst.location.line, file->second, info.line, info.column});
    }
  }
  std::stable_sort(map.entries.begin(), map.entries.end(),
                   [](const SourceMap::Entry& a, const SourceMap::Entry& b) {
                     return a.ptx_line < b.ptx_line;
                   });
  return map;
}

}  // namespace hetgpu::ptx
