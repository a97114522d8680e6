// All-pairs gravity: bodies pass through shared memory one tile at a time.
// Positions are (x, y, z, mass) vectors.

// blockDim.x float4 of dynamic shared memory.
extern "C" __global__ void nbody_forces(const float4* bodies, float4* accel,
                                        int n, float softening) {
  extern __shared__ float4 tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int base = 0; base < n; base += blockDim.x) {
    const int j = base + threadIdx.x;
    tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (unsigned k = 0; k < blockDim.x; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - me.x, dy = other.y - me.y,
                  dz = other.z - me.z;
      const float r2 = dx * dx + dy * dy + dz * dz + softening;
      const float inv = rsqrtf(r2);
      const float s = other.w * inv * inv * inv;
      ax += s * dx;
      ay += s * dy;
      az += s * dz;
    }
    __syncthreads();
  }
  if (i < n) accel[i] = make_float4(ax, ay, az, 0.0f);
}

extern "C" __global__ void nbody_step(float4* bodies, float4* velocities,
                                      const float4* accel, int n, float dt) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 p = bodies[i], v = velocities[i];
  const float4 a = accel[i];
  v.x += a.x * dt;
  v.y += a.y * dt;
  v.z += a.z * dt;
  p.x += v.x * dt;
  p.y += v.y * dt;
  p.z += v.z * dt;
  velocities[i] = v;
  bodies[i] = p;
}
