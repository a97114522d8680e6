// Which function lowers which PTX operation.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_TABLE_H_
#define HETGPU_FRONTEND_PTX_LOWERING_TABLE_H_

#include <span>

#include "frontend/ptx/opcode.h"

namespace hetgpu::ptx {

class Lowering;

enum class Effect : uint8_t {
  kPure,    // may run when the guard is false: the result is discarded
  kEffect,  // must not run when the guard is false
  kBranch,  // reads the guard itself
};

struct LoweringRow {
  Op op;
  Effect effect;
  void (*lower)(Lowering&);
};

// The row of `op`; null when hetIR has nothing for it.
const LoweringRow* FindRow(Op op);

// One list per category file.
std::span<const LoweringRow> IntegerRows();
std::span<const LoweringRow> VideoRows();
std::span<const LoweringRow> ArithmeticRows();  // integer or float
std::span<const LoweringRow> FloatRows();
std::span<const LoweringRow> LogicRows();
std::span<const LoweringRow> CompareRows();
std::span<const LoweringRow> ConvertRows();
std::span<const LoweringRow> MoveRows();
std::span<const LoweringRow> MemoryRows();
std::span<const LoweringRow> AtomicRows();
std::span<const LoweringRow> AsyncCopyRows();
std::span<const LoweringRow> ControlRows();
std::span<const LoweringRow> CallRows();
std::span<const LoweringRow> SyncRows();
std::span<const LoweringRow> WarpRows();
std::span<const LoweringRow> MbarrierRows();
std::span<const LoweringRow> BulkCopyRows();
std::span<const LoweringRow> MmaRows();
std::span<const LoweringRow> MatrixMemoryRows();

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_TABLE_H_
