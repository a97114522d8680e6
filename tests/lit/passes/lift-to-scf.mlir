// RUN: hetgpu-opt %s --lift-to-scf --canonicalize | FileCheck %s

// A counted loop keeps its counter free of selects: nobody reads it outside.
// CHECK-LABEL: hetir.kernel @loop
hetir.kernel @loop {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p = arith.constant 0 : i64
  cf.br ^loop(%c0 : i32)
^loop(%i: i32):
  // CHECK: scf.while (%[[I:.*]] = %{{.*}})
  // CHECK: hetir.store
  // CHECK-NEXT: %[[N:.*]] = arith.addi %[[I]]
  // CHECK-NEXT: hetir.load param
  // CHECK-NEXT: %[[C:.*]] = arith.cmpi
  // CHECK-NEXT: scf.condition(%[[C]]) %[[N]]
  hetir.store shared %i, (%i) : i32, i32
  %n = arith.addi %i, %c1 : i32
  %bound = hetir.load param %p : (i64) -> i32
  %more = arith.cmpi ult, %n, %bound : i32
  cf.cond_br %more, ^loop(%n : i32), ^end
^end:
  hetir.exit
}

// CHECK-LABEL: hetir.kernel @trap
hetir.kernel @trap {
  %t = hetir.special_register tid_x : i32
  %c0 = arith.constant 0 : i32
  %bad = arith.cmpi ne, %t, %c0 : i32
  // CHECK: scf.if
  // CHECK: hetir.trap_lanes
  // CHECK: hetir.exit
  cf.cond_br %bad, ^trap, ^end
^trap:
  hetir.trap
^end:
  hetir.exit
}
