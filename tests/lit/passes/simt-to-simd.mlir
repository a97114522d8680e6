// RUN: hetgpu-opt %s --lift-to-scf --canonicalize --simt-to-simd --canonicalize | FileCheck %s

// Uniform values stay scalar, varying ones become vectors; a divergent branch
// runs under a mask and is skipped when no lane takes it.
// CHECK-LABEL: hetir.kernel @guard attributes {lanes = 32 : i64}
hetir.kernel @guard {
  %c0 = arith.constant 0 : i64
  // CHECK: %[[LANES:.*]] = hetir.warp_lanes : vector<32xi1>
  // CHECK: %[[P:.*]] = hetir.load param {{.*}} -> i64
  %p = hetir.load param %c0 : (i64) -> i64
  // CHECK: %[[N:.*]] = hetir.load global %[[P]] : (i64) -> i32
  %n = hetir.load global %p : (i64) -> i32
  // CHECK: %[[T:.*]] = hetir.special_register tid_x : vector<32xi32>
  %t = hetir.special_register tid_x : i32
  // CHECK: %[[IN:.*]] = arith.cmpi ult, %[[T]]
  %in = arith.cmpi ult, %t, %n : i32
  cf.cond_br %in, ^body, ^end
^body:
  // CHECK: %[[M:.*]] = arith.andi %[[LANES]], %[[IN]]
  // CHECK: %[[B:.*]] = hetir.mask_bits %[[M]]
  // CHECK: scf.if
  // CHECK: hetir.store global {{.*}} mask %[[M]]
  %w = arith.extui %t : i32 to i64
  %a = arith.addi %p, %w : i64
  hetir.store global %a, (%t) : i64, i32
  cf.br ^end
^end:
  hetir.exit
}

// Lanes leave a divergent loop at their own trip; the loop goes on while any
// lane stays, and the counter all share stays scalar.
// CHECK-LABEL: hetir.kernel @loop
hetir.kernel @loop {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = hetir.special_register tid_x : i32
  cf.br ^loop(%c0, %c1 : i32, i32)
^loop(%i: i32, %product: i32):
  // CHECK: scf.while {{.*}} : (vector<32xi1>, i32, vector<32xi32>, vector<32xi32>)
  // CHECK: hetir.mask_bits
  // CHECK: scf.condition
  %next = arith.muli %product, %t : i32
  %n = arith.addi %i, %c1 : i32
  %more = arith.cmpi ult, %n, %t : i32
  cf.cond_br %more, ^loop(%n, %next : i32, i32), ^end(%next : i32)
^end(%result: i32):
  // CHECK: hetir.store shared
  hetir.store shared %t, (%result) : i32, i32
  hetir.exit
}

// Atomics run lane by lane; a ballot is one scalar.
// CHECK-LABEL: hetir.kernel @serial
hetir.kernel @serial {
  %c0 = arith.constant 0 : i64
  %all = arith.constant -1 : i32
  %p = hetir.load param %c0 : (i64) -> i64
  %t = hetir.special_register laneid : i32
  // CHECK: scf.while
  // CHECK: vector.extractelement
  // One lane of the mask: the lane it is done for.
  // CHECK: %[[SELF:.*]] = vector.insertelement {{.*}} : vector<32xi1>
  // CHECK: hetir.atomic add global {{.*}} mask %[[SELF]] : (i64, i32, vector<32xi1>) -> i32
  // CHECK: vector.insertelement
  %old = hetir.atomic add global %p, %t : (i64, i32) -> i32
  %odd = arith.trunci %old : i32 to i1
  // CHECK: hetir.vote ballot {{.*}} -> i32
  %b = hetir.vote ballot %odd members %all : (i1, i32) -> i32
  // CHECK: hetir.store global
  hetir.store global %p, (%b) : i64, i32
  hetir.exit
}
