// Escape times; divergent loops. Rounding is spelled out, so that the counts
// are the same on every device.

extern "C" __global__ void mandelbrot(unsigned* iterations, int width,
                                      int height, float x0, float y0, float dx,
                                      float dy, unsigned limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = __fmaf_rn(float(px), dx, x0);
  const float cy = __fmaf_rn(float(py), dy, y0);
  float x = 0.0f, y = 0.0f;
  unsigned i = 0;
  for (; i < limit; ++i) {
    const float x2 = __fmul_rn(x, x), y2 = __fmul_rn(y, y);
    if (__fadd_rn(x2, y2) > 4.0f) break;
    y = __fmaf_rn(__fadd_rn(x, x), y, cy);
    x = __fadd_rn(__fsub_rn(x2, y2), cx);
  }
  iterations[py * width + px] = i;
}
