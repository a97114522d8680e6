// RUN: not hetgpu-cc %s --emit=image --cpu-mode=scalar 2>&1 | FileCheck %s

// CHECK: kernel k cannot be run in mode scalar: hetir.barrier at line 6
hetir.kernel @k {
  %id = arith.constant 0 : i32
  hetir.barrier %id : i32
  hetir.exit
}
