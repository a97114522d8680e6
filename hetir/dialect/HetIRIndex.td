// Index and shape: which thread is this, and of what grid.
#ifndef HETGPU_HETIR_DIALECT_HETIRINDEX_TD_
#define HETGPU_HETIR_DIALECT_HETIRINDEX_TD_

include "hetir/dialect/HetIRBase.td"

def HetIR_SpecialRegisterEnum : HetIR_Enum<"SpecialRegister", "register", [
  I32EnumAttrCase<"tid_x", 0>, I32EnumAttrCase<"tid_y", 1>,
  I32EnumAttrCase<"tid_z", 2>,
  I32EnumAttrCase<"ntid_x", 3>, I32EnumAttrCase<"ntid_y", 4>,
  I32EnumAttrCase<"ntid_z", 5>,
  I32EnumAttrCase<"ctaid_x", 6>, I32EnumAttrCase<"ctaid_y", 7>,
  I32EnumAttrCase<"ctaid_z", 8>,
  I32EnumAttrCase<"nctaid_x", 9>, I32EnumAttrCase<"nctaid_y", 10>,
  I32EnumAttrCase<"nctaid_z", 11>,
  I32EnumAttrCase<"laneid", 12>, I32EnumAttrCase<"warpid", 13>,
  I32EnumAttrCase<"nwarpid", 14>,
  I32EnumAttrCase<"smid", 15>, I32EnumAttrCase<"nsmid", 16>,
  I32EnumAttrCase<"gridid", 17>,
  I32EnumAttrCase<"lanemask_eq", 18>, I32EnumAttrCase<"lanemask_lt", 19>,
  I32EnumAttrCase<"lanemask_le", 20>, I32EnumAttrCase<"lanemask_gt", 21>,
  I32EnumAttrCase<"lanemask_ge", 22>,
  I32EnumAttrCase<"dynamic_smem_size", 23>,
  I32EnumAttrCase<"total_smem_size", 24>,
  I32EnumAttrCase<"grid_workspace_hi", 25>,
  I32EnumAttrCase<"grid_workspace_lo", 26>]>;
def HetIR_SpecialRegisterAttr
    : HetIR_EnumAttr<HetIR_SpecialRegisterEnum, "sreg">;

def HetIR_SpecialRegisterOp : HetIR_Op<"special_register", [Pure]> {
  let summary = "reads a special register that is constant for the thread";
  let description = [{
    `i32` (`gridid`: `i64`). `laneid` is the linear thread id modulo 32,
    `warpid` the quotient, on every backend. `grid_workspace_hi` and `_lo` are
    the words of the generic address of 64 bytes that a cooperative launch has
    for barriers of its grid, zero when it begins; of other launches 0.
  }];
  let arguments = (ins HetIR_SpecialRegisterAttr:$reg);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$reg attr-dict `:` type($result)";
}

def HetIR_TimerEnum : HetIR_Enum<"Timer", "timer", [
  I32EnumAttrCase<"clock", 0>, I32EnumAttrCase<"clock_hi", 1>,
  I32EnumAttrCase<"clock64", 2>, I32EnumAttrCase<"globaltimer", 3>,
  I32EnumAttrCase<"globaltimer_lo", 4>, I32EnumAttrCase<"globaltimer_hi", 5>]>;
def HetIR_TimerAttr : HetIR_EnumAttr<HetIR_TimerEnum, "timer">;

def HetIR_TimerOp : HetIR_Op<"timer",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "reads a clock; globaltimer counts nanoseconds";
  let arguments = (ins HetIR_TimerAttr:$timer);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$timer attr-dict `:` type($result)";
}

#endif  // HETGPU_HETIR_DIALECT_HETIRINDEX_TD_
