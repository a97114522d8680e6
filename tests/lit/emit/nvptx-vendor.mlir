// Instructions of this vendor pass through; others' are refused.
// RUN: hetgpu-cc %s -k k --emit=nvptx | FileCheck %s
// RUN: not hetgpu-cc %s -k other --emit=nvptx 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK: .visible .entry k(
// CHECK: griddepcontrol.wait;
hetir.kernel @k {
  hetir.vendor "nv" "griddepcontrol.wait;" "" () : () -> ()
  hetir.exit
}
// OTHER: hetir.vendor: instruction of vendor amd cannot run on this backend
hetir.kernel @other {
  hetir.vendor "amd" "s_nop 0" "" () : () -> ()
  hetir.exit
}
