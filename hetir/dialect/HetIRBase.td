// The hetir dialect: base records, type constraints and enums shared by the
// category files (HetIR*.td). Start reading at HetIROps.td.
#ifndef HETGPU_HETIR_DIALECT_HETIRBASE_TD_
#define HETGPU_HETIR_DIALECT_HETIRBASE_TD_

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def HetIR_Dialect : Dialect {
  let name = "hetir";
  let cppNamespace = "::hetgpu::hetir";
  let summary = "vendor-neutral SIMT programs";
  let description = [{
    A kernel is run by a grid of blocks of threads; threads form warps of 32 by
    linear id. Ops describe one thread; after `simt-to-simd` the same ops
    describe one warp, with `vector<32xT>` operands and lane masks. Integers are
    signless; where the sign matters an attribute says so. Every op is total or
    traps: there is no poison and no undefined behaviour.

    Upstream dialects are used where their meaning is exact: `arith` for integer
    add, subtract, multiply, bitwise logic, min/max, compare, select, extension,
    truncation and bitcast; `cf` for branches; `func` for device functions;
    `scf` after lifting; `vector` after SIMD-isation.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = [
    "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect",
    "::mlir::func::FuncDialect",
  ];
}

class HetIR_Op<string mnemonic, list<Trait> traits = []>
    : Op<HetIR_Dialect, mnemonic, traits>;

// Scalars or vectors of one lane each.
def HetIR_Int : TypeConstraint<SignlessIntegerLike.predicate,
                               "integer or vector of integers">;
def HetIR_Float : TypeConstraint<FloatLike.predicate,
                                 "float or vector of floats">;
def HetIR_Bool : TypeConstraint<BoolLike.predicate, "i1 or vector of i1">;
def HetIR_I32 : AnyTypeOf<[I32, VectorOf<[I32]>]>;
def HetIR_I64 : AnyTypeOf<[I64, VectorOf<[I64]>]>;
// An address: 64-bit, or 32-bit in the shared, local, const and param spaces.
def HetIR_Address : AnyTypeOf<[I32, I64, VectorOf<[I32]>, VectorOf<[I64]>]>;
// What memory ops move. Vectors of two halves are packed pairs.
def HetIR_Value : AnyTypeOf<[AnySignlessInteger, AnyFloat, AnyVector]>;
// The lanes that take part; absent means all of the (single) thread.
def HetIR_Mask : VectorOf<[I1]>;

class HetIR_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::hetgpu::hetir";
  let genSpecializedAttr = 0;
}
// Written bare: an operand-like part of an op's syntax.
class HetIR_EnumAttr<HetIR_Enum enum, string mnemonic>
    : EnumAttr<HetIR_Dialect, enum, mnemonic> {
  let assemblyFormat = "$value";
}
// Written `<value>`: usually found in an attribute dictionary.
class HetIR_DictEnumAttr<HetIR_Enum enum, string mnemonic>
    : EnumAttr<HetIR_Dialect, enum, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def HetIR_AddressSpaceEnum : HetIR_Enum<"Space", "memory space", [
  I32EnumAttrCase<"generic", 0>, I32EnumAttrCase<"global", 1>,
  I32EnumAttrCase<"constant", 2, "const">, I32EnumAttrCase<"shared", 3>,
  I32EnumAttrCase<"local", 4>, I32EnumAttrCase<"param", 5>]>;
def HetIR_SpaceAttr : HetIR_EnumAttr<HetIR_AddressSpaceEnum, "space">;

def HetIR_RoundingEnum : HetIR_Enum<"Rounding", "rounding mode", [
  I32EnumAttrCase<"rn", 0>,   // to nearest even
  I32EnumAttrCase<"rz", 1>,   // toward zero
  I32EnumAttrCase<"rm", 2>,   // toward minus infinity
  I32EnumAttrCase<"rp", 3>,   // toward plus infinity
  I32EnumAttrCase<"rna", 4>,  // to nearest, ties away from zero
  I32EnumAttrCase<"approx", 5>,  // not exact: bound in the op's description
  I32EnumAttrCase<"full", 6>,    // div.full: approximate over the full range
  I32EnumAttrCase<"rni", 7>,  // to an integral value, as rn
  I32EnumAttrCase<"rzi", 8>, I32EnumAttrCase<"rmi", 9>,
  I32EnumAttrCase<"rpi", 10>]>;
def HetIR_RoundingAttr : HetIR_DictEnumAttr<HetIR_RoundingEnum, "rounding">;

def HetIR_OrderingEnum : HetIR_Enum<"Ordering", "memory ordering", [
  I32EnumAttrCase<"weak", 0>, I32EnumAttrCase<"relaxed", 1>,
  I32EnumAttrCase<"acquire", 2>, I32EnumAttrCase<"release", 3>,
  I32EnumAttrCase<"acq_rel", 4>, I32EnumAttrCase<"sc", 5>,
  // PTX .volatile: relaxed at system scope, and never merged or removed.
  I32EnumAttrCase<"volatile_", 6, "volatile">]>;
def HetIR_OrderingAttr : HetIR_DictEnumAttr<HetIR_OrderingEnum, "ordering">;

def HetIR_ScopeEnum : HetIR_Enum<"Scope", "memory scope", [
  I32EnumAttrCase<"block", 0>, I32EnumAttrCase<"cluster", 1>,
  I32EnumAttrCase<"device", 2>, I32EnumAttrCase<"system", 3>]>;
def HetIR_ScopeAttr : HetIR_DictEnumAttr<HetIR_ScopeEnum, "scope">;

def HetIR_CacheHintEnum : HetIR_Enum<"CacheHint", "cache hint", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"read_only", 1>,  // ld.global.nc
  I32EnumAttrCase<"streaming", 2>, I32EnumAttrCase<"last_use", 3>,
  I32EnumAttrCase<"cache_global", 4>,     // past the first level: .cg
  I32EnumAttrCase<"write_through", 5>]>;  // .wt
def HetIR_CacheHintAttr : HetIR_DictEnumAttr<HetIR_CacheHintEnum, "cache">;

#endif  // HETGPU_HETIR_DIALECT_HETIRBASE_TD_
