// A GPU that has unified memory at a distance: accesses in the window are
// shifted, addresses themselves are not, and what is the GPU's own stays.
// RUN: hetgpu-cc %s -k k --emit=nvptx-hetir --gpu=sm_90/arena=600000000000:10000000000:fffff00000000000 | FileCheck %s
// RUN: hetgpu-cc %s -k k --emit=nvptx-hetir --gpu=sm_90 | FileCheck %s --check-prefix=USUAL
// RUN: not hetgpu-cc %s -k k --emit=nvptx --gpu=sm_90/arena=1 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: target sm_90/arena=1, expected a window
// USUAL-NOT: arith.select
// CHECK-LABEL: hetir.kernel @k
hetir.kernel @k {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  // CHECK: %[[P:.*]] = hetir.load{{ +}}param
  %p = hetir.load param %c0 : (i64) -> i64
  // The whole address is tested: base - offset is 0x600000000000 - 8.
  // CHECK: %[[START:.*]] = arith.constant 105553116266488 : i64
  // CHECK: %[[SIZE:.*]] = arith.constant 1099511627776 : i64
  // CHECK: %[[DELTA:.*]] = arith.constant -17592186044416 : i64
  // CHECK: %[[PLACE:.*]] = arith.subi %[[P]], %[[START]]
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[PLACE]], %[[SIZE]]
  // CHECK: %[[BY:.*]] = arith.select %[[IN]], %[[DELTA]],
  // CHECK: %[[MOVED:.*]] = arith.addi %[[P]], %[[BY]]
  // CHECK: hetir.load{{ +}}global %[[MOVED]] {offset = 8 : i64}
  %v = hetir.load global %p {offset = 8 : i64} : (i64) -> i64
  // An address is stored as it is.
  // CHECK: hetir.store{{ +}}generic %{{.*}}, (%[[P]])
  hetir.store generic %v, (%p) : i64, i64
  // CHECK: arith.select
  // CHECK: hetir.atomic{{ +}}add{{ +}}global
  %old = hetir.atomic add global %p, %c4 : (i64, i64) -> i64
  // CHECK: arith.select
  // CHECK: hetir.prefetch{{ +}}global
  hetir.prefetch global %p : i64
  // What is the GPU's own.
  // CHECK-NOT: arith.select
  // CHECK: hetir.load{{ +}}global
  %d = hetir.data_address "v" at 0 global : i64
  %x = hetir.load global %d : (i64) -> i64
  // CHECK-NOT: arith.select
  // CHECK: hetir.store{{ +}}shared
  %s = hetir.shared_address "s" at 0 : i32
  hetir.store shared %s, (%x) : i32, i64
  // CHECK-NOT: arith.select
  // CHECK: hetir.store{{ +}}generic
  %g = hetir.to_generic shared %s : i32 -> i64
  hetir.store generic %g, (%x) : i64, i64
  // CHECK: %[[AT:.*]] = arith.addi %[[P]],
  // CHECK: hetir.vendor "nv" "frob [$2+16], $0;" ""(%[[P]], %{{.*}}, %[[AT]])
  hetir.vendor "nv" "frob [$0+16], $0;" "" (%p, %c4) : (i64, i64) -> ()
  hetir.exit
}
