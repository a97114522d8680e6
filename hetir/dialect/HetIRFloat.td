// Float ops. Each states rounding, flush-to-zero and saturation.
//   ftz  subnormal inputs and results become zero of the same sign (f32 only)
//   sat  the result is clamped to [0, 1]; NaN becomes +0
// A NaN result is the canonical NaN in strict mode; its payload is unspecified
// in native mode.
#ifndef HETGPU_HETIR_DIALECT_HETIRFLOAT_TD_
#define HETGPU_HETIR_DIALECT_HETIRFLOAT_TD_

include "hetir/dialect/HetIRBase.td"

defvar RoundNearest = "::hetgpu::hetir::Rounding::rn";

class HetIR_FloatBinary<string mnemonic, list<Trait> traits = []>
    : HetIR_Op<mnemonic,
               !listconcat([Pure, SameOperandsAndResultType], traits)> {
  let arguments = (ins HetIR_Float:$a, HetIR_Float:$b,
      DefaultValuedAttr<HetIR_RoundingAttr, RoundNearest>:$rounding,
      UnitAttr:$ftz, UnitAttr:$sat);
  let results = (outs HetIR_Float:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($result)";
}
def HetIR_FAddOp : HetIR_FloatBinary<"fadd", [Commutative]> {
  let summary = "a + b";
}
def HetIR_FSubOp : HetIR_FloatBinary<"fsub"> { let summary = "a - b"; }
def HetIR_FMulOp : HetIR_FloatBinary<"fmul", [Commutative]> {
  let summary = "a * b";
}
def HetIR_FDivOp : HetIR_FloatBinary<"fdiv"> {
  let summary = "a / b";
  let description = [{`approx` and `full`: at most 2 ulp.}];
}
def HetIR_FFmaOp : HetIR_Op<"ffma", [Pure, SameOperandsAndResultType]> {
  let summary = "a * b + c, rounded once";
  let arguments = (ins HetIR_Float:$a, HetIR_Float:$b, HetIR_Float:$c,
      DefaultValuedAttr<HetIR_RoundingAttr, RoundNearest>:$rounding,
      UnitAttr:$ftz, UnitAttr:$sat, UnitAttr:$relu);
  let results = (outs HetIR_Float:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
}

class HetIR_FloatUnary<string mnemonic>
    : HetIR_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins HetIR_Float:$a, UnitAttr:$ftz);
  let results = (outs HetIR_Float:$result);
  let assemblyFormat = "$a attr-dict `:` type($result)";
}
class HetIR_RoundedUnary<string mnemonic> : HetIR_FloatUnary<mnemonic> {
  let arguments = (ins HetIR_Float:$a,
      DefaultValuedAttr<HetIR_RoundingAttr, RoundNearest>:$rounding,
      UnitAttr:$ftz);
}
def HetIR_FNegOp : HetIR_FloatUnary<"fneg"> { let summary = "sign flipped"; }
def HetIR_FAbsOp : HetIR_FloatUnary<"fabs"> { let summary = "sign cleared"; }
def HetIR_FSqrtOp : HetIR_RoundedUnary<"fsqrt"> {
  let summary = "square root; approx: at most 1 ulp";
}
def HetIR_FRcpOp : HetIR_RoundedUnary<"frcp"> {
  let summary = "1 / a; approx: at most 1 ulp";
}

def HetIR_ApproxEnum : HetIR_Enum<"Approx", "approximate function", [
  I32EnumAttrCase<"rsqrt", 0>, I32EnumAttrCase<"ex2", 1>,
  I32EnumAttrCase<"lg2", 2>, I32EnumAttrCase<"sin", 3>,
  I32EnumAttrCase<"cos", 4>, I32EnumAttrCase<"tanh", 5>,
  // rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: the upper 32 bits of the
  // result; the lower 32 bits of input and result are zero.
  I32EnumAttrCase<"rcp_hi", 6>, I32EnumAttrCase<"rsqrt_hi", 7>]>;
def HetIR_ApproxAttr : HetIR_EnumAttr<HetIR_ApproxEnum, "approx">;
def HetIR_ApproxOp : HetIR_Op<"approx", [Pure, SameOperandsAndResultType]> {
  let summary = "an approximate function with PTX's error bound";
  let arguments = (ins HetIR_ApproxAttr:$function, HetIR_Float:$a,
                       UnitAttr:$ftz);
  let results = (outs HetIR_Float:$result);
  let assemblyFormat = "$function $a attr-dict `:` type($result)";
}

class HetIR_FloatMinMax<string mnemonic>
    : HetIR_Op<mnemonic, [Pure, SameOperandsAndResultType, Commutative]> {
  let description = [{
    -0 is less than +0. If one input is NaN the result is the other one, or NaN
    with `nan`. `xorsign_abs`: of the absolute values, with the sign of a xor b.
  }];
  let arguments = (ins HetIR_Float:$a, HetIR_Float:$b, UnitAttr:$ftz,
                       UnitAttr:$nan, UnitAttr:$xorsign_abs);
  let results = (outs HetIR_Float:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($result)";
}
def HetIR_FMinOp : HetIR_FloatMinMax<"fmin"> { let summary = "the lesser"; }
def HetIR_FMaxOp : HetIR_FloatMinMax<"fmax"> { let summary = "the greater"; }

def HetIR_CopySignOp : HetIR_Op<"copysign",
    [Pure, SameOperandsAndResultType]> {
  let summary = "magnitude of b with the sign of a";
  let arguments = (ins HetIR_Float:$a, HetIR_Float:$b);
  let results = (outs HetIR_Float:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($result)";
}

def HetIR_TestpEnum : HetIR_Enum<"Testp", "property", [
  I32EnumAttrCase<"finite", 0>, I32EnumAttrCase<"infinite", 1>,
  I32EnumAttrCase<"number", 2>, I32EnumAttrCase<"notanumber", 3>,
  I32EnumAttrCase<"normal", 4>, I32EnumAttrCase<"subnormal", 5>]>;
def HetIR_TestpAttr : HetIR_EnumAttr<HetIR_TestpEnum, "testp">;
def HetIR_TestpOp : HetIR_Op<"testp", [Pure]> {
  let summary = "tests a property of a float";
  let arguments = (ins HetIR_TestpAttr:$property, HetIR_Float:$a);
  let results = (outs HetIR_Bool:$result);
  let assemblyFormat = "$property $a attr-dict `:` type($a) `->` type($result)";
}

def HetIR_FCmpEnum : HetIR_Enum<"FCmp", "float comparison", [
  // ordered: false when an input is NaN
  I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>,
  I32EnumAttrCase<"le", 3>, I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>,
  // unordered: true when an input is NaN
  I32EnumAttrCase<"equ", 6>, I32EnumAttrCase<"neu", 7>,
  I32EnumAttrCase<"ltu", 8>, I32EnumAttrCase<"leu", 9>,
  I32EnumAttrCase<"gtu", 10>, I32EnumAttrCase<"geu", 11>,
  I32EnumAttrCase<"num", 12>, I32EnumAttrCase<"nan", 13>]>;
def HetIR_FCmpAttr : HetIR_EnumAttr<HetIR_FCmpEnum, "fcmp_predicate">;
def HetIR_FCmpOp : HetIR_Op<"fcmp", [Pure, SameTypeOperands]> {
  let summary = "compares two floats";
  let arguments = (ins HetIR_FCmpAttr:$predicate, HetIR_Float:$a,
                       HetIR_Float:$b, UnitAttr:$ftz);
  let results = (outs HetIR_Bool:$result);
  let assemblyFormat =
      "$predicate $a `,` $b attr-dict `:` type($a) `->` type($result)";
}

def HetIR_CvtOp : HetIR_Op<"cvt", [Pure]> {
  let summary = "converts between numeric types";
  let description = [{
    Float to float: `rounding` applies when narrowing; rni, rzi, rmi, rpi round
    to an integral value of the same type. Float to integer: rni … rpi; the
    result is clamped to the range, NaN gives zero (for 64-bit sources and
    targets: the most negative value, as hardware does). Integer to float:
    `rounding`. Integer to integer: only saturating conversions; plain ones
    are arith.extsi, arith.extui and arith.trunci. `src_signed`, `dst_signed`
    state the meaning of integer sides. `sat` clamps: floats to [0,1], integers
    to the range of the target. `relu` clamps negative results and NaN to zero.
  }];
  let arguments = (ins AnyType:$a,
      DefaultValuedAttr<HetIR_RoundingAttr, RoundNearest>:$rounding,
      UnitAttr:$ftz, UnitAttr:$sat, UnitAttr:$relu,
      UnitAttr:$src_signed, UnitAttr:$dst_signed);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$a attr-dict `:` type($a) `->` type($result)";
  let hasVerifier = 1;
}

#endif  // HETGPU_HETIR_DIALECT_HETIRFLOAT_TD_
