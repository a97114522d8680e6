// Kernels, calls, and ways to end.
#ifndef HETGPU_HETIR_DIALECT_HETIRCONTROL_TD_
#define HETGPU_HETIR_DIALECT_HETIRCONTROL_TD_

include "hetir/dialect/HetIRBase.td"

def HetIR_KernelOp : HetIR_Op<"kernel",
    [Symbol, IsolatedFromAbove, AutomaticAllocationScope]> {
  let summary = "an entry point, run by every thread of a grid";
  let description = [{
    Takes no SSA arguments: parameters are read with `hetir.load param` at
    offsets of the parameter block. Blocks end in `cf` branches or `hetir.exit`.
    Attributes: `param_bytes` size of the block; `static_shared` bytes of shared
    memory incl. that of reachable functions; `dynamic_shared_offset`;
    `max_threads`, `required_threads` (x, y, z; 0 = not given); `lanes` threads
    described by the body: 1, or 32 after simt-to-simd; `min_blocks` per
    multiprocessor and `max_registers` per thread, hints for GPUs, 0 = not
    given.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
      DefaultValuedAttr<I64Attr, "0">:$param_bytes,
      DefaultValuedAttr<I64Attr, "0">:$static_shared,
      DefaultValuedAttr<I64Attr, "0">:$dynamic_shared_offset,
      OptionalAttr<DenseI32ArrayAttr>:$max_threads,
      OptionalAttr<DenseI32ArrayAttr>:$required_threads,
      DefaultValuedAttr<I64Attr, "1">:$lanes,
      DefaultValuedAttr<I32Attr, "0">:$min_blocks,
      DefaultValuedAttr<I32Attr, "0">:$max_registers);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def HetIR_ExitOp : HetIR_Op<"exit", [Terminator]> {
  let summary = "ends the thread, in a kernel or in a device function";
  let assemblyFormat = "attr-dict";
}
def HetIR_TrapOp : HetIR_Op<"trap", [Terminator]> {
  let summary = "ends the launch with an error";
  let assemblyFormat = "attr-dict";
}
def HetIR_UnreachableOp : HetIR_Op<"unreachable", [Terminator]> {
  let summary = "follows a call that does not return; traps if reached";
  let assemblyFormat = "attr-dict";
}

class HetIR_ServiceOp<string mnemonic>
    : HetIR_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;
def HetIR_AssertFailOp : HetIR_ServiceOp<"assert_fail"> {
  let summary = "ends the launch with an assertion message (generic addresses "
                "of zero-terminated strings); in warp code `lane` says whose";
  let arguments = (ins I64:$message, I64:$file, I32:$line, I64:$function,
                       I64:$char_size, Optional<I32>:$lane);
  let assemblyFormat = "$message `,` $file `,` $line `,` $function `,` "
                       "$char_size (`lane` $lane^)? attr-dict";
  let builders = [OpBuilder<(ins "mlir::Value":$message, "mlir::Value":$file,
                                 "mlir::Value":$line, "mlir::Value":$function,
                                 "mlir::Value":$char_size), [{
    build($_builder, $_state, message, file, line, function, char_size,
          mlir::Value());
  }]>];
}
def HetIR_VprintfOp : HetIR_ServiceOp<"vprintf"> {
  let summary = "prints; arguments lie in a buffer as C varargs would, each "
                "aligned to its size (generic addresses)";
  let arguments = (ins I64:$format, I64:$arguments);
  let results = (outs I32:$result);
  let assemblyFormat = "$format `,` $arguments attr-dict `:` type($result)";
}
def HetIR_MallocOp : HetIR_ServiceOp<"malloc"> {
  let summary = "allocates from the device heap; null when exhausted";
  let arguments = (ins I64:$size);
  let results = (outs I64:$result);
  let assemblyFormat = "$size attr-dict `:` type($result)";
}
def HetIR_FreeOp : HetIR_ServiceOp<"free"> {
  let summary = "returns memory to the device heap";
  let arguments = (ins I64:$address);
  let assemblyFormat = "$address attr-dict";
}

def HetIR_FunctionTokenOp : HetIR_Op<"function_token", [Pure]> {
  let summary = "a device-neutral function pointer";
  let description = [{
    The 1-based index of the function among the `.func` definitions of the
    module in source order: the same on every device and in every kernel.
  }];
  let arguments = (ins FlatSymbolRefAttr:$function, I64Attr:$token);
  let results = (outs I64:$result);
  let assemblyFormat = "$function `=` $token attr-dict `:` type($result)";
}
def HetIR_CallIndirectOp : HetIR_ServiceOp<"call_indirect"> {
  let summary = "calls the function a token names";
  let description = [{
    `candidates` are the functions of the module with this signature whose
    address is taken, `tokens` theirs. Any other token traps.
  }];
  let arguments = (ins I64:$callee, Variadic<AnyType>:$inputs,
                       TypedArrayAttrBase<FlatSymbolRefAttr,
                           "functions">:$candidates,
                       DenseI64ArrayAttr:$tokens);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` `among` $candidates $tokens "
                       "attr-dict `:` functional-type($inputs, $outputs)";
}

def HetIR_VendorOp : HetIR_Op<"vendor",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one instruction of one vendor, verbatim";
  let description = [{
    `text` is the instruction with $0, $1, … for results then operands. Every
    backend but the vendor's refuses the kernel, naming instruction and line.
  }];
  let arguments = (ins StrAttr:$vendor, StrAttr:$text, StrAttr:$constraints,
                       Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$outputs);
  let assemblyFormat = "$vendor $text $constraints `(` $inputs `)` attr-dict "
                       "`:` functional-type($inputs, $outputs)";
}

#endif  // HETGPU_HETIR_DIALECT_HETIRCONTROL_TD_
