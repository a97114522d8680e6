// RUN: not hetgpu-cc %s --emit=llvm 2>&1 | FileCheck %s

// CHECK: vendor.mlir:7:{{[0-9]+}}: hetir.vendor: instruction of vendor nv cannot
// CHECK-SAME: run on this backend: griddepcontrol.wait;
hetir.kernel @k {
  // One line per op keeps the place simple.
  hetir.vendor "nv" "griddepcontrol.wait;" "" () : () -> ()
  hetir.exit
}
