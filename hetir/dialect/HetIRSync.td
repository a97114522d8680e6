// Synchronisation and warp collectives. All are convergent: no pass may make
// them depend on more control flow, or move or duplicate them across it.
#ifndef HETGPU_HETIR_DIALECT_HETIRSYNC_TD_
#define HETGPU_HETIR_DIALECT_HETIRSYNC_TD_

include "hetir/dialect/HetIRBase.td"

def HetIR_Convergent : NativeOpTrait<"Convergent"> {
  let cppNamespace = "::hetgpu::hetir";
}
class HetIR_SyncOp<string mnemonic, list<Trait> traits = []>
    : HetIR_Op<mnemonic, !listconcat(
          [HetIR_Convergent, MemoryEffects<[MemRead, MemWrite]>], traits)>;

def HetIR_BarrierOp : HetIR_SyncOp<"barrier", [AttrSizedOperandSegments]> {
  let summary = "block barrier: waits until `count` threads have arrived";
  let description = [{
    `id` is 0 to 15. Without `count` all threads of the block that have not
    exited take part. With `arrive` the thread does not wait. `aligned` promises
    that all threads of the warp execute it together.
  }];
  let arguments = (ins HetIR_I32:$id, Optional<HetIR_I32>:$count,
                       Optional<HetIR_Mask>:$mask,
                       UnitAttr:$arrive, UnitAttr:$aligned);
  let assemblyFormat = "$id (`count` $count^)? (`mask` $mask^)? attr-dict "
                       "`:` type(operands)";
}
def HetIR_BarrierReduceEnum : HetIR_Enum<"BarrierReduce", "reduction", [
  I32EnumAttrCase<"popc", 0>, I32EnumAttrCase<"and_", 1, "and">,
  I32EnumAttrCase<"or_", 2, "or">]>;
def HetIR_BarrierReduceAttr
    : HetIR_EnumAttr<HetIR_BarrierReduceEnum, "barrier_reduce_kind">;
def HetIR_BarrierReduceOp : HetIR_SyncOp<"barrier_reduce",
    [AttrSizedOperandSegments]> {
  let summary = "block barrier that reduces a predicate over its threads";
  let description = [{The result is i32 for popc, i1 for and, or.}];
  let arguments = (ins HetIR_BarrierReduceAttr:$kind, HetIR_I32:$id,
                       HetIR_Bool:$predicate, Optional<HetIR_I32>:$count,
                       Optional<HetIR_Mask>:$mask, UnitAttr:$aligned);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$kind $id `,` $predicate (`count` $count^)? "
      "(`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
}

def HetIR_WarpSyncOp : HetIR_SyncOp<"warp_sync"> {
  let summary = "waits for the lanes of the member mask";
  let arguments = (ins HetIR_I32:$members);
  let assemblyFormat = "$members attr-dict `:` type($members)";
}

def HetIR_ShuffleModeEnum : HetIR_Enum<"ShuffleMode", "shuffle mode", [
  I32EnumAttrCase<"up", 0>, I32EnumAttrCase<"down", 1>,
  I32EnumAttrCase<"bfly", 2>, I32EnumAttrCase<"idx", 3>]>;
def HetIR_ShuffleModeAttr : HetIR_EnumAttr<HetIR_ShuffleModeEnum, "shuffle">;
def HetIR_ShuffleOp : HetIR_SyncOp<"shuffle",
    [AllTypesMatch<["value", "result"]>]> {
  let summary = "reads `value` of another lane";
  let description = [{
    `lane` is the distance, xor mask or index; `clamp` holds the clamp value in
    bits 0-4 and the segment mask in bits 8-12, as PTX's c operand. `in_range`
    is whether the source lane lies in the segment; if not the lane keeps its
    own value.
  }];
  let arguments = (ins HetIR_ShuffleModeAttr:$mode, HetIR_I32:$value,
                       HetIR_I32:$lane, HetIR_I32:$clamp, HetIR_I32:$members,
                       Optional<HetIR_Mask>:$mask);
  let results = (outs HetIR_I32:$result, HetIR_Bool:$in_range);
  let assemblyFormat = "$mode $value `,` $lane `,` $clamp `members` $members "
      "(`mask` $mask^)? attr-dict `:` functional-type(operands, results)";
}

def HetIR_VoteKindEnum : HetIR_Enum<"VoteKind", "vote", [
  I32EnumAttrCase<"all", 0>, I32EnumAttrCase<"any", 1>,
  I32EnumAttrCase<"uni", 2>, I32EnumAttrCase<"ballot", 3>]>;
def HetIR_VoteKindAttr : HetIR_EnumAttr<HetIR_VoteKindEnum, "vote_kind">;
def HetIR_VoteOp : HetIR_SyncOp<"vote"> {
  let summary = "reduces a predicate over the member lanes";
  let description = [{The result is i1; for ballot the i32 mask.}];
  let arguments = (ins HetIR_VoteKindAttr:$kind, HetIR_Bool:$predicate,
                       HetIR_I32:$members, Optional<HetIR_Mask>:$mask);
  let results = (outs HetIR_Int:$result);
  let assemblyFormat = "$kind $predicate `members` $members (`mask` $mask^)? "
                       "attr-dict `:` functional-type(operands, results)";
}
def HetIR_MatchKindEnum : HetIR_Enum<"MatchKind", "match", [
  I32EnumAttrCase<"any", 0>, I32EnumAttrCase<"all", 1>]>;
def HetIR_MatchKindAttr : HetIR_EnumAttr<HetIR_MatchKindEnum, "match_kind">;
def HetIR_MatchOp : HetIR_SyncOp<"match"> {
  let summary = "member lanes holding the same value";
  let description = [{
    any: the mask of lanes equal to this one. all: the member mask if all are
    equal, else zero; `all_equal` says which.
  }];
  let arguments = (ins HetIR_MatchKindAttr:$kind, HetIR_Int:$value,
                       HetIR_I32:$members, Optional<HetIR_Mask>:$mask);
  let results = (outs HetIR_I32:$result, HetIR_Bool:$all_equal);
  let assemblyFormat = "$kind $value `members` $members (`mask` $mask^)? "
                       "attr-dict `:` functional-type(operands, results)";
}
def HetIR_ReduxKindEnum : HetIR_Enum<"ReduxKind", "warp reduction", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"smin", 1>,
  I32EnumAttrCase<"smax", 2>, I32EnumAttrCase<"umin", 3>,
  I32EnumAttrCase<"umax", 4>, I32EnumAttrCase<"and_", 5, "and">,
  I32EnumAttrCase<"or_", 6, "or">, I32EnumAttrCase<"xor_", 7, "xor">]>;
def HetIR_ReduxKindAttr : HetIR_EnumAttr<HetIR_ReduxKindEnum, "redux_kind">;
def HetIR_ReduxOp : HetIR_SyncOp<"redux"> {
  let summary = "reduces a 32-bit value over the member lanes";
  let description = [{
    After SIMD-isation the value is a vector of what each lane gives and the
    result one scalar for all.
  }];
  let arguments = (ins HetIR_ReduxKindAttr:$kind, HetIR_I32:$value,
                       HetIR_I32:$members, Optional<HetIR_Mask>:$mask);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "$kind $value `members` $members (`mask` $mask^)? "
                       "attr-dict `:` functional-type(operands, results)";
}
def HetIR_ActiveMaskOp : HetIR_SyncOp<"active_mask"> {
  let summary = "lanes of the warp that execute this op together";
  let arguments = (ins Optional<HetIR_Mask>:$mask);
  let results = (outs HetIR_I32:$result);
  let assemblyFormat = "(`mask` $mask^)? attr-dict "
                       "`:` functional-type(operands, results)";
}
def HetIR_ElectOp : HetIR_SyncOp<"elect"> {
  let summary = "chooses one leader: the lowest lane of the member mask";
  let arguments = (ins HetIR_I32:$members);
  let results = (outs HetIR_I32:$leader, HetIR_Bool:$is_leader);
  let assemblyFormat = "$members attr-dict `:` "
                       "functional-type(operands, results)";
}
def HetIR_ProgressOp : HetIR_SyncOp<"progress"> {
  let summary = "lets other threads run";
  let description = [{
    Placed by `insert-progress` in loops that may wait for other threads: a
    backend without independent thread progress must switch threads here.
  }];
  let assemblyFormat = "attr-dict";
}
def HetIR_NanosleepOp : HetIR_SyncOp<"nanosleep"> {
  let summary = "suspends the thread for about the given nanoseconds";
  let arguments = (ins HetIR_I32:$ns);
  let assemblyFormat = "$ns attr-dict `:` type($ns)";
}

#endif  // HETGPU_HETIR_DIALECT_HETIRSYNC_TD_
