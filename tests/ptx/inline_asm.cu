// Hand-written assembly inside CUDA: scopes, labels, shuffled modifiers.
__global__ void Scopes(unsigned *p) {
  unsigned r;
  asm("{ .reg .pred p; .reg .u32 t<3>; setp.ne.u32 p, %1, 0;"
      " vote.ballot.sync.b32 t1, p, 0xffffffff; @!p mov.u32 t1, 1;"
      " mov.u32 %0, t1; }"
      : "=r"(r)
      : "r"(p[0]));
  p[1] = r;
  asm volatile(
      "{\n .reg .pred P1;\nLAB_WAIT:\n setp.eq.u32 P1, %0, 3;\n"
      " @P1 bra DONE;\n bra LAB_WAIT;\nDONE:\n}" ::"r"(r));
}

__global__ void Words(unsigned *p, float *f) {
  unsigned r = p[0];
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
  asm("mad.lo.cc.u32 %0,%1,%1,%1; madc.hi.u32 %0,%1,%1,0;" : "=r"(r) : "r"(r));
  asm volatile("st.global.cg.v4.s32 [%0],{%1,%1,%1,%1};" ::"l"(p), "r"(r));
  asm("lop3.b32 %0,%1,%1,%1,(0xF0&0xCC)^0xAA;" : "=r"(r) : "r"(r));
  asm volatile(
      "cp.async.cg.shared.global.L2::128B [%0], [%1], 16;\n"
      "cp.async.commit_group;\n cp.async.wait_group 0;" ::"r"(r),
      "l"(p));
  asm("div.ftz.rn.f32 %0, %0, 0f40000000;" : "+f"(f[0]));
  asm volatile("red.and.release.gpu.global.b32 [%0], %1;" ::"l"(p), "r"(r));
  p[2] = r;
}
