// RUN: hetgpu-opt %s --recover-pointers --canonicalize | FileCheck %s

// CHECK-LABEL: hetir.kernel @param_pointer
hetir.kernel @param_pointer {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  // CHECK: %[[P:.*]] = hetir.load param
  %p = hetir.load param %c0 : (i64) -> i64
  // CHECK: %[[X:.*]] = arith.extui
  %t = hetir.special_register tid_x : i32
  %x = arith.extui %t : i32 to i64
  %a = arith.addi %x, %p : i64
  %b = arith.addi %a, %c4 : i64
  // CHECK: hetir.load global %[[P]][%[[X]]] {offset = 12 : i64}
  %v = hetir.load global %b {offset = 8 : i64} : (i64) -> f32
  // A chain with no known base keeps its sum; only the constant moves.
  // CHECK: %[[S:.*]] = arith.addi %[[X]], %[[X]]
  // CHECK: hetir.store generic %[[S]], ({{.*}}) {offset = 4 : i64}
  %s = arith.addi %x, %x : i64
  %s4 = arith.addi %s, %c4 : i64
  hetir.store generic %s4, (%v) : i64, f32
  hetir.exit
}

// 32-bit address arithmetic wraps: without a base nothing may move.
// CHECK-LABEL: hetir.kernel @shared
hetir.kernel @shared {
  %c4 = arith.constant 4 : i32
  // CHECK: %[[T:.*]] = hetir.special_register tid_x
  %t = hetir.special_register tid_x : i32
  // CHECK: %[[B:.*]] = hetir.shared_address
  %base = hetir.shared_address "tile" at 0 : i32
  %a = arith.addi %base, %t : i32
  %b = arith.addi %a, %c4 : i32
  // CHECK: hetir.load shared %[[B]][%[[T]]] {offset = 4 : i64}
  %v = hetir.load shared %b : (i32) -> i8
  // CHECK: %[[U:.*]] = arith.addi %[[T]]
  %u = arith.addi %t, %c4 : i32
  // CHECK: hetir.store shared %[[U]], ({{.*}}) : i32, i8
  hetir.store shared %u, (%v) : i32, i8
  hetir.exit
}
