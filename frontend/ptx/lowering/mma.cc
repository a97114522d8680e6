// mma and wmma.
#include <algorithm>

#include "frontend/ptx/lowering/matrix.h"
#include "frontend/ptx/lowering/table.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

bool HasWord(const Lowering& l, std::string_view word) {
  return l.inst().opcode->text.find(word) != std::string_view::npos;
}

void LowerProduct(Lowering& l, const MatrixProduct& product) {
  Values a = ReadFragment(l, l.operand(1), product.a);
  Values b = ReadFragment(l, l.operand(2), product.b);
  Values c = ElementsOfAccumulator(
      l, ReadFragment(l, l.operand(3), product.c), product.c);
  // wmma's f16 fragments have room for twice the elements.
  a.resize(std::min<size_t>(a.size(), product.k_blocks * product.row_blocks));
  b.resize(
      std::min<size_t>(b.size(), product.k_blocks * product.column_blocks));
  Values d = Multiply(l, product, a, b, c);
  if (l.failed()) return;
  WriteFragment(l, l.operand(0), RegistersOfAccumulator(l, d, product.d),
                product.d);
}

void LowerMma(Lowering& l) {
  if (HasWord(l, "kind::")) return l.Refuse("block-scaled or narrow formats");
  bool volta = l.mods().shape == MatrixShape{8, 8, 4} &&
               l.mods().type(1) == Type::kF16;
  if (volta) return l.Refuse("the four-lane layout of m8n8k4");
  MatrixProduct product;
  if (!Describe(l, l.mods().type(1), l.mods().type(2), l.mods().type(3),
                l.mods().type(0), &product)) {
    return;
  }
  LowerProduct(l, product);
}

void LowerWmmaMma(Lowering& l) {
  const Modifiers& mods = l.mods();
  bool half = mods.num_types == 2;  // dtype, ctype: a and b are f16
  if (half && l.Has(Flag::kSatfinite)) return l.Refuse("modifier '.satfinite'");
  MatrixProduct product;
  Type a = half ? Type::kF16 : mods.type(1);
  Type b = half ? Type::kF16 : mods.type(2);
  Type c = half ? mods.type(1) : mods.type(3);
  if (Describe(l, a, b, c, mods.type(0), &product)) LowerProduct(l, product);
}

// --- wmma.load and wmma.store ---

// A matrix in memory: element (i, j) lies at i * stride + j, counted in
// elements, with j the contiguous dimension.
struct Memory {
  Address address;
  Value stride;  // 64-bit
  unsigned element_bits;
};

unsigned Dimension(const Lowering& l, Mode fragment, bool contiguous) {
  MatrixShape shape = l.mods().shape;
  bool row = l.mods().layout_a == Layout::kRow;
  unsigned rows = fragment == Mode::kB ? shape.k : shape.m;
  unsigned columns = fragment == Mode::kA ? shape.k : shape.n;
  return row == contiguous ? columns : rows;
}

Memory ReadMemory(Lowering& l, size_t address, size_t stride, Mode fragment,
                  Type type) {
  Memory memory;
  memory.address =
      l.ReadAddress(l.operand(address), l.SpaceOf(l.mods().space));
  memory.element_bits = TypeBits(type);
  Value elements =
      l.num_operands() > stride
          ? l.Read(stride, Type::kU32)
          : l.ConstantInt(32, Dimension(l, fragment, true));
  memory.stride = l.Resize(elements, 64, false);
  return memory;
}

// The address of element (i, j): both of 64 bits.
Address At(Lowering& l, const Memory& memory, Value i, Value j) {
  Value index = l.Create<arith::AddIOp>(
      l.Create<arith::MulIOp>(i, memory.stride), j);
  Value bytes =
      memory.element_bits >= 8
          ? Value(l.Create<arith::MulIOp>(
                index, l.ConstantInt(64, memory.element_bits / 8)))
          : Value(l.Create<arith::ShRUIOp>(
                index, l.ConstantInt(64, memory.element_bits == 4 ? 1 : 3)));
  unsigned width = memory.address.base.getType().getIntOrFloatBitWidth();
  Value base = l.Create<arith::AddIOp>(memory.address.base,
                                       l.Resize(bytes, width, false));
  return {memory.address.space, base, memory.address.offset};
}

struct LanePosition {
  Value group;  // lane / 4
  Value pair;   // lane % 4
};

LanePosition Position(Lowering& l) {
  Value lane = l.Resize(LaneId(l), 64, false);
  return {l.Create<arith::ShRUIOp>(lane, l.ConstantInt(64, 2)),
          l.Create<arith::AndIOp>(lane, l.ConstantInt(64, 3))};
}

Value Plus(Lowering& l, Value a, uint64_t b) {
  if (b == 0) return a;
  return l.Create<arith::AddIOp>(a, l.ConstantInt(64, b));
}

Value Times(Lowering& l, Value a, uint64_t b) {
  if (b == 1) return a;
  return l.Create<arith::MulIOp>(a, l.ConstantInt(64, b));
}

mlir::Type ElementInt(Lowering& l, Type type) {
  return l.Int(std::max(8u, TypeBits(type)));
}

// A and B: registers of p elements along k, for block `outer` of rows or
// columns.
Value LoadRegister(Lowering& l, const Memory& memory, const LanePosition& lane,
                   Type type, unsigned outer, unsigned kb, bool k_contiguous) {
  unsigned p = ElementsPerRegister(type);
  Value line = Plus(l, lane.group, 8 * outer);
  Value k = Plus(l, Times(l, lane.pair, p), 4 * p * kb);
  if (k_contiguous) {
    mlir::Type whole = l.Int(type == Type::kF64 ? 64 : 32);
    return l.Load(whole, 1, At(l, memory, line, k)).front();
  }
  Values elements;
  for (unsigned e = 0; e < p; ++e) {
    Address address = At(l, memory, Plus(l, k, e), line);
    elements.push_back(l.Load(ElementInt(l, type), 1, address).front());
  }
  return l.Concat(elements);
}

void LoadFactor(Lowering& l, Mode fragment, Type type) {
  Memory memory = ReadMemory(l, 1, 2, fragment, type);
  LanePosition lane = Position(l);
  MatrixShape shape = l.mods().shape;
  bool row = l.mods().layout_a == Layout::kRow;
  bool is_a = fragment == Mode::kA;
  bool k_contiguous = is_a == row;
  if (!k_contiguous && TypeBits(type) < 8) return l.Refuse("layout");
  unsigned outer_blocks = (is_a ? shape.m : shape.n) / 8u;
  unsigned k_blocks = shape.k / (4 * ElementsPerRegister(type));
  Values registers;
  auto load = [&](unsigned outer, unsigned kb) {
    registers.push_back(
        LoadRegister(l, memory, lane, type, outer, kb, k_contiguous));
  };
  if (is_a) {
    for (unsigned kb = 0; kb < k_blocks; ++kb) {
      for (unsigned rb = 0; rb < outer_blocks; ++rb) load(rb, kb);
    }
  } else {
    for (unsigned nb = 0; nb < outer_blocks; ++nb) {
      for (unsigned kb = 0; kb < k_blocks; ++kb) load(nb, kb);
    }
  }
  WriteFragment(l, l.operand(0), registers, type);
}

// The addresses of this lane's accumulator elements, in the order (nb, rb,
// pair).
std::vector<Address> AccumulatorAddresses(Lowering& l, const Memory& memory) {
  LanePosition lane = Position(l);
  MatrixShape shape = l.mods().shape;
  bool row = l.mods().layout_a == Layout::kRow;
  std::vector<Address> addresses;
  for (unsigned nb = 0; nb < shape.n / 8u; ++nb) {
    for (unsigned rb = 0; rb < shape.m / 8u; ++rb) {
      for (unsigned pair = 0; pair < 2; ++pair) {
        Value i = Plus(l, lane.group, 8 * rb);
        Value j = Plus(l, Times(l, lane.pair, 2), 8 * nb + pair);
        addresses.push_back(row ? At(l, memory, i, j) : At(l, memory, j, i));
      }
    }
  }
  return addresses;
}

void LowerWmmaLoad(Lowering& l) {
  Type type = l.mods().type();
  Mode fragment = l.mods().mode;
  if (fragment != Mode::kC) return LoadFactor(l, fragment, type);
  Memory memory = ReadMemory(l, 1, 2, fragment, type);
  Values elements;
  for (const Address& address : AccumulatorAddresses(l, memory)) {
    Value bits = l.Load(ElementInt(l, type), 1, address).front();
    elements.push_back(l.Bitcast(bits, l.TypeOf(type)));
  }
  WriteFragment(l, l.operand(0), RegistersOfAccumulator(l, elements, type),
                type);
}

void LowerWmmaStore(Lowering& l) {
  Type type = l.mods().type();
  Memory memory = ReadMemory(l, 0, 2, Mode::kD, type);
  Values elements =
      ElementsOfAccumulator(l, ReadFragment(l, l.operand(1), type), type);
  std::vector<Address> addresses = AccumulatorAddresses(l, memory);
  if (elements.size() != addresses.size()) {
    return l.Fail(absl::StatusCode::kInvalidArgument,
                  "number of registers in the fragment does not fit the shape");
  }
  for (size_t i = 0; i < elements.size(); ++i) {
    l.Store(l.Bitcast(elements[i], ElementInt(l, type)), addresses[i]);
  }
}

constexpr LoweringRow kRows[] = {
    {Op::kMma, Effect::kEffect, LowerMma},
    {Op::kWmmaMma, Effect::kEffect, LowerWmmaMma},
    {Op::kWmmaLoad, Effect::kEffect, LowerWmmaLoad},
    {Op::kWmmaStore, Effect::kEffect, LowerWmmaStore},
};

}  // namespace

std::span<const LoweringRow> MmaRows() { return kRows; }

}  // namespace hetgpu::ptx
