// Integer ops that arith lacks. Each is straight-line code that also works
// lane by lane on vectors.
#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/lane_division.h"
#include "backends/llvm_ir/lane_strides.h"
#include "backends/llvm_ir/lanes_one_by_one.h"
#include "backends/llvm_ir/op_table.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {
namespace {

using namespace hetir;  // op classes
namespace Id = llvm::Intrinsic;

llvm::Value* Abs(Ir& ir, llvm::Value* a) {
  return Binary(ir, Id::abs, a, ir.getFalse());
}
llvm::Value* CountLeadingZeros(Ir& ir, llvm::Value* a) {
  return Binary(ir, Id::ctlz, a, ir.getFalse());
}

llvm::Value* HighProduct(Ir& ir, llvm::Value* a, llvm::Value* b,
                         bool is_signed) {
  unsigned width = BitWidth(a);
  llvm::Type* wide = IntLike(a->getType(), 2 * width);
  llvm::Value* product = ir.CreateMul(ir.CreateIntCast(a, wide, is_signed),
                                      ir.CreateIntCast(b, wide, is_signed));
  return ir.CreateTrunc(ir.CreateLShr(product, width), a->getType());
}

llvm::Value* EmitMulHi(Emitter& e, MulHiOp op) {
  llvm::Value* a = e.Get(op.getA());
  llvm::Value* b = e.Get(op.getB());
  auto high = [&](llvm::Value* x, llvm::Value* y) {
    return HighProduct(e.ir(), x, y, op.getIsSigned());
  };
  if (BitWidth(a) < 64 || !HoldsLanes(op.getA())) return high(a, b);
  return MapShared(e, op.getIsSigned() ? "mulhis" : "mulhiu", a, b, high);
}

llvm::Value* EmitDiv(Emitter& e, DivOp op) {
  return Divide(e, e.Get(op.getA()), e.Get(op.getB()), op.getIsSigned());
}
llvm::Value* EmitRem(Emitter& e, RemOp op) {
  return Remainder(e, e.Get(op.getA()), e.Get(op.getB()), op.getIsSigned());
}
llvm::Value* EmitAddSat(Emitter& e, AddSatOp op) {
  return Binary(e.ir(), op.getIsSigned() ? Id::sadd_sat : Id::uadd_sat,
                e.Get(op.getA()), e.Get(op.getB()));
}
llvm::Value* EmitSubSat(Emitter& e, SubSatOp op) {
  return Binary(e.ir(), op.getIsSigned() ? Id::ssub_sat : Id::usub_sat,
                e.Get(op.getA()), e.Get(op.getB()));
}

llvm::Value* EmitShl(Emitter& e, ShlOp op) {
  llvm::Value* a = e.Get(op.getA());
  return ShlTotal(e.ir(), a,
                  AmountLike(e.ir(), e.Get(op.getAmount()), a->getType()));
}
llvm::Value* EmitShr(Emitter& e, ShrOp op) {
  llvm::Value* a = e.Get(op.getA());
  llvm::Value* amount =
      AmountLike(e.ir(), e.Get(op.getAmount()), a->getType());
  return op.getIsSigned() ? AShrTotal(e.ir(), a, amount)
                          : LShrTotal(e.ir(), a, amount);
}

llvm::Value* EmitFunnelShift(Emitter& e, FunnelShiftOp op) {
  Ir& ir = e.ir();
  llvm::Value* lo = e.Get(op.getLo());
  llvm::Value* hi = e.Get(op.getHi());
  llvm::Value* amount = e.Get(op.getAmount());
  llvm::Value* shifted =
      ir.CreateIntrinsic(op.getRight() ? Id::fshr : Id::fshl, {lo->getType()},
                         {hi, lo, amount});
  if (op.getWrap()) return shifted;
  llvm::Value* all = ir.CreateICmpUGE(amount, Int(lo->getType(), 32));
  return ir.CreateSelect(all, op.getRight() ? hi : lo, shifted);
}

llvm::Value* EmitAbs(Emitter& e, AbsOp op) {
  return Abs(e.ir(), e.Get(op.getA()));
}
llvm::Value* EmitBrev(Emitter& e, BrevOp op) {
  return e.ir().CreateUnaryIntrinsic(Id::bitreverse, e.Get(op.getA()));
}

// Bit counts are i32 whatever the width of the operand.
llvm::Value* EmitPopc(Emitter& e, PopcOp op) {
  return e.ir().CreateZExtOrTrunc(
      e.ir().CreateUnaryIntrinsic(Id::ctpop, e.Get(op.getA())),
      e.TypeOf(op.getResult()));
}
llvm::Value* EmitClz(Emitter& e, ClzOp op) {
  return e.ir().CreateZExtOrTrunc(CountLeadingZeros(e.ir(), e.Get(op.getA())),
                                  e.TypeOf(op.getResult()));
}

llvm::Value* EmitBfind(Emitter& e, BfindOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  unsigned width = BitWidth(a);
  if (op.getIsSigned()) a = ir.CreateXor(a, ir.CreateAShr(a, width - 1));
  llvm::Type* result = e.TypeOf(op.getResult());
  llvm::Value* zeros =
      ir.CreateZExtOrTrunc(CountLeadingZeros(ir, a), result);
  if (!op.getShiftAmount()) {
    return ir.CreateSub(Int(result, width - 1), zeros);
  }
  return ir.CreateSelect(ir.CreateICmpEQ(a, Int(a->getType(), 0)),
                         llvm::Constant::getAllOnesValue(result), zeros);
}

// Position of the k-th (from 0) set bit, by halving; garbage when there are
// fewer.
llvm::Value* SelectBit(Ir& ir, llvm::Value* mask, llvm::Value* k) {
  llvm::Type* type = mask->getType();
  llvm::Value* position = Int(type, 0);
  for (unsigned step : {16, 8, 4, 2, 1}) {
    llvm::Value* part = ir.CreateAnd(ir.CreateLShr(mask, position),
                                     Int(type, (1u << step) - 1));
    llvm::Value* count = ir.CreateUnaryIntrinsic(Id::ctpop, part);
    llvm::Value* skip = ir.CreateICmpUGE(k, count);
    k = ir.CreateSelect(skip, ir.CreateSub(k, count), k);
    position = ir.CreateSelect(
        skip, ir.CreateAdd(position, Int(type, step)), position);
  }
  return position;
}

// A negative n searches downwards: the same search in the reversed mask.
llvm::Value* EmitFns(Emitter& e, FnsOp op) {
  Ir& ir = e.ir();
  llvm::Value* mask = e.Get(op.getMask());
  llvm::Value* base = e.Get(op.getBase());
  llvm::Value* n = e.Get(op.getN());
  llvm::Type* type = mask->getType();
  llvm::Value* down = ir.CreateICmpSLT(n, Int(type, 0));
  llvm::Value* here = ir.CreateICmpEQ(n, Int(type, 0));
  llvm::Value* base_in = ir.CreateICmpULT(base, Int(type, 32));
  llvm::Value* safe_base = ir.CreateAnd(base, Int(type, 31));
  llvm::Value* start = ir.CreateSelect(
      down, ir.CreateSub(Int(type, 31), safe_base), safe_base);
  llvm::Value* searched = ir.CreateSelect(
      down, ir.CreateUnaryIntrinsic(Id::bitreverse, mask), mask);
  llvm::Value* above = ir.CreateShl(
      llvm::Constant::getAllOnesValue(type), start);
  llvm::Value* only = ir.CreateShl(Int(type, 1), start);
  searched = ir.CreateAnd(searched, ir.CreateSelect(here, only, above));
  llvm::Value* k = ir.CreateSelect(
      here, Int(type, 0), ir.CreateSub(Abs(ir, n), Int(type, 1)));
  llvm::Value* found = ir.CreateAnd(
      base_in, ir.CreateICmpULT(
                   k, ir.CreateUnaryIntrinsic(Id::ctpop, searched)));
  llvm::Value* position = SelectBit(ir, searched, k);
  position = ir.CreateSelect(
      down, ir.CreateSub(Int(type, 31), position), position);
  return ir.CreateSelect(found, position,
                         llvm::Constant::getAllOnesValue(type));
}

// A position or length in the width of `type`: its low 8 bits, or all of it
// for 64-bit fields.
llvm::Value* FieldAmount(Ir& ir, llvm::Value* amount, llvm::Type* type) {
  unsigned width = type->getScalarSizeInBits();
  if (width < 64) {
    amount = ir.CreateAnd(amount, Int(amount->getType(), 0xff));
  }
  return ir.CreateZExtOrTrunc(amount, IntLike(amount->getType(), width));
}

llvm::Value* EmitBfe(Emitter& e, BfeOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Type* type = a->getType();
  unsigned width = BitWidth(a);
  llvm::Value* position = FieldAmount(ir, e.Get(op.getPos()), type);
  llvm::Value* length = FieldAmount(ir, e.Get(op.getLen()), type);
  if (!op.getIsSigned()) {
    return ir.CreateAnd(LShrTotal(ir, a, position), LowMask(ir, length));
  }
  llvm::Value* shifted = AShrTotal(ir, a, position);
  llvm::Value* spare =
      ir.CreateSub(Int(type, width), UMin(ir, length, width));
  // Length zero: the field is shifted out altogether.
  llvm::Value* field =
      AShrTotal(ir, ShlTotal(ir, shifted, spare), spare);
  return ir.CreateSelect(ir.CreateICmpEQ(length, Int(type, 0)), Int(type, 0),
                         field);
}

llvm::Value* EmitBfi(Emitter& e, BfiOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Type* type = a->getType();
  llvm::Value* position = FieldAmount(ir, e.Get(op.getPos()), type);
  llvm::Value* length = FieldAmount(ir, e.Get(op.getLen()), type);
  llvm::Value* mask = ShlTotal(ir, LowMask(ir, length), position);
  llvm::Value* kept = ir.CreateAnd(e.Get(op.getB()), ir.CreateNot(mask));
  return ir.CreateOr(kept, ir.CreateAnd(ShlTotal(ir, a, position), mask));
}

llvm::Value* EmitBmsk(Emitter& e, BmskOp op) {
  Ir& ir = e.ir();
  llvm::Value* position = e.Get(op.getPos());
  llvm::Value* length = e.Get(op.getLen());
  if (op.getWrap()) {
    position = ir.CreateAnd(position, Int(position->getType(), 31));
    length = ir.CreateAnd(length, Int(length->getType(), 31));
  }
  return ShlTotal(ir, LowMask(ir, length), position);
}

llvm::Value* EmitSzext(Emitter& e, SzextOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Type* type = a->getType();
  llvm::Value* bits = e.Get(op.getBits());
  bits = op.getWrap() ? ir.CreateAnd(bits, Int(type, 31))
                      : UMin(ir, bits, 32);
  if (!op.getIsSigned()) return ir.CreateAnd(a, LowMask(ir, bits));
  llvm::Value* spare = ir.CreateSub(Int(type, 32), bits);
  llvm::Value* extended = AShrTotal(ir, ShlTotal(ir, a, spare), spare);
  return ir.CreateSelect(ir.CreateICmpEQ(bits, Int(type, 0)), Int(type, 0),
                         extended);
}

// Selector nibble of result byte `i` in each mode; `n` is the low two bits of
// the selector.
llvm::Value* PrmtNibble(Ir& ir, PrmtMode mode, llvm::Value* selector,
                        unsigned i) {
  llvm::Type* type = selector->getType();
  llvm::Value* n = ir.CreateAnd(selector, Int(type, 3));
  switch (mode) {
    case PrmtMode::index:
      return ir.CreateAnd(ir.CreateLShr(selector, 4 * i), Int(type, 15));
    case PrmtMode::f4e:
      return ir.CreateAdd(n, Int(type, i));
    case PrmtMode::b4e:
      return ir.CreateAnd(ir.CreateSub(n, Int(type, i)), Int(type, 7));
    case PrmtMode::rc8:
      return n;
    case PrmtMode::ecl:
      return Binary(ir, Id::umax, n, Int(type, i));
    case PrmtMode::ecr:
      return Binary(ir, Id::umin, n, Int(type, i));
    case PrmtMode::rc16:
      return ir.CreateAdd(
          ir.CreateShl(ir.CreateAnd(n, Int(type, 1)), 1), Int(type, i & 1));
  }
  return nullptr;
}

llvm::Value* EmitPrmt(Emitter& e, PrmtOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Type* type = a->getType();
  llvm::Type* wide = IntLike(type, 64);
  llvm::Value* pair = ir.CreateOr(
      ir.CreateZExt(a, wide),
      ir.CreateShl(ir.CreateZExt(e.Get(op.getB()), wide), 32));
  llvm::Value* result = Int(type, 0);
  for (unsigned i = 0; i < 4; ++i) {
    llvm::Value* nibble =
        PrmtNibble(ir, op.getMode(), e.Get(op.getSelector()), i);
    llvm::Value* amount = ir.CreateZExt(
        ir.CreateShl(ir.CreateAnd(nibble, Int(type, 7)), 3), wide);
    llvm::Value* byte =
        ir.CreateTrunc(ir.CreateLShr(pair, amount), IntLike(type, 8));
    if (op.getMode() == PrmtMode::index) {
      // Bit 3 replicates the sign of the byte.
      llvm::Value* replicate = ir.CreateICmpUGE(nibble, Int(type, 8));
      byte = ir.CreateSelect(replicate, ir.CreateAShr(byte, 7), byte);
    }
    result = ir.CreateOr(
        result, ir.CreateShl(ir.CreateZExt(byte, type), 8 * i));
  }
  return result;
}

// A function of b and c given by four bits: bit 2 b + c.
llvm::Value* TwoInputTable(Ir& ir, llvm::Value* b, llvm::Value* c,
                           unsigned lut) {
  llvm::Type* type = b->getType();
  switch (lut) {
    case 0x0: return Int(type, 0);
    case 0x1: return ir.CreateNot(ir.CreateOr(b, c));
    case 0x2: return ir.CreateAnd(ir.CreateNot(b), c);
    case 0x3: return ir.CreateNot(b);
    case 0x4: return ir.CreateAnd(b, ir.CreateNot(c));
    case 0x5: return ir.CreateNot(c);
    case 0x6: return ir.CreateXor(b, c);
    case 0x7: return ir.CreateNot(ir.CreateAnd(b, c));
    case 0x8: return ir.CreateAnd(b, c);
    case 0x9: return ir.CreateNot(ir.CreateXor(b, c));
    case 0xa: return c;
    case 0xb: return ir.CreateOr(ir.CreateNot(b), c);
    case 0xc: return b;
    case 0xd: return ir.CreateOr(b, ir.CreateNot(c));
    case 0xe: return ir.CreateOr(b, c);
    default: return llvm::Constant::getAllOnesValue(type);
  }
}

// Split by a: two tables over b and c.
llvm::Value* EmitLop3(Emitter& e, Lop3Op op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Value* b = e.Get(op.getB());
  llvm::Value* c = e.Get(op.getC());
  unsigned without = op.getLut() & 15;
  unsigned with = (op.getLut() >> 4) & 15;
  if (with == without) return TwoInputTable(ir, b, c, with);
  if (with == (~without & 15u)) {
    return ir.CreateXor(a, TwoInputTable(ir, b, c, without));
  }
  if (without == 0) return ir.CreateAnd(a, TwoInputTable(ir, b, c, with));
  if (with == 15) return ir.CreateOr(a, TwoInputTable(ir, b, c, without));
  return ir.CreateOr(
      ir.CreateAnd(a, TwoInputTable(ir, b, c, with)),
      ir.CreateAnd(ir.CreateNot(a), TwoInputTable(ir, b, c, without)));
}

llvm::Value* EmitSad(Emitter& e, SadOp op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Value* b = e.Get(op.getB());
  bool is_signed = op.getIsSigned();
  llvm::Value* more = Binary(ir, is_signed ? Id::smax : Id::umax, a, b);
  llvm::Value* less = Binary(ir, is_signed ? Id::smin : Id::umin, a, b);
  return ir.CreateAdd(e.Get(op.getC()), ir.CreateSub(more, less));
}

// Low 24 bits in 64 bits.
llvm::Value* Low24(Ir& ir, llvm::Value* a, bool is_signed) {
  llvm::Type* wide = IntLike(a->getType(), 64);
  llvm::Value* top = ir.CreateShl(a, 8);
  llvm::Value* low = is_signed ? ir.CreateAShr(top, 8) : ir.CreateLShr(top, 8);
  return ir.CreateIntCast(low, wide, is_signed);
}

llvm::Value* EmitMul24(Emitter& e, Mul24Op op) {
  Ir& ir = e.ir();
  llvm::Value* product =
      ir.CreateMul(Low24(ir, e.Get(op.getA()), op.getIsSigned()),
                   Low24(ir, e.Get(op.getB()), op.getIsSigned()));
  if (op.getHi()) product = ir.CreateLShr(product, 16);
  return ir.CreateTrunc(product, e.TypeOf(op.getResult()));
}

// Bits [first, first + bits) of `a` as a 32-bit number.
llvm::Value* Field(Ir& ir, llvm::Value* a, unsigned first, unsigned bits,
                   bool is_signed) {
  llvm::Value* top = ir.CreateShl(a, 32 - first - bits);
  return is_signed ? ir.CreateAShr(top, 32 - bits)
                   : ir.CreateLShr(top, 32 - bits);
}

llvm::Value* EmitDp4a(Emitter& e, Dp4aOp op) {
  Ir& ir = e.ir();
  llvm::Value* sum = e.Get(op.getC());
  for (unsigned i = 0; i < 4; ++i) {
    sum = ir.CreateAdd(
        sum,
        ir.CreateMul(
            Field(ir, e.Get(op.getA()), 8 * i, 8, op.getASigned()),
            Field(ir, e.Get(op.getB()), 8 * i, 8, op.getBSigned())));
  }
  return sum;
}

llvm::Value* EmitDp2a(Emitter& e, Dp2aOp op) {
  Ir& ir = e.ir();
  llvm::Value* sum = e.Get(op.getC());
  unsigned byte = op.getHi() ? 2 : 0;
  for (unsigned i = 0; i < 2; ++i) {
    sum = ir.CreateAdd(
        sum, ir.CreateMul(
                 Field(ir, e.Get(op.getA()), 16 * i, 16, op.getASigned()),
                 Field(ir, e.Get(op.getB()), 8 * (byte + i), 8,
                       op.getBSigned())));
  }
  return sum;
}

template <typename Op, Id::ID kWithOverflow>
absl::Status EmitCarry(Emitter& e, Op op) {
  Ir& ir = e.ir();
  llvm::Value* a = e.Get(op.getA());
  llvm::Value* first = Binary(ir, kWithOverflow, a, e.Get(op.getB()));
  llvm::Value* carry = ir.CreateZExt(e.Get(op.getCarryIn()), a->getType());
  llvm::Value* second =
      Binary(ir, kWithOverflow, ir.CreateExtractValue(first, 0), carry);
  e.Set(op.getResult(), ir.CreateExtractValue(second, 0));
  e.Set(op.getCarryOut(), ir.CreateOr(ir.CreateExtractValue(first, 1),
                                      ir.CreateExtractValue(second, 1)));
  return absl::OkStatus();
}

}  // namespace

void AddIntegerOps(OpTable& table) {
  table.Value<MulHiOp, EmitMulHi>();
  table.Value<DivOp, EmitDiv>();
  table.Value<RemOp, EmitRem>();
  table.Value<AddSatOp, EmitAddSat>();
  table.Value<SubSatOp, EmitSubSat>();
  table.Value<ShlOp, EmitShl>();
  table.Value<ShrOp, EmitShr>();
  table.Value<FunnelShiftOp, EmitFunnelShift>();
  table.Value<AbsOp, EmitAbs>();
  table.Value<BrevOp, EmitBrev>();
  table.Value<PopcOp, EmitPopc>();
  table.Value<ClzOp, EmitClz>();
  table.Value<BfindOp, EmitBfind>();
  table.Value<FnsOp, EmitFns>();
  table.Value<BfeOp, EmitBfe>();
  table.Value<BfiOp, EmitBfi>();
  table.Value<BmskOp, EmitBmsk>();
  table.Value<SzextOp, EmitSzext>();
  table.Value<PrmtOp, EmitPrmt>();
  table.Value<Lop3Op, EmitLop3>();
  table.Value<SadOp, EmitSad>();
  table.Value<Mul24Op, EmitMul24>();
  table.Value<Dp4aOp, EmitDp4a>();
  table.Value<Dp2aOp, EmitDp2a>();
  table.Statement<AddCarryOp,
                  EmitCarry<AddCarryOp, Id::uadd_with_overflow>>();
  table.Statement<SubBorrowOp,
                  EmitCarry<SubBorrowOp, Id::usub_with_overflow>>();
}

}  // namespace hetgpu::llvm_ir
