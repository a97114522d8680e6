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

// An atomic whose result does not decide when to leave cannot wait.
// CHECK-LABEL: hetir.kernel @histogram
// CHECK-NOT: hetir.progress
hetir.kernel @histogram {
  %c0 = arith.constant 0 : i64
  %i0 = arith.constant 0 : i32
  %i1 = arith.constant 1 : i32
  %p = hetir.load param %c0 : (i64) -> i64
  %n = hetir.load param %c0 {offset = 8 : i64} : (i64) -> i32
  cf.br ^loop(%i0 : i32)
^loop(%i: i32):
  %old = hetir.atomic add global %p, %i1 : (i64, i32) -> i32
  %next = arith.addi %i, %i1 : i32
  %more = arith.cmpi ult, %next, %n : i32
  cf.cond_br %more, ^loop(%next : i32), ^end
^end:
  hetir.exit
}

// A flag set on the way that an atomic chose decides through a constant.
// CHECK-LABEL: hetir.kernel @lock
hetir.kernel @lock {
  %c0 = arith.constant 0 : i64
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %p = hetir.load param %c0 : (i64) -> i64
  %no = arith.constant false
  %yes = arith.constant true
  cf.br ^loop(%no : i1)
^loop(%done: i1):
  cf.cond_br %done, ^end, ^try
^try:
  %old = hetir.atomic_cas global %p, %free, %taken : (i64, i32, i32) -> i32
  %got = arith.cmpi eq, %old, %free : i32
  cf.cond_br %got, ^inside, ^next(%no : i1)
^inside:
  hetir.store global %p, (%free) {ordering = #hetir.ordering<relaxed>} : i64, i32
  cf.br ^next(%yes : i1)
^next(%flag: i1):
  // CHECK: hetir.progress
  cf.br ^loop(%flag : i1)
^end:
  hetir.exit
}

// A loop without a way out waits to be stopped; it must not vanish.
// CHECK-LABEL: hetir.kernel @endless
hetir.kernel @endless {
  cf.br ^loop
^loop:
  // CHECK: hetir.progress
  // CHECK-NEXT: cf.br
  cf.br ^loop
}

// A loop that only counts, around one that waits.
// CHECK-LABEL: hetir.kernel @inner
hetir.kernel @inner {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ten = arith.constant 10 : i32
  %p = hetir.load param %c0 : (i64) -> i64
  cf.br ^outer(%zero : i32)
^outer(%i: i32):
  cf.br ^wait
^wait:
  // CHECK: hetir.load global
  // CHECK-NEXT: hetir.progress
  // CHECK-NEXT: cf.cond_br
  %v = hetir.load global %p {ordering = #hetir.ordering<acquire>} : (i64) -> i1
  cf.cond_br %v, ^next, ^wait
^next:
  // CHECK: arith.cmpi
  // CHECK-NEXT: cf.cond_br
  %n = arith.addi %i, %one : i32
  %more = arith.cmpi ult, %n, %ten : i32
  cf.cond_br %more, ^outer(%n : i32), ^end
^end:
  hetir.exit
}
