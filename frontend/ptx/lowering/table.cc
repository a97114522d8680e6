#include "frontend/ptx/lowering/table.h"

#include <vector>

namespace hetgpu::ptx {
namespace {

using RowSource = std::span<const LoweringRow> (*)();

constexpr RowSource kSources[] = {
    ArithmeticRows, IntegerRows, FloatRows,  LogicRows,   CompareRows,
    ConvertRows,    MoveRows,    MemoryRows, AtomicRows,  AsyncCopyRows,
    ControlRows,    CallRows,    SyncRows,   WarpRows,
    MbarrierRows,   BulkCopyRows, MmaRows,   MatrixMemoryRows,
    VideoRows,
};

std::vector<const LoweringRow*> IndexRows() {
  std::vector<const LoweringRow*> index;
  for (RowSource source : kSources) {
    for (const LoweringRow& row : source()) {
      size_t op = static_cast<size_t>(row.op);
      if (index.size() <= op) index.resize(op + 1, nullptr);
      index[op] = &row;
    }
  }
  return index;
}

}  // namespace

const LoweringRow* FindRow(Op op) {
  static const auto* const index =
      new std::vector<const LoweringRow*>(IndexRows());
  size_t i = static_cast<size_t>(op);
  return i < index->size() ? (*index)[i] : nullptr;
}

}  // namespace hetgpu::ptx
