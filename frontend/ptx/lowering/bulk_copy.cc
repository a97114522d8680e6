// cp.async.bulk without tensors: the issuing thread copies at once, 16 bytes at
// a time as PTX requires of sizes and addresses, and then completes the
// transaction. Bulk groups are complete when they are committed.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/mbarrier.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;
using Predicate = arith::CmpIPredicate;

constexpr uint64_t kPiece = 16;

Address Advance(Lowering& l, const Address& address, Value index) {
  unsigned width = address.base.getType().getIntOrFloatBitWidth();
  Value base = l.Create<arith::AddIOp>(address.base,
                                       l.Resize(index, width, false));
  return {address.space, base, address.offset};
}

void CopyLoop(Lowering& l, const Address& to, const Address& from,
              Value bytes) {
  mlir::Block* header = l.NewBlock();
  Value zero = l.ConstantInt(32, 0);
  l.Create<mlir::cf::BranchOp>(header, mlir::ValueRange{zero});
  Value i = header->addArgument(l.I32(), l.loc());
  l.MoveTo(header);
  mlir::Block* body = l.NewBlock();
  l.MoveTo(body);
  mlir::Block* done = l.NewBlock();
  l.Store(l.Load(l.I32(), kPiece / 4, Advance(l, from, i)),
          Advance(l, to, i));
  Value next = l.Create<arith::AddIOp>(i, l.ConstantInt(32, kPiece));
  l.Create<mlir::cf::BranchOp>(header, mlir::ValueRange{next});
  l.MoveTo(header);
  Value more = l.Create<arith::CmpIOp>(Predicate::ult, i, bytes);
  l.Create<mlir::cf::CondBranchOp>(more, body, done);
  l.MoveTo(done);
}

bool HasWord(const Lowering& l, std::string_view word) {
  return l.inst().opcode->text.find(word) != std::string_view::npos;
}

// [dst], [src], size, [mbar] when the target is shared memory.
void LowerBulk(Lowering& l) {
  if (HasWord(l, "multicast")) return l.Refuse("copy to several blocks");
  if (HasWord(l, "cp_mask")) return l.Refuse("modifier '.cp_mask'");
  bool to_global = l.mods().space == StateSpace::kGlobal;
  Address to = l.ReadAddress(l.operand(0), l.SpaceOf(l.mods().space));
  Address from = l.ReadAddress(l.operand(1), l.SpaceOf(l.mods().space2));
  Value bytes = l.Read(2, Type::kU32);
  Address barrier;
  if (!to_global) barrier = l.ReadAddress(l.operand(3), hetir::Space::shared);
  CopyLoop(l, to, from, bytes);
  if (to_global) return;
  CompleteTransactions(l, barrier, l.Resize(bytes, 64, false));
}

void LowerNothing(Lowering&) {}

constexpr LoweringRow kRows[] = {
    {Op::kCpAsyncBulk, Effect::kEffect, LowerBulk},
    {Op::kCpAsyncBulkCommitGroup, Effect::kPure, LowerNothing},
    {Op::kCpAsyncBulkWaitGroup, Effect::kPure, LowerNothing},
    // A hint.
    {Op::kCpAsyncBulkPrefetch, Effect::kPure, LowerNothing},
};

}  // namespace

std::span<const LoweringRow> BulkCopyRows() { return kRows; }

}  // namespace hetgpu::ptx
