// RUN: hetgpu-opt %s -split-input-file -verify-diagnostics

func.func @three(%p: i64) {
  // expected-error @+1 {{expected 1, 2, 4 or 8 values, found 3}}
  %0:3 = hetir.load global %p : (i64) -> (f32, f32, f32)
  return
}

// -----

func.func @mixed(%p: i64, %a: f32, %b: i32) {
  // expected-error @+1 {{expected values of one type, found 'f32' and 'i32'}}
  hetir.store global %p, (%a, %b) : i64, f32, i32
  return
}

// -----

func.func @store_const(%p: i64, %a: f32) {
  // expected-error @+1 {{stores to the const space}}
  hetir.store const %p, (%a) : i64, f32
  return
}

// -----

func.func @release_load(%p: i64) {
  // expected-error @+1 {{ordering release is not possible here}}
  %0 = hetir.load global %p {ordering = #hetir.ordering<release>} : (i64) -> f32
  return
}

// -----

func.func @cvt(%a: f32) {
  // expected-error @+1 {{float to integer expects rni, rzi, rmi or rpi, found rn}}
  %0 = hetir.cvt %a : f32 -> i32
  return
}

// -----

func.func @cvt_integral(%a: i32) {
  // expected-error @+1 {{integer sources expect rn, rz, rm or rp, found rzi}}
  %0 = hetir.cvt %a {rounding = #hetir.rounding<rzi>} : i32 -> f32
  return
}

// -----

func.func @lut(%a: i32) {
  // expected-error @+1 {{attribute 'lut' failed to satisfy constraint}}
  %0 = hetir.lop3 %a, %a, %a lut 256 : i32
  return
}

// -----

// expected-error @+1 {{expected no arguments: parameters are memory}}
hetir.kernel @arguments {
^bb0(%a: i32):
  hetir.exit
}
