// A 5-point stencil with a shared-memory halo and a 7-point 3D stencil whose
// coefficients live in constant memory.

constexpr int kTileX = 32, kTileY = 8;

// Heat step on an nx x ny grid; the border keeps its values.
extern "C" __global__ void stencil2d(const float* in, float* out, int nx,
                                     int ny, float alpha) {
  __shared__ float tile[kTileY + 2][kTileX + 2];
  const int x = blockIdx.x * kTileX + threadIdx.x;
  const int y = blockIdx.y * kTileY + threadIdx.y;
  const int tid = threadIdx.y * kTileX + threadIdx.x;
  for (int i = tid; i < (kTileX + 2) * (kTileY + 2); i += kTileX * kTileY) {
    const int tx = i % (kTileX + 2), ty = i / (kTileX + 2);
    const int gx = min(max(int(blockIdx.x) * kTileX + tx - 1, 0), nx - 1);
    const int gy = min(max(int(blockIdx.y) * kTileY + ty - 1, 0), ny - 1);
    tile[ty][tx] = in[gy * nx + gx];
  }
  __syncthreads();
  if (x >= nx || y >= ny) return;
  const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  const float center = tile[ty][tx];
  float result = center;
  if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
    const float around = tile[ty][tx - 1] + tile[ty][tx + 1] +
                         tile[ty - 1][tx] + tile[ty + 1][tx];
    result = center + alpha * (around - 4.0f * center);
  }
  out[y * nx + x] = result;
}

// Centre, x, y, z weights; may be overwritten before the launch.
__constant__ float stencil_weights[4] = {0.4f, 0.1f, 0.1f, 0.1f};

// Each thread marches along z with the column in registers.
extern "C" __global__ void stencil3d(const float* in, float* out, int nx,
                                     int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  const int plane = nx * ny;
  const bool inside = x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  int i = y * nx + x;
  float below = 0.0f, current = in[i];
  for (int z = 0; z < nz; ++z, i += plane) {
    const float above = z + 1 < nz ? in[i + plane] : 0.0f;
    float result = current;
    if (inside && z > 0 && z < nz - 1) {
      result = stencil_weights[0] * current +
               stencil_weights[1] * (in[i - 1] + in[i + 1]) +
               stencil_weights[2] * (in[i - nx] + in[i + nx]) +
               stencil_weights[3] * (below + above);
    }
    out[i] = result;
    below = current;
    current = above;
  }
}
