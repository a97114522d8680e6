// Every op prints as text that reads back as the same op.
// RUN: hetgpu-opt %s | hetgpu-opt | FileCheck %s
// RUN: hetgpu-opt %s -emit-bytecode | hetgpu-opt | FileCheck %s

// CHECK-LABEL: hetir.kernel @index
hetir.kernel @index attributes {param_bytes = 8 : i64, static_shared = 64 : i64,
    max_threads = array<i32: 256, 1, 1>} {
  // CHECK: hetir.special_register tid_x : i32
  %0 = hetir.special_register tid_x : i32
  // CHECK: hetir.timer globaltimer : i64
  %1 = hetir.timer globaltimer : i64
  hetir.exit
}

// CHECK-LABEL: func.func @integer
func.func @integer(%a: i32, %b: i32, %c: i32, %w: i64, %p: i1) {
  // CHECK: hetir.mul_hi %{{.*}}, %{{.*}} {is_signed} : i32
  %0 = hetir.mul_hi %a, %b {is_signed} : i32
  // CHECK: hetir.div
  %1 = hetir.div %a, %b : i32
  // CHECK: hetir.rem
  %2 = hetir.rem %a, %b {is_signed} : i32
  // CHECK: hetir.add_sat
  %3 = hetir.add_sat %a, %b {is_signed} : i32
  // CHECK: hetir.sub_sat
  %4 = hetir.sub_sat %a, %b {is_signed} : i32
  // CHECK: hetir.shl %{{.*}}, %{{.*}} : i64, i32
  %5 = hetir.shl %w, %a : i64, i32
  // CHECK: hetir.shr %{{.*}}, %{{.*}} {is_signed} : i64, i32
  %6 = hetir.shr %w, %a {is_signed} : i64, i32
  // CHECK: hetir.funnel_shift {{.*}} {right, wrap} : i32
  %7 = hetir.funnel_shift %a, %b, %c {right, wrap} : i32
  // CHECK: hetir.abs
  %8 = hetir.abs %a : i32
  // CHECK: hetir.brev
  %9 = hetir.brev %w : i64
  // CHECK: hetir.popc %{{.*}} : i64 -> i32
  %10 = hetir.popc %w : i64 -> i32
  // CHECK: hetir.clz
  %11 = hetir.clz %w : i64 -> i32
  // CHECK: hetir.bfind %{{.*}} {shift_amount} : i32 -> i32
  %12 = hetir.bfind %a {shift_amount} : i32 -> i32
  // CHECK: hetir.fns
  %13 = hetir.fns %a, %b, %c : i32
  // CHECK: hetir.bfe
  %14 = hetir.bfe %w, %a, %b {is_signed} : i64, i32, i32
  // CHECK: hetir.bfi
  %15 = hetir.bfi %w, %w, %a, %b : i64, i32, i32
  // CHECK: hetir.bmsk
  %16 = hetir.bmsk %a, %b {wrap} : i32
  // CHECK: hetir.szext
  %17 = hetir.szext %a, %b {is_signed} : i32
  // CHECK: hetir.prmt {{.*}} {mode = #hetir.prmt_mode<rc16>} : i32
  %18 = hetir.prmt %a, %b, %c {mode = #hetir.prmt_mode<rc16>} : i32
  // CHECK: hetir.lop3 {{.*}} lut 150 : i32
  %19 = hetir.lop3 %a, %b, %c lut 150 : i32
  // CHECK: hetir.sad
  %20 = hetir.sad %a, %b, %c : i32
  // CHECK: hetir.mul24
  %21 = hetir.mul24 %a, %b {hi} : i32
  // CHECK: hetir.dp4a {{.*}} {a_signed, b_signed} : i32
  %22 = hetir.dp4a %a, %b, %c {a_signed, b_signed} : i32
  // CHECK: hetir.dp2a {{.*}} {hi} : i32
  %23 = hetir.dp2a %a, %b, %c {hi} : i32
  // CHECK: hetir.add_carry
  %24, %25 = hetir.add_carry %a, %b, %p : i32, i1
  // CHECK: hetir.sub_borrow
  %26, %27 = hetir.sub_borrow %a, %b, %p : i32, i1
  return
}

// CHECK-LABEL: func.func @float
func.func @float(%a: f32, %b: f32, %d: f64, %h: f16, %i: i32,
                 %v: vector<32xf32>) {
  // CHECK: hetir.fadd {{.*}} {ftz, rounding = #hetir.rounding<rz>, sat} : f32
  %0 = hetir.fadd %a, %b {rounding = #hetir.rounding<rz>, ftz, sat} : f32
  // CHECK: hetir.fsub
  %1 = hetir.fsub %d, %d : f64
  // CHECK: hetir.fmul {{.*}} : vector<32xf32>
  %2 = hetir.fmul %v, %v : vector<32xf32>
  // CHECK: hetir.fdiv
  %3 = hetir.fdiv %a, %b {rounding = #hetir.rounding<approx>} : f32
  // CHECK: hetir.ffma
  %4 = hetir.ffma %h, %h, %h {relu} : f16
  // CHECK: hetir.fneg
  %5 = hetir.fneg %a : f32
  // CHECK: hetir.fabs
  %6 = hetir.fabs %a {ftz} : f32
  // CHECK: hetir.fsqrt
  %7 = hetir.fsqrt %a : f32
  // CHECK: hetir.frcp
  %8 = hetir.frcp %d : f64
  // CHECK: hetir.approx ex2 %{{.*}} {ftz} : f32
  %9 = hetir.approx ex2 %a {ftz} : f32
  // CHECK: hetir.fmin
  %10 = hetir.fmin %a, %b {nan} : f32
  // CHECK: hetir.fmax
  %11 = hetir.fmax %a, %b {xorsign_abs} : f32
  // CHECK: hetir.copysign
  %12 = hetir.copysign %a, %b : f32
  // CHECK: hetir.testp subnormal %{{.*}} : f32 -> i1
  %13 = hetir.testp subnormal %a : f32 -> i1
  // CHECK: hetir.fcmp geu {{.*}} : f32 -> i1
  %14 = hetir.fcmp geu %a, %b : f32 -> i1
  // CHECK: hetir.cvt %{{.*}} {dst_signed, rounding = #hetir.rounding<rzi>} : f32 -> i32
  %15 = hetir.cvt %a {rounding = #hetir.rounding<rzi>, dst_signed} : f32 -> i32
  return
}

// CHECK-LABEL: func.func @memory
func.func @memory(%p: i64, %x: i64, %s: i32, %v: i32, %f: f32,
                  %pv: vector<32xi64>, %m: vector<32xi1>,
                  %fv: vector<32xf32>) {
  // CHECK: hetir.load global %{{.*}}[%{{.*}}] {offset = 8 : i64} : (i64, i64) -> (f32, f32)
  %0:2 = hetir.load global %p[%x] {offset = 8 : i64} : (i64, i64) -> (f32, f32)
  // CHECK: hetir.load generic %{{.*}} mask %{{.*}} : (vector<32xi64>, vector<32xi1>) -> vector<32xf32>
  %1 = hetir.load generic %pv mask %m : (vector<32xi64>, vector<32xi1>) -> vector<32xf32>
  // CHECK: hetir.store shared %{{.*}}, (%{{.*}}) {ordering = #hetir.ordering<volatile>} : i32, i32
  hetir.store shared %s, (%v) {ordering = #hetir.ordering<volatile>} : i32, i32
  // CHECK: hetir.store global %{{.*}}, (%{{.*}}) mask %{{.*}} : vector<32xi64>, vector<32xf32>, vector<32xi1>
  hetir.store global %pv, (%fv) mask %m : vector<32xi64>, vector<32xf32>, vector<32xi1>
  // CHECK: hetir.atomic fadd global
  %2 = hetir.atomic fadd global %p, %f : (i64, f32) -> f32
  // CHECK: hetir.atomic_cas shared
  %3 = hetir.atomic_cas shared %s, %v, %v {scope = #hetir.scope<block>} : (i32, i32, i32) -> i32
  // CHECK: hetir.fence <acq_rel> <system>
  hetir.fence <acq_rel> <system>
  // CHECK: hetir.prefetch global
  hetir.prefetch global %p : i64
  // CHECK: hetir.data_address "table" at 16 const : i64
  %4 = hetir.data_address "table" at 16 const : i64
  // CHECK: hetir.shared_address "tile" at 0 {dynamic} : i32
  %5 = hetir.shared_address "tile" at 0 {dynamic} : i32
  // CHECK: hetir.local_alloc "depot" size 48 align 16 : i64
  %6 = hetir.local_alloc "depot" size 48 align 16 : i64
  // CHECK: hetir.to_generic shared %{{.*}} : i32 -> i64
  %7 = hetir.to_generic shared %5 : i32 -> i64
  // CHECK: hetir.from_generic local
  %8 = hetir.from_generic local %7 : i64 -> i64
  // CHECK: hetir.is_space shared
  %9 = hetir.is_space shared %7 : i64 -> i1
  return
}

// CHECK-LABEL: func.func @sync
func.func @sync(%i: i32, %p: i1, %m: vector<32xi1>) {
  // CHECK: hetir.barrier %{{.*}} count %{{.*}} {arrive} : i32, i32
  hetir.barrier %i count %i {arrive} : i32, i32
  // CHECK: hetir.barrier_reduce popc
  %0 = hetir.barrier_reduce popc %i, %p : (i32, i1) -> i32
  // CHECK: hetir.warp_sync
  hetir.warp_sync %i : i32
  // CHECK: hetir.shuffle bfly
  %1, %2 = hetir.shuffle bfly %i, %i, %i members %i : (i32, i32, i32, i32) -> (i32, i1)
  // CHECK: hetir.vote ballot
  %3 = hetir.vote ballot %p members %i : (i1, i32) -> i32
  // CHECK: hetir.match any
  %4, %5 = hetir.match any %i members %i : (i32, i32) -> (i32, i1)
  // CHECK: hetir.redux umax
  %6 = hetir.redux umax %i members %i : (i32, i32) -> i32
  // CHECK: hetir.active_mask : () -> i32
  %7 = hetir.active_mask : () -> i32
  // CHECK: hetir.elect
  %8, %9 = hetir.elect %i : (i32) -> (i32, i1)
  // CHECK: hetir.progress
  hetir.progress
  // CHECK: hetir.nanosleep
  hetir.nanosleep %i : i32
  // CHECK: hetir.warp_lanes : vector<32xi1>
  %10 = hetir.warp_lanes : vector<32xi1>
  // CHECK: hetir.mask_bits
  %11 = hetir.mask_bits %m : vector<32xi1>
  // CHECK: hetir.trap_lanes %{{.*}} : vector<32xi1>
  hetir.trap_lanes %m : vector<32xi1>
  return
}

// CHECK-LABEL: func.func @services
func.func @services(%a: i64, %i: i32) {
  // CHECK: hetir.assert_fail
  hetir.assert_fail %a, %a, %i, %a, %a
  // CHECK: hetir.vprintf
  %0 = hetir.vprintf %a, %a : i32
  // CHECK: hetir.malloc
  %1 = hetir.malloc %a : i64
  // CHECK: hetir.free
  hetir.free %1
  // CHECK: hetir.function_token @services = 5 : i64
  %2 = hetir.function_token @services = 5 : i64
  // CHECK: hetir.call_indirect %{{.*}}(%{{.*}}) among [@services] [5] : (i64) -> i32
  %3 = hetir.call_indirect %2(%a) among [@services] [5] : (i64) -> i32
  // CHECK: hetir.vendor "nvidia" "mma.sync $0, $1;" "=r,r"(%{{.*}}) : (i32) -> i32
  %4 = hetir.vendor "nvidia" "mma.sync $0, $1;" "=r,r" (%i) : (i32) -> i32
  // CHECK: hetir.unreachable
  hetir.unreachable
}

// CHECK-LABEL: func.func @ends
func.func @ends(%p: i1) {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  // CHECK: hetir.trap
  hetir.trap
^bb2:
  // CHECK: hetir.exit
  hetir.exit
}
