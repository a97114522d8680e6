#include "backends/cpu/transfer.h"

#include <algorithm>
#include <cstring>

namespace hetgpu::cpu {
namespace {

// Of a block: long enough to hide what a block costs, short enough to share.
constexpr uint64_t kBlockBytes = uint64_t{1} << 20;

struct CopyParams {
  uint64_t dst, src, bytes;
  uint64_t block_bytes;
};

struct FillParams {
  uint64_t dst, pattern, count;
  uint64_t block_count;
  uint32_t pattern_bytes;
};

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

void CopyBlock(BlockContext* block, uint32_t, uint32_t) {
  const auto& params = *reinterpret_cast<const CopyParams*>(block->params);
  const uint64_t first = block->ctaid[0] * params.block_bytes;
  std::memmove(Pointer(params.dst + first), Pointer(params.src + first),
               std::min(params.block_bytes, params.bytes - first));
}

template <typename T>
void Fill(const FillParams& params, uint64_t first, uint64_t count) {
  std::fill_n(static_cast<T*>(Pointer(params.dst)) + first, count,
              static_cast<T>(params.pattern));
}

void FillBlock(BlockContext* block, uint32_t, uint32_t) {
  const auto& params = *reinterpret_cast<const FillParams*>(block->params);
  const uint64_t first = block->ctaid[0] * params.block_count;
  const uint64_t count = std::min(params.block_count, params.count - first);
  switch (params.pattern_bytes) {
    case 1:
      return Fill<uint8_t>(params, first, count);
    case 2:
      return Fill<uint16_t>(params, first, count);
    case 4:
      return Fill<uint32_t>(params, first, count);
    default:
      return Fill<uint64_t>(params, first, count);
  }
}

KernelCode BuiltIn(const char* name, Entry entry) {
  KernelCode code;
  code.name = name;
  code.entry = entry;
  return code;
}

template <typename Params>
std::string BytesOf(const Params& params) {
  return {reinterpret_cast<const char*>(&params), sizeof(params)};
}

bool Overlap(uint64_t dst, uint64_t src, uint64_t bytes) {
  return dst < src + bytes && src < dst + bytes;
}

}  // namespace

Transfer MakeCopy(uint64_t dst, uint64_t src, uint64_t bytes) {
  static const KernelCode kCode = BuiltIn("copy", CopyBlock);
  CopyParams params = {dst, src, bytes, kBlockBytes};
  // Only one block sees to the order that overlapping ranges need.
  if (Overlap(dst, src, bytes)) params.block_bytes = bytes;
  const uint64_t blocks = (bytes + params.block_bytes - 1) / params.block_bytes;
  return {&kCode, BytesOf(params), static_cast<uint32_t>(blocks)};
}

Transfer MakeFill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                  uint64_t count) {
  static const KernelCode kCode = BuiltIn("fill", FillBlock);
  const FillParams params = {dst, pattern, count, kBlockBytes / pattern_bytes,
                             pattern_bytes};
  const uint64_t blocks = (count + params.block_count - 1) / params.block_count;
  return {&kCode, BytesOf(params), static_cast<uint32_t>(blocks)};
}

}  // namespace hetgpu::cpu
