// RUN: hetgpu-opt %s -split-input-file -verify-diagnostics --lift-to-scf --canonicalize --simt-to-simd

func.func private @f()
hetir.kernel @calls {
  // expected-error @+1 {{calls a device function}}
  func.call @f() : () -> ()
  hetir.exit
}

// -----

// Half the warp waits here, the other half below.
hetir.kernel @barriers {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %t = hetir.special_register tid_x : i32
  %low = arith.cmpi ult, %t, %c16 : i32
  cf.cond_br %low, ^then, ^end
^then:
  // expected-error @+1 {{in divergent control flow}}
  hetir.barrier %c0 : i32
  cf.br ^end
^end:
  hetir.barrier %c0 : i32
  hetir.exit
}

// -----

hetir.kernel @spin_lock {
  %c0 = arith.constant 0 : i64
  %free = arith.constant 0 : i32
  %taken = arith.constant 1 : i32
  %p = hetir.load param %c0 : (i64) -> i64
  cf.br ^loop
^loop:
  %old = hetir.atomic_cas global %p, %free, %taken : (i64, i32, i32) -> i32
  %got = arith.cmpi eq, %old, %free : i32
  // expected-error @+1 {{lanes may wait for each other}}
  hetir.progress
  cf.cond_br %got, ^end, ^loop
^end:
  hetir.exit
}

// -----

hetir.kernel @members {
  %t = hetir.special_register laneid : i32
  // expected-error @+1 {{member mask differs by lane}}
  hetir.warp_sync %t : i32
  hetir.exit
}
