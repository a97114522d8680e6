// RUN: hetgpu-cc %s --emit=llvm --cpu-mode=simd | FileCheck %s

// Consecutive addresses: masked loads of half a warp (in parts where registers are
// short), and the call of a function that accesses share, which goes lane by lane,
// for blocks whose rows are not whole halves, and where anything is wrong with the
// addresses.
// CHECK: define internal fastcc <32 x float> @"hetgpu.gather.float
// CHECK: call {{.*}}@llvm.cttz
// CHECK: define hidden void @hetgpu_entry
hetir.kernel @k attributes {param_bytes = 16 : i64} {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %p = hetir.load param %zero : (i64) -> i64
  %q = hetir.load param %zero {offset = 8 : i64} : (i64) -> i64
  %tid = hetir.special_register tid_x : i32
  %wide = arith.extui %tid : i32 to i64
  %offset = arith.muli %wide, %four : i64
  %from = arith.addi %p, %offset : i64
  // CHECK: call <{{8|16}} x float> @llvm.masked.load
  // CHECK: call <{{8|16}} x float> @llvm.masked.load
  // CHECK: call fastcc <32 x float> @"hetgpu.gather.float
  %x = hetir.load global %from : (i64) -> f32
  // A lane's own table entry: no progression.
  %i = hetir.load global %from : (i64) -> i32
  %j = arith.extui %i : i32 to i64
  %k = arith.muli %j, %four : i64
  // CHECK: zext <32 x i32>
  %at = arith.addi %q, %k : i64
  // CHECK: call {{.*}}@llvm.{{masked.gather.v8f32.v8p0|cttz}}
  // CHECK-NOT: masked.load
  %y = hetir.load global %at : (i64) -> f32
  // CHECK: fadd <32 x float>
  %z = hetir.fadd %x, %y : f32
  // CHECK: call void @llvm.masked.store.v{{8|16}}f32.p0
  hetir.store global %from, (%z) : i64, f32
  hetir.exit
}
