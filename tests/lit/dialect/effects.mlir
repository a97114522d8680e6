// RUN: hetgpu-opt %s --canonicalize --cse | FileCheck %s

// Weak loads of one address are one load; strong ones stay, used or not.
// CHECK-LABEL: hetir.kernel @loads
// CHECK-COUNT-2: ordering = #hetir.ordering<volatile>
// CHECK: ordering = #hetir.ordering<acquire>
// CHECK: hetir.load shared
// CHECK-NOT: hetir.load shared
hetir.kernel @loads {
  %c0 = arith.constant 0 : i64
  %p = hetir.load param %c0 : (i64) -> i64
  %a = hetir.load global %p {ordering = #hetir.ordering<volatile>} : (i64) -> i32
  %b = hetir.load global %p {ordering = #hetir.ordering<volatile>} : (i64) -> i32
  %c = hetir.load global %p {ordering = #hetir.ordering<acquire>} : (i64) -> i32
  %d = hetir.load shared %c0 : (i64) -> i32
  %e = hetir.load shared %c0 : (i64) -> i32
  %f = hetir.load shared %c0 : (i64) -> f32
  %ab = arith.addi %a, %b : i32
  %de = arith.addi %d, %e : i32
  %sum = arith.addi %ab, %de : i32
  hetir.store global %p, (%sum) : i64, i32
  hetir.exit
}
