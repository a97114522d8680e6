__kernel void nbody_forces(__global const float4* bodies,
                           __global float4* accel, int n, float softening,
                           __local float4* tile) {
  const int i = get_global_id(0), tid = get_local_id(0);
  const int size = get_local_size(0);
  const float4 me = i < n ? bodies[i] : (float4)(0.0f);
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int base = 0; base < n; base += size) {
    const int j = base + tid;
    tile[tid] = j < n ? bodies[j] : (float4)(0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < size; ++k) {
      const float4 other = tile[k];
      const float dx = other.x - me.x, dy = other.y - me.y,
                  dz = other.z - me.z;
      const float r2 = dx * dx + dy * dy + dz * dz + softening;
      const float inv = rsqrt(r2);
      const float s = other.w * inv * inv * inv;
      ax += s * dx;
      ay += s * dy;
      az += s * dz;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) accel[i] = (float4)(ax, ay, az, 0.0f);
}
