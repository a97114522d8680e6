// Integer arithmetic of every width, bit tricks, carry chains.
__global__ void Arithmetic(int *i, unsigned *u, long long *l,
                           unsigned long long *ul, short *s, signed char *c) {
  int t = threadIdx.x;
  i[t] = i[t] * i[t + 1] + i[t + 2] / i[t + 3] - i[t + 4] % i[t + 5];
  u[t] = u[t] / u[t + 1] + u[t + 2] % u[t + 3] + min(u[t], u[t + 4]);
  l[t] = l[t] * l[t + 1] + l[t + 2] / l[t + 3] + max(l[t], l[t + 4]);
  ul[t] = ul[t] % ul[t + 1] + (unsigned long long)u[t] * u[t + 1];
  s[t] = (short)(s[t] * s[t + 1] + s[t + 2] / s[t + 3]);
  c[t] = (signed char)(c[t] + c[t + 1]);
  i[t + 8] = abs(i[t]) + __mulhi(i[t], i[t + 1]) + __mul24(i[t], i[t + 2]);
  l[t + 8] = __mul64hi(l[t], l[t + 1]) + llabs(l[t]);
  u[t + 8] = __sad(i[t], i[t + 1], u[t]) + __usad(u[t], u[t + 1], u[t + 2]);
}

__global__ void Bits(unsigned *u, unsigned long long *ul, int *i) {
  int t = threadIdx.x;
  u[t] = __popc(u[t]) + __clz(u[t + 1]) + __brev(u[t + 2]) + __ffs(u[t + 3]);
  ul[t] = __popcll(ul[t]) + __clzll(ul[t + 1]) + __brevll(ul[t + 2]);
  u[t + 1] = __byte_perm(u[t], u[t + 1], u[t + 2]);
  u[t + 2] = __funnelshift_l(u[t], u[t + 1], u[t + 2]);
  u[t + 3] = __funnelshift_rc(u[t], u[t + 1], u[t + 2]);
  u[t + 4] = (u[t] & u[t + 1]) ^ (u[t + 2] | ~u[t + 3]);
  u[t + 5] = u[t] << (u[t + 1] & 31) | u[t + 2] >> (u[t + 3] & 31);
  i[t] = i[t] >> 3;
  ul[t + 1] = ul[t] << u[t] ^ ul[t + 1] >> u[t + 1];
  i[t + 1] = __dp4a(i[t], i[t + 1], i[t + 2]) + __dp2a_lo(i[t], i[t], i[t]);
  u[t + 6] = __vabsdiffu4(u[t], u[t + 1]) + __vadd2(u[t], u[t + 1]);
  u[t + 7] = (u[t] >> 5) & 127;
}

__global__ void Wide(__int128 *w, const long long *l) {
  __int128 x = l[0];
  x *= l[1];
  x += l[2];
  w[0] = x - w[1];
  w[1] = x << 3;
}
