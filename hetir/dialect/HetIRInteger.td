// Integer ops that `arith` lacks or defines less completely than PTX.
#ifndef HETGPU_HETIR_DIALECT_HETIRINTEGER_TD_
#define HETGPU_HETIR_DIALECT_HETIRINTEGER_TD_

include "hetir/dialect/HetIRBase.td"

class HetIR_IntUnary<string mnemonic>
    : HetIR_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins HetIR_Int:$a);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$a attr-dict `:` type($result)";
}
class HetIR_IntBinary<string mnemonic, list<Trait> traits = []>
    : HetIR_Op<mnemonic,
               !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let arguments = (ins HetIR_Int:$a, HetIR_Int:$b);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($result)";
}
class HetIR_SignedBinary<string mnemonic, list<Trait> traits = []>
    : HetIR_IntBinary<mnemonic, traits> {
  let arguments = (ins HetIR_Int:$a, HetIR_Int:$b, UnitAttr:$is_signed);
}

def HetIR_MulHiOp : HetIR_SignedBinary<"mul_hi", [Commutative]> {
  let summary = "upper half of the full product";
}
def HetIR_DivOp : HetIR_SignedBinary<"div"> {
  let summary = "quotient toward zero";
  let description = [{
    Total: division by zero gives all ones; the most negative value divided by
    minus one gives itself.
  }];
}
def HetIR_RemOp : HetIR_SignedBinary<"rem"> {
  let summary = "remainder with the sign of the dividend";
  let description = [{
    Total: remainder by zero gives all ones; the most negative value by minus
    one gives zero.
  }];
}
def HetIR_AddSatOp : HetIR_SignedBinary<"add_sat", [Commutative]> {
  let summary = "sum clamped to the range of the type";
}
def HetIR_SubSatOp : HetIR_SignedBinary<"sub_sat"> {
  let summary = "difference clamped to the range of the type";
}

class HetIR_Shift<string mnemonic> : HetIR_Op<mnemonic,
    [Pure, AllTypesMatch<["a", "result"]>]> {
  let results = (outs HetIR_Int:$result);
}
def HetIR_ShlOp : HetIR_Shift<"shl"> {
  let summary = "left shift; amounts of the width or more give zero";
  let arguments = (ins HetIR_Int:$a, HetIR_I32:$amount);
  let assemblyFormat = "$a `,` $amount attr-dict `:` type($a) `,` type($amount)";
}
def HetIR_ShrOp : HetIR_Shift<"shr"> {
  let summary = "right shift; amounts of the width or more give zero, or the "
                "sign when signed";
  let arguments = (ins HetIR_Int:$a, HetIR_I32:$amount, UnitAttr:$is_signed);
  let assemblyFormat = "$a `,` $amount attr-dict `:` type($a) `,` type($amount)";
}
def HetIR_FunnelShiftOp : HetIR_Op<"funnel_shift",
    [Pure, SameOperandsAndResultType]> {
  let summary = "shift of the 64-bit pair {hi,lo}, 32 bits kept";
  let description = [{
    Left keeps the upper, right the lower half. The amount is taken modulo 32
    when `wrap`, otherwise clamped to 32.
  }];
  let arguments = (ins HetIR_I32:$lo, HetIR_I32:$hi, HetIR_I32:$amount,
                       UnitAttr:$right, UnitAttr:$wrap);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$lo `,` $hi `,` $amount attr-dict `:` type($result)";
}

def HetIR_AbsOp : HetIR_IntUnary<"abs"> {
  let summary = "absolute value; the most negative value gives itself";
}
def HetIR_BrevOp : HetIR_IntUnary<"brev"> { let summary = "bits reversed"; }

class HetIR_BitCount<string mnemonic> : HetIR_Op<mnemonic, [Pure]> {
  let results = (outs HetIR_I32:$result);
}
def HetIR_PopcOp : HetIR_BitCount<"popc"> {
  let summary = "number of ones";
  let arguments = (ins HetIR_Int:$a);
  let assemblyFormat = "$a attr-dict `:` type($a) `->` type($result)";
}
def HetIR_ClzOp : HetIR_BitCount<"clz"> {
  let summary = "number of leading zeros; the width for zero";
  let arguments = (ins HetIR_Int:$a);
  let assemblyFormat = "$a attr-dict `:` type($a) `->` type($result)";
}
def HetIR_BfindOp : HetIR_BitCount<"bfind"> {
  let summary = "position of the most significant non-sign bit";
  let description = [{
    0xffffffff when there is none. With `shift_amount` the result is the left
    shift that would bring that bit to the top.
  }];
  let arguments = (ins HetIR_Int:$a, UnitAttr:$is_signed,
                       UnitAttr:$shift_amount);
  let assemblyFormat = "$a attr-dict `:` type($a) `->` type($result)";
}
def HetIR_FnsOp : HetIR_Op<"fns", [Pure, SameOperandsAndResultType]> {
  let summary = "position of the n-th set bit of a 32-bit mask from a base";
  let arguments = (ins HetIR_I32:$mask, HetIR_I32:$base, HetIR_I32:$n);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$mask `,` $base `,` $n attr-dict `:` type($result)";
}

def HetIR_BfeOp : HetIR_Op<"bfe", [Pure, AllTypesMatch<["a", "result"]>]> {
  let summary = "bit field of length `len` at `pos`";
  let description = [{
    Of `pos` and `len` the low 8 bits count, or all for 64-bit fields.
    Zero- or, when signed, sign-extended; bits past the top take the sign bit
    when signed, else zero. Length zero gives zero.
  }];
  let arguments = (ins HetIR_Int:$a, HetIR_I32:$pos, HetIR_I32:$len,
                       UnitAttr:$is_signed);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat =
      "$a `,` $pos `,` $len attr-dict `:` type($a) `,` type($pos) `,` type($len)";
}
def HetIR_BfiOp : HetIR_Op<"bfi", [Pure, AllTypesMatch<["a", "b", "result"]>]> {
  let summary = "inserts the low `len` bits of `a` into `b` at `pos`";
  let arguments = (ins HetIR_Int:$a, HetIR_Int:$b, HetIR_I32:$pos,
                       HetIR_I32:$len);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$a `,` $b `,` $pos `,` $len attr-dict `:` "
                       "type($a) `,` type($pos) `,` type($len)";
}
def HetIR_BmskOp : HetIR_Op<"bmsk", [Pure, SameOperandsAndResultType]> {
  let summary = "`len` ones starting at bit `pos`, both wrapped or clamped";
  let arguments = (ins HetIR_I32:$pos, HetIR_I32:$len, UnitAttr:$wrap);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$pos `,` $len attr-dict `:` type($result)";
}
def HetIR_SzextOp : HetIR_Op<"szext", [Pure, SameOperandsAndResultType]> {
  let summary = "sign- or zero-extends the low `bits` bits";
  let arguments = (ins HetIR_I32:$a, HetIR_I32:$bits, UnitAttr:$is_signed,
                       UnitAttr:$wrap);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$a `,` $bits attr-dict `:` type($result)";
}

def HetIR_PrmtModeEnum : HetIR_Enum<"PrmtMode", "byte permute mode", [
  I32EnumAttrCase<"index", 0>, I32EnumAttrCase<"f4e", 1>,
  I32EnumAttrCase<"b4e", 2>, I32EnumAttrCase<"rc8", 3>,
  I32EnumAttrCase<"ecl", 4>, I32EnumAttrCase<"ecr", 5>,
  I32EnumAttrCase<"rc16", 6>]>;
def HetIR_PrmtModeAttr
    : HetIR_DictEnumAttr<HetIR_PrmtModeEnum, "prmt_mode">;
def HetIR_PrmtOp : HetIR_Op<"prmt", [Pure, SameOperandsAndResultType]> {
  let summary = "picks four bytes of the pair {b,a}";
  let arguments = (ins HetIR_I32:$a, HetIR_I32:$b, HetIR_I32:$selector,
                       DefaultValuedAttr<HetIR_PrmtModeAttr,
                           "::hetgpu::hetir::PrmtMode::index">:$mode);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$a `,` $b `,` $selector attr-dict `:` type($result)";
}
def HetIR_Lop3Op : HetIR_Op<"lop3", [Pure, SameOperandsAndResultType]> {
  let summary = "any bitwise function of three inputs";
  let description = [{
    Bit `4 a + 2 b + c` of `lut` is the result for input bits a, b, c.
  }];
  let arguments = (ins HetIR_Int:$a, HetIR_Int:$b, HetIR_Int:$c,
                       ConfinedAttr<I32Attr, [IntMinValue<0>,
                                              IntMaxValue<255>]>:$lut);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$a `,` $b `,` $c `lut` $lut attr-dict `:` type($result)";
}
def HetIR_SadOp : HetIR_Op<"sad", [Pure, SameOperandsAndResultType]> {
  let summary = "c + |a - b|";
  let arguments = (ins HetIR_Int:$a, HetIR_Int:$b, HetIR_Int:$c,
                       UnitAttr:$is_signed);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}
def HetIR_Mul24Op : HetIR_Op<"mul24", [Pure, SameOperandsAndResultType]> {
  let summary = "product of the low 24 bits; low 32 or (hi) upper 32 of 48 bits";
  let arguments = (ins HetIR_I32:$a, HetIR_I32:$b, UnitAttr:$is_signed,
                       UnitAttr:$hi);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($result)";
}
class HetIR_Dot<string mnemonic> : HetIR_Op<mnemonic,
    [Pure, SameOperandsAndResultType]> {
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}
def HetIR_Dp4aOp : HetIR_Dot<"dp4a"> {
  let summary = "c + dot product of four bytes of a and b";
  let arguments = (ins HetIR_I32:$a, HetIR_I32:$b, HetIR_I32:$c,
                       UnitAttr:$a_signed, UnitAttr:$b_signed);
}
def HetIR_Dp2aOp : HetIR_Dot<"dp2a"> {
  let summary = "c + dot product of two halves of a and the low or high two "
                "bytes of b";
  let arguments = (ins HetIR_I32:$a, HetIR_I32:$b, HetIR_I32:$c,
                       UnitAttr:$a_signed, UnitAttr:$b_signed, UnitAttr:$hi);
}

class HetIR_Carry<string mnemonic> : HetIR_Op<mnemonic,
    [Pure, AllTypesMatch<["a", "b", "result"]>,
     AllTypesMatch<["carry_in", "carry_out"]>]> {
  let arguments = (ins HetIR_Int:$a, HetIR_Int:$b, HetIR_Bool:$carry_in);
  let results = (outs HetIR_Int:$result, HetIR_Bool:$carry_out);
  let assemblyFormat =
      "$a `,` $b `,` $carry_in attr-dict `:` type($a) `,` type($carry_in)";
}
def HetIR_AddCarryOp : HetIR_Carry<"add_carry"> {
  let summary = "a + b + carry, and the carry out";
}
def HetIR_SubBorrowOp : HetIR_Carry<"sub_borrow"> {
  let summary = "a - b - borrow, and the borrow out";
}

#endif  // HETGPU_HETIR_DIALECT_HETIRINTEGER_TD_
