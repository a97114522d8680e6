#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(__global uint* iterations, int width, int height,
                         float x0, float y0, float dx, float dy, uint limit) {
  const int px = get_global_id(0), py = get_global_id(1);
  if (px >= width || py >= height) return;
  const float cx = fma((float)px, dx, x0);
  const float cy = fma((float)py, dy, y0);
  float x = 0.0f, y = 0.0f;
  uint i = 0;
  for (; i < limit; ++i) {
    const float x2 = x * x, y2 = y * y;
    if (x2 + y2 > 4.0f) break;
    y = fma(x + x, y, cy);
    x = (x2 - y2) + cx;
  }
  iterations[py * width + px] = i;
}
