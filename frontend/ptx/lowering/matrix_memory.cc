// ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements. Lane
// 8 j + r gives the address of row r of matrix j; lane 4 g + t holds the
// elements 2 t and 2 t + 1 of row g (of column g when transposed).
#include "frontend/ptx/lowering/matrix.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

struct Lane {
  Value group;  // lane / 4
  Value pair;   // lane % 4
};

Lane ThisLane(Lowering& l) {
  Value lane = LaneId(l);
  return {l.Create<arith::ShRUIOp>(lane, l.ConstantInt(32, 2)),
          l.Create<arith::AndIOp>(lane, l.ConstantInt(32, 3))};
}

Value Plus(Lowering& l, Value a, uint64_t b) {
  return l.Create<arith::AddIOp>(a, l.ConstantInt(32, b));
}

Value Times(Lowering& l, Value a, uint64_t b) {
  return l.Create<arith::MulIOp>(a, l.ConstantInt(32, b));
}

// Byte `column` of row `row` of matrix j, both of 32 bits.
Address RowAddress(Lowering& l, const Address& own, unsigned j, Value row,
                   Value column) {
  Value base = ReadLane(l, own.base, Plus(l, row, 8 * j));
  unsigned width = base.getType().getIntOrFloatBitWidth();
  Value place =
      l.Create<arith::AddIOp>(base, l.Resize(column, width, false));
  return {own.space, place, own.offset};
}

// Shared addresses have 32 significant bits: less to exchange.
Address OwnAddress(Lowering& l, const Operand& operand) {
  Address own = l.ReadAddress(operand, l.SpaceOf(l.mods().space));
  if (own.space == hetir::Space::shared) {
    own.base = l.Resize(own.base, 32, false);
  }
  return own;
}

bool IsPlain(Lowering& l) {
  bool plain =
      l.mods().shape == MatrixShape{8, 8, 0} && l.mods().type() == Type::kB16;
  if (!plain) l.Refuse("shapes other than m8n8 of b16");
  return plain;
}

void LowerLdmatrix(Lowering& l) {
  if (!IsPlain(l)) return;
  Address own = OwnAddress(l, l.operand(1));
  Lane lane = ThisLane(l);
  std::vector<Operand> targets = l.Elements(l.operand(0));
  Values loaded;
  for (unsigned j = 0; j < targets.size(); ++j) {
    if (!l.Has(Flag::kTrans)) {
      Address place =
          RowAddress(l, own, j, lane.group, Times(l, lane.pair, 4));
      loaded.push_back(l.Load(l.I32(), 1, place).front());
      continue;
    }
    Values halves;
    for (unsigned half = 0; half < 2; ++half) {
      Value row = Plus(l, Times(l, lane.pair, 2), half);
      Address place = RowAddress(l, own, j, row, Times(l, lane.group, 2));
      halves.push_back(l.Load(l.Int(16), 1, place).front());
    }
    loaded.push_back(l.Concat(halves));
  }
  for (size_t j = 0; j < targets.size(); ++j) {
    l.Write(targets[j], loaded[j], Type::kB32);
  }
}

void LowerStmatrix(Lowering& l) {
  if (!IsPlain(l)) return;
  Address own = OwnAddress(l, l.operand(0));
  Lane lane = ThisLane(l);
  std::vector<Operand> sources = l.Elements(l.operand(1));
  for (unsigned j = 0; j < sources.size(); ++j) {
    Value value = l.Read(sources[j], Type::kB32);
    if (!l.Has(Flag::kTrans)) {
      l.Store(value,
              RowAddress(l, own, j, lane.group, Times(l, lane.pair, 4)));
      continue;
    }
    for (unsigned half = 0; half < 2; ++half) {
      Value row = Plus(l, Times(l, lane.pair, 2), half);
      l.Store(l.Extract(value, half, l.Int(16)),
              RowAddress(l, own, j, row, Times(l, lane.group, 2)));
    }
  }
}

// Row g of the transpose is column g: its elements 2 t and 2 t + 1 come from
// rows 2 t and 2 t + 1, each in the half g % 2 of lane 4 row + g / 2.
void LowerMovmatrix(Lowering& l) {
  Value value = l.Read(1, Type::kB32);
  Lane lane = ThisLane(l);
  Value column = l.Create<arith::ShRUIOp>(lane.group, l.ConstantInt(32, 1));
  Value odd = l.Create<arith::AndIOp>(lane.group, l.ConstantInt(32, 1));
  Value shift = Times(l, odd, 16);
  Values halves;
  for (unsigned half = 0; half < 2; ++half) {
    Value row = Plus(l, Times(l, lane.pair, 2), half);
    Value source = l.Create<arith::AddIOp>(Times(l, row, 4), column);
    Value other = ReadLane(l, value, source);
    Value shifted = l.Create<arith::ShRUIOp>(other, shift);
    halves.push_back(l.Resize(shifted, 16, false));
  }
  l.Write(l.Concat(halves), Type::kB32);
}

constexpr LoweringRow kRows[] = {
    {Op::kLdmatrix, Effect::kEffect, LowerLdmatrix},
    {Op::kStmatrix, Effect::kEffect, LowerStmatrix},
    {Op::kMovmatrix, Effect::kEffect, LowerMovmatrix},
};

}  // namespace

std::span<const LoweringRow> MatrixMemoryRows() { return kRows; }

}  // namespace hetgpu::ptx
