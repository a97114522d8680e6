// cp.async without bulk: copied at once. A copy that is complete when it is
// issued is one of the behaviours PTX allows, so groups need no tracking.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

// 4, 8 or 16 bytes as 32-bit values: naturally aligned whatever the size.
void CopyAll(Lowering& l, const Address& to, const Address& from,
             uint64_t size) {
  l.Store(l.Load(l.I32(), size / 4, from), to);
}

void StoreZeros(Lowering& l, const Address& to, uint64_t size) {
  l.Store(Values(size / 4, l.ConstantInt(32, 0)), to);
}

Address Advance(Lowering& l, const Address& address, Value index) {
  unsigned width = address.base.getType().getIntOrFloatBitWidth();
  Value moved = l.Create<arith::AddIOp>(address.base,
                                        l.Resize(index, width, false));
  return {address.space, moved, address.offset};
}

// Byte by byte: the source may not be read past `valid` bytes.
void CopyBytes(Lowering& l, const Address& to, const Address& from,
               uint64_t size, Value valid) {
  mlir::Block* header = l.NewBlock();
  Value zero = l.ConstantInt(32, 0);
  l.Create<mlir::cf::BranchOp>(header, mlir::ValueRange{zero});
  Value i = header->addArgument(l.I32(), l.loc());
  l.MoveTo(header);
  mlir::Block* read = l.NewBlock();
  l.MoveTo(read);
  mlir::Block* write = l.NewBlock();
  Value byte = write->addArgument(l.Int(8), l.loc());
  Values loaded = l.Load(l.Int(8), 1, Advance(l, from, i));
  l.Create<mlir::cf::BranchOp>(write, loaded);
  l.MoveTo(header);
  Value in_source =
      l.Create<arith::CmpIOp>(arith::CmpIPredicate::ult, i, valid);
  l.Create<mlir::cf::CondBranchOp>(in_source, read, mlir::ValueRange{}, write,
                                   mlir::ValueRange{l.ConstantInt(8, 0)});
  l.MoveTo(write);
  l.Store(byte, Advance(l, to, i));
  Value next = l.Create<arith::AddIOp>(i, l.ConstantInt(32, 1));
  Value more = l.Create<arith::CmpIOp>(arith::CmpIPredicate::ult, next,
                                       l.ConstantInt(32, size));
  mlir::Block* done = l.NewBlock();
  l.Create<mlir::cf::CondBranchOp>(more, header, mlir::ValueRange{next}, done,
                                   mlir::ValueRange{});
  l.MoveTo(done);
}

// if (condition) yes(); else no();
template <typename Yes, typename No>
void Branch(Lowering& l, Value condition, Yes yes, No no) {
  mlir::Block* fork = l.builder().getBlock();
  mlir::Block* yes_block = l.NewBlock();
  l.MoveTo(yes_block);
  yes();
  mlir::Block* yes_end = l.builder().getBlock();
  mlir::Block* no_block = l.NewBlock();
  l.MoveTo(no_block);
  no();
  mlir::Block* join = l.NewBlock();
  l.Create<mlir::cf::BranchOp>(join);
  l.MoveTo(yes_end);
  l.Create<mlir::cf::BranchOp>(join);
  l.MoveTo(fork);
  l.Create<mlir::cf::CondBranchOp>(condition, yes_block, no_block);
  l.MoveTo(join);
}

bool IsPredicate(const Lowering& l, const Operand& operand) {
  return operand.kind == OperandKind::kRegister &&
         l.body().RegisterType(operand.index) == Type::kPred;
}

void LowerCpAsync(Lowering& l) {
  Address to = l.ReadAddress(l.operand(0), hetir::Space::shared);
  Address from = l.ReadAddress(l.operand(1), hetir::Space::global);
  int64_t written = l.ReadConstant(l.operand(2));
  if (written != 4 && written != 8 && written != 16) {
    return l.Fail(absl::StatusCode::kInvalidArgument,
                  "expected a copy size of 4, 8 or 16 bytes");
  }
  uint64_t size = static_cast<uint64_t>(written);
  size_t last = l.num_operands() - (l.Has(Flag::kCacheHint) ? 1 : 0);
  if (last < 4) return CopyAll(l, to, from, size);
  const Operand& extra = l.operand(3);
  if (IsPredicate(l, extra)) {
    return Branch(
        l, l.ReadPredicate(extra), [&] { StoreZeros(l, to, size); },
        [&] { CopyAll(l, to, from, size); });
  }
  Value valid = l.Read(extra, Type::kU32);
  Value whole = l.Create<arith::CmpIOp>(arith::CmpIPredicate::uge, valid,
                                        l.ConstantInt(32, size));
  Branch(
      l, whole, [&] { CopyAll(l, to, from, size); },
      [&] { CopyBytes(l, to, from, size, valid); });
}

void LowerNothing(Lowering&) {}

constexpr LoweringRow kRows[] = {
    {Op::kCpAsync, Effect::kEffect, LowerCpAsync},
    {Op::kCpAsyncCommitGroup, Effect::kPure, LowerNothing},
    {Op::kCpAsyncWaitGroup, Effect::kPure, LowerNothing},
    {Op::kCpAsyncWaitAll, Effect::kPure, LowerNothing},
};

}  // namespace

std::span<const LoweringRow> AsyncCopyRows() { return kRows; }

}  // namespace hetgpu::ptx
