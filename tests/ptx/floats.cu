// Float and double arithmetic: rounding modes, approximations, conversions.
__global__ void Rounding(float *f, double *d) {
  f[0] = __fadd_rz(f[1], f[2]) + __fmul_ru(f[1], f[2]);
  f[1] = __fmaf_rd(f[1], f[2], f[3]) + __fsub_rn(f[1], f[4]);
  f[2] = __frcp_ru(f[1]) + __fsqrt_rd(f[4]) + __fdiv_ru(f[1], f[2]);
  f[3] = __saturatef(f[5]) + f[1] / f[2] + sqrtf(f[3]) + rsqrtf(f[6]);
  f[4] = __sinf(f[1]) + __cosf(f[2]) + __expf(f[3]) + __logf(f[4]);
  f[5] = fminf(f[1], f[2]) + fmaxf(f[3], f[4]) + copysignf(f[1], f[2]);
  f[6] = rintf(f[1]) + ceilf(f[2]) + floorf(f[3]) + truncf(f[4]);
  f[7] = fabsf(f[1]) + -f[2] + __fdividef(f[1], f[2]);
  f[8] = f[1] * 1.5f + (f[2] > f[3] ? f[4] : f[5]);
  f[9] = isnan(f[1]) || isinf(f[2]) ? 0.0f : f[3];
  d[0] = __dadd_ru(d[1], d[2]) + __dmul_rd(d[1], d[2]);
  d[1] = __fma_rz(d[1], d[2], d[3]) + __ddiv_rd(d[1], d[2]);
  d[2] = sqrt(d[1]) + 1.0 / d[2] + fmin(d[1], d[3]) + fabs(d[4]);
  d[3] = rint(d[1]) + floor(d[2]) + ceil(d[3]) + trunc(d[4]);
}

__global__ void Conversions(float *f, double *d, long long *l,
                            unsigned long long *ul, int *i) {
  l[0] = __float2ll_ru(f[1]) + __double2ll_rd(d[1]) + llrint(d[2]);
  ul[0] = __float2ull_rz(f[1]) + __double2ull_rn(d[1]);
  i[0] = __float2int_rn(f[0]) + __double2int_rz(d[0]) + (int)f[3];
  f[0] = __ll2float_rd(l[1]) + __ull2float_ru(ul[1]) + __int2float_rz(i[1]);
  f[1] = (float)(short)i[3] + (float)(unsigned char)i[4] + (float)d[5];
  d[0] = __ll2double_rz(l[1]) + __ull2double_ru(ul[1]) + i[1] + f[4];
  i[1] = __float_as_int(f[5]);
  d[1] = __hiloint2double(i[2], i[3]);
}

__global__ void Functions(float *f) {
  f[0] = sinf(f[1]) + expf(f[2]) + logf(f[3]) + powf(f[4], f[5]);
  f[1] = tanhf(f[2]) + fmodf(f[3], f[4]);
}
