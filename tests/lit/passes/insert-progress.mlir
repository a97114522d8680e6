// RUN: hetgpu-opt %s --insert-progress | FileCheck %s

// CHECK-LABEL: hetir.kernel @spin
hetir.kernel @spin {
  %c0 = arith.constant 0 : i64
  %p = hetir.load param %c0 : (i64) -> i64
  cf.br ^loop
^loop:
  // CHECK: hetir.load global
  // CHECK: hetir.progress
  // CHECK-NEXT: cf.cond_br
  %v = hetir.load global %p {ordering = #hetir.ordering<volatile>} : (i64) -> i1
  cf.cond_br %v, ^end, ^loop
^end:
  hetir.exit
}

// A plain loop over plain memory cannot wait.
// CHECK-LABEL: hetir.kernel @plain
// CHECK-NOT: hetir.progress
hetir.kernel @plain {
  %c0 = arith.constant 0 : i64
  %p = hetir.load param %c0 : (i64) -> i64
  cf.br ^loop
^loop:
  %v = hetir.load global %p : (i64) -> i1
  cf.cond_br %v, ^end, ^loop
^end:
  hetir.exit
}

// A fence makes plain loads observable.
// CHECK-LABEL: hetir.kernel @fenced
hetir.kernel @fenced {
  %c0 = arith.constant 0 : i64
  %p = hetir.load param %c0 : (i64) -> i64
  cf.br ^loop
^loop:
  hetir.fence <sc> <device>
  %v = hetir.load global %p : (i64) -> i1
  // CHECK: hetir.progress
  cf.cond_br %v, ^end, ^loop
^end:
  hetir.exit
}
