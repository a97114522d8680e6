// RUN: hetgpu-cc %s --emit=llvm --cpu-mode=scalar | FileCheck %s

// Shifts and divisions are guarded, and no op carries a flag that makes
// poison.
hetir.kernel @k attributes {param_bytes = 16 : i64} {
  %zero = arith.constant 0 : i64
  %a = hetir.load param %zero : (i64) -> i32
  %b = hetir.load param %zero {offset = 4 : i64} : (i64) -> i32
  %p = hetir.load param %zero {offset = 8 : i64} : (i64) -> i64
  // CHECK: icmp ult i32 %{{.*}}, 32
  // CHECK: shl i32
  // CHECK: select i1
  %0 = hetir.shl %a, %b : i32, i32
  // CHECK: icmp eq i32 %{{.*}}, 0
  // CHECK: sdiv i32
  // CHECK: select i1 %{{.*}}, i32 -1
  %1 = hetir.div %0, %b {is_signed} : i32
  // CHECK-NOT: {{nsw|nuw|fast|contract}}
  %2 = arith.addi %1, %a : i32
  // CHECK: and i64 %{{.*}}, 3
  // CHECK: br i1
  // CHECK: store i32
  hetir.store global %p, (%2) : i64, i32
  hetir.exit
}
