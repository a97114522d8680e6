// Ops that exist only after simt-to-simd, where one op serves a warp: a lane's
// value is an element of a 32-element vector.
#ifndef HETGPU_HETIR_DIALECT_HETIRSIMD_TD_
#define HETGPU_HETIR_DIALECT_HETIRSIMD_TD_

include "hetir/dialect/HetIRBase.td"

def HetIR_WarpLanesOp : HetIR_Op<"warp_lanes", [Pure]> {
  let summary = "lanes of this warp that exist: the last warp of a block may "
                "be partial";
  let results = (outs HetIR_Mask:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def HetIR_MaskBitsOp : HetIR_Op<"mask_bits", [Pure]> {
  let summary = "a lane mask as an integer, lane 0 in bit 0";
  let arguments = (ins HetIR_Mask:$mask);
  let results = (outs I32:$result);
  let assemblyFormat = "$mask attr-dict `:` type($mask)";
}
def HetIR_TrapLanesOp : HetIR_Op<"trap_lanes",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends the launch with an error on behalf of the lanes of the "
                "mask; without a mask, of the thread";
  let arguments = (ins Optional<HetIR_Mask>:$mask);
  let assemblyFormat = "($mask^)? attr-dict (`:` type($mask)^)?";
}

#endif  // HETGPU_HETIR_DIALECT_HETIRSIMD_TD_
