#define TILE_X 32
#define TILE_Y 8

__kernel void stencil2d(__global const float* in, __global float* out, int nx,
                        int ny, float alpha) {
  __local float tile[TILE_Y + 2][TILE_X + 2];
  const int x = get_group_id(0) * TILE_X + get_local_id(0);
  const int y = get_group_id(1) * TILE_Y + get_local_id(1);
  const int tid = get_local_id(1) * TILE_X + get_local_id(0);
  for (int i = tid; i < (TILE_X + 2) * (TILE_Y + 2); i += TILE_X * TILE_Y) {
    const int tx = i % (TILE_X + 2), ty = i / (TILE_X + 2);
    const int gx = clamp((int)get_group_id(0) * TILE_X + tx - 1, 0, nx - 1);
    const int gy = clamp((int)get_group_id(1) * TILE_Y + ty - 1, 0, ny - 1);
    tile[ty][tx] = in[gy * nx + gx];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (x >= nx || y >= ny) return;
  const int tx = get_local_id(0) + 1, ty = get_local_id(1) + 1;
  const float center = tile[ty][tx];
  float result = center;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    const float around = tile[ty][tx - 1] + tile[ty][tx + 1] +
                         tile[ty - 1][tx] + tile[ty + 1][tx];
    result = center + alpha * (around - 4.0f * center);
  }
  out[y * nx + x] = result;
}

__constant float weights[4] = {0.4f, 0.1f, 0.1f, 0.1f};

__kernel void stencil3d(__global const float* in, __global float* out, int nx,
                        int ny, int nz) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= nx || y >= ny) return;
  const int plane = nx * ny;
  const bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  int i = y * nx + x;
  float below = 0.0f, current = in[i];
  for (int z = 0; z < nz; ++z, i += plane) {
    const float above = z + 1 < nz ? in[i + plane] : 0.0f;
    float result = current;
    if (inside && z > 0 && z < nz - 1) {
      result = weights[0] * current + weights[1] * (in[i - 1] + in[i + 1]) +
               weights[2] * (in[i - nx] + in[i + nx]) +
               weights[3] * (below + above);
    }
    out[i] = result;
    below = current;
    current = above;
  }
}
