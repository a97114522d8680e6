// Memory: addresses are integers (rule 2 of the design); ops state space,
// ordering, scope and alignment. `index` is a byte offset kept apart from a
// recovered base (pass recover-pointers); the address accessed is
// address + index + offset. An access that is not a multiple of its natural
// alignment, or outside live memory, ends the launch with an error.
#ifndef HETGPU_HETIR_DIALECT_HETIRMEMORY_TD_
#define HETGPU_HETIR_DIALECT_HETIRMEMORY_TD_

include "hetir/dialect/HetIRBase.td"

defvar WeakOrdering = "::hetgpu::hetir::Ordering::weak";
defvar DeviceScope = "::hetgpu::hetir::Scope::device";
defvar NoHint = "::hetgpu::hetir::CacheHint::none";

def HetIR_LoadOp : HetIR_Op<"load",
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "loads 1, 2, 4 or 8 values of one type from adjacent addresses";
  let description = [{
    A sub-word integer is loaded at its own width; extension is a separate op.
    Loads that are not weak also count as writes: no pass may merge, remove or
    reorder them.
  }];
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_Address:$address,
      Optional<HetIR_Address>:$index, Optional<HetIR_Mask>:$mask,
      DefaultValuedAttr<I64Attr, "0">:$offset,
      DefaultValuedAttr<HetIR_OrderingAttr, WeakOrdering>:$ordering,
      DefaultValuedAttr<HetIR_ScopeAttr, DeviceScope>:$scope,
      DefaultValuedAttr<HetIR_CacheHintAttr, NoHint>:$cache);
  let results = (outs Variadic<HetIR_Value>:$values);
  let assemblyFormat = [{
    $space $address (`[` $index^ `]`)? (`mask` $mask^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def HetIR_StoreOp : HetIR_Op<"store",
    [AttrSizedOperandSegments, MemoryEffects<[MemWrite]>]> {
  let summary = "stores 1, 2, 4 or 8 values of one type to adjacent addresses";
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_Address:$address,
      Optional<HetIR_Address>:$index, Variadic<HetIR_Value>:$values,
      Optional<HetIR_Mask>:$mask,
      DefaultValuedAttr<I64Attr, "0">:$offset,
      DefaultValuedAttr<HetIR_OrderingAttr, WeakOrdering>:$ordering,
      DefaultValuedAttr<HetIR_ScopeAttr, DeviceScope>:$scope,
      DefaultValuedAttr<HetIR_CacheHintAttr, NoHint>:$cache);
  let assemblyFormat = [{
    $space $address (`[` $index^ `]`)? `,` `(` $values `)` (`mask` $mask^)?
    attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

def HetIR_AtomicKindEnum : HetIR_Enum<"AtomicKind", "atomic operation", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"and_", 1, "and">,
  I32EnumAttrCase<"or_", 2, "or">, I32EnumAttrCase<"xor_", 3, "xor">,
  I32EnumAttrCase<"exch", 4>, I32EnumAttrCase<"smin", 5>,
  I32EnumAttrCase<"smax", 6>, I32EnumAttrCase<"umin", 7>,
  I32EnumAttrCase<"umax", 8>, I32EnumAttrCase<"inc", 9>,
  I32EnumAttrCase<"dec", 10>, I32EnumAttrCase<"fadd", 11>,
  I32EnumAttrCase<"fmin", 12>, I32EnumAttrCase<"fmax", 13>]>;
def HetIR_AtomicKindAttr : HetIR_EnumAttr<HetIR_AtomicKindEnum, "atomic_kind">;

def HetIR_AtomicOp : HetIR_Op<"atomic",
    [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "read-modify-write; the result is the old value";
  let description = [{
    inc: old >= v ? 0 : old + 1. dec: old == 0 or old > v ? v : old - 1. A value
    of type vector<2xf16> or vector<2xbf16> is updated half by half. `ftz` as in
    the float ops (f32 add on global and shared memory flushes as PTX says).
  }];
  let arguments = (ins HetIR_AtomicKindAttr:$kind, HetIR_SpaceAttr:$space,
      HetIR_Address:$address, Optional<HetIR_Address>:$index,
      HetIR_Value:$value, Optional<HetIR_Mask>:$mask,
      DefaultValuedAttr<I64Attr, "0">:$offset,
      DefaultValuedAttr<HetIR_OrderingAttr,
          "::hetgpu::hetir::Ordering::relaxed">:$ordering,
      DefaultValuedAttr<HetIR_ScopeAttr, DeviceScope>:$scope, UnitAttr:$ftz);
  let results = (outs HetIR_Value:$old);
  let assemblyFormat = [{
    $kind $space $address (`[` $index^ `]`)? `,` $value (`mask` $mask^)?
    attr-dict `:` functional-type(operands, results)
  }];
}
def HetIR_AtomicCasOp : HetIR_Op<"atomic_cas",
    [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "compare and swap; the result is the old value";
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_Address:$address,
      Optional<HetIR_Address>:$index, HetIR_Int:$compare, HetIR_Int:$value,
      Optional<HetIR_Mask>:$mask,
      DefaultValuedAttr<I64Attr, "0">:$offset,
      DefaultValuedAttr<HetIR_OrderingAttr,
          "::hetgpu::hetir::Ordering::relaxed">:$ordering,
      DefaultValuedAttr<HetIR_ScopeAttr, DeviceScope>:$scope);
  let results = (outs HetIR_Int:$old);
  let assemblyFormat = [{
    $space $address (`[` $index^ `]`)? `,` $compare `,` $value (`mask` $mask^)?
    attr-dict `:` functional-type(operands, results)
  }];
}
def HetIR_FenceOp : HetIR_Op<"fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders memory accesses of this thread";
  let arguments = (ins HetIR_OrderingAttr:$ordering, HetIR_ScopeAttr:$scope);
  let assemblyFormat = "$ordering $scope attr-dict";
}
def HetIR_PrefetchOp : HetIR_Op<"prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "hint that an address will be read";
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_Address:$address,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = "$space $address attr-dict `:` type($address)";
}

def HetIR_DataAddressOp : HetIR_Op<"data_address", [Pure]> {
  let summary = "address of module data: global or const variable";
  let description = [{
    Module data segment + `offset`; a global address is also its generic
    address. `symbol` is the variable's name, for people and analyses. `extent`
    is where the variable lies in the segment: offset and size.
  }];
  let arguments = (ins StrAttr:$symbol, I64Attr:$offset,
                       HetIR_SpaceAttr:$space,
                       OptionalAttr<DenseI64ArrayAttr>:$extent);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$symbol `at` $offset $space attr-dict `:` type($result)";
}
def HetIR_SharedAddressOp : HetIR_Op<"shared_address", [Pure]> {
  let summary = "shared-space address of a variable: an offset in the block's "
                "shared memory";
  let arguments = (ins StrAttr:$symbol, I64Attr:$offset, UnitAttr:$dynamic);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$symbol `at` $offset attr-dict `:` type($result)";
}
def HetIR_LocalAllocOp : HetIR_Op<"local_alloc",
    [MemoryEffects<[MemAlloc]>]> {
  let summary = "per-thread memory of the enclosing kernel or function";
  let description = [{
    Lives until the function returns; in the entry block only. The result is a
    local-space address; as a vector, one address a lane, each of its own
    `size` bytes.
  }];
  let arguments = (ins StrAttr:$symbol, I64Attr:$size, I64Attr:$align);
  let results = (outs HetIR_I64:$result);
  let assemblyFormat = "$symbol `size` $size `align` $align attr-dict "
                       "`:` type($result)";
}
def HetIR_StackAllocOp : HetIR_Op<"stack_alloc",
    [MemoryEffects<[MemAlloc, MemRead, MemWrite]>]> {
  let summary = "per-thread memory of a size known at run time";
  let description = [{
    As `local_alloc`, anywhere. It lives until the function returns, or until
    `stack_restore` gives it back.
  }];
  let arguments = (ins I64:$bytes, I64Attr:$align);
  let results = (outs I64:$result);
  let assemblyFormat = "$bytes `align` $align attr-dict";
}
def HetIR_StackSaveOp : HetIR_Op<"stack_save",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "how much of the stack is in use, for stack_restore";
  let arguments = (ins);
  let results = (outs I64:$result);
  let assemblyFormat = "attr-dict";
}
def HetIR_StackRestoreOp : HetIR_Op<"stack_restore",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "gives back what stack_alloc has made since a stack_save";
  let arguments = (ins I64:$saved);
  let assemblyFormat = "$saved attr-dict";
}
def HetIR_ToGenericOp : HetIR_Op<"to_generic", [Pure]> {
  let summary = "converts an address of a space to a generic address";
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_Address:$address);
  let results = (outs HetIR_I64:$result);
  let assemblyFormat =
      "$space $address attr-dict `:` type($address) `->` type($result)";
}
def HetIR_FromGenericOp : HetIR_Op<"from_generic", [Pure]> {
  let summary = "converts a generic address to an address of a space";
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_I64:$address);
  let results = (outs HetIR_Address:$result);
  let assemblyFormat =
      "$space $address attr-dict `:` type($address) `->` type($result)";
}
def HetIR_IsSpaceOp : HetIR_Op<"is_space", [Pure]> {
  let summary = "whether a generic address lies in a space";
  let arguments = (ins HetIR_SpaceAttr:$space, HetIR_Address:$address);
  let results = (outs HetIR_Bool:$result);
  let assemblyFormat =
      "$space $address attr-dict `:` type($address) `->` type($result)";
}

#endif  // HETGPU_HETIR_DIALECT_HETIRMEMORY_TD_
