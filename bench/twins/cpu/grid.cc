#include "bench/twins/cpu/twin.h"

namespace hetgpu::bench {

HETGPU_HOST_TWIN(stencil2d) {
  const auto* const in = Get<const float*>(arguments, 0);
  auto* const out = Get<float*>(arguments, 1);
  const int64_t nx = Get<int>(arguments, 2), ny = Get<int>(arguments, 3);
  const auto alpha = Get<float>(arguments, 4);
#pragma omp parallel for schedule(static)
  for (int64_t y = 0; y < ny; ++y) {
    const float* const row = in + y * nx;
    float* const to = out + y * nx;
    if (y == 0 || y == ny - 1) {
      std::memcpy(to, row, nx * sizeof(float));
      continue;
    }
    to[0] = row[0], to[nx - 1] = row[nx - 1];
#pragma omp simd
    for (int64_t x = 1; x < nx - 1; ++x) {
      const float around = row[x - 1] + row[x + 1] + row[x - nx] + row[x + nx];
      to[x] = row[x] + alpha * (around - 4.0f * row[x]);
    }
  }
}

HETGPU_HOST_TWIN(stencil3d) {
  const auto* const in = Get<const float*>(arguments, 0);
  auto* const out = Get<float*>(arguments, 1);
  const int64_t nx = Get<int>(arguments, 2), ny = Get<int>(arguments, 3);
  const int64_t nz = Get<int>(arguments, 4), plane = nx * ny;
#pragma omp parallel for schedule(static) collapse(2)
  for (int64_t z = 0; z < nz; ++z) {
    for (int64_t y = 0; y < ny; ++y) {
      const float* const row = in + z * plane + y * nx;
      float* const to = out + z * plane + y * nx;
      if (z == 0 || z == nz - 1 || y == 0 || y == ny - 1) {
        std::memcpy(to, row, nx * sizeof(float));
        continue;
      }
      to[0] = row[0], to[nx - 1] = row[nx - 1];
#pragma omp simd
      for (int64_t x = 1; x < nx - 1; ++x) {
        to[x] = 0.4f * row[x] + 0.1f * (row[x - 1] + row[x + 1]) +
                0.1f * (row[x - nx] + row[x + nx]) +
                0.1f * (row[x - plane] + row[x + plane]);
      }
    }
  }
}

}  // namespace hetgpu::bench
