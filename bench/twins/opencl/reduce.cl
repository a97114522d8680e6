__kernel void reduce_block(__global const int* in, __global int* out, uint n,
                           __local int* tree) {
  const uint tid = get_local_id(0), i = get_global_id(0);
  tree[tid] = i < n ? in[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint width = get_local_size(0); width > 1;) {
    const uint half_width = (width + 1) / 2;
    if (tid < width / 2) tree[tid] += tree[tid + half_width];
    barrier(CLK_LOCAL_MEM_FENCE);
    width = half_width;
  }
  if (tid == 0) out[get_group_id(0)] = tree[0];
}

void AddAtomically(volatile __global float* to, float value) {
  union {
    float f;
    uint u;
  } seen, old, next;
  seen.f = *to;
  do {
    old.u = seen.u;
    next.f = old.f + value;
    seen.u = atomic_cmpxchg((volatile __global uint*)to, old.u, next.u);
  } while (seen.u != old.u);
}

// Local memory in place of shuffles.
__kernel void reduce_atomic(__global const float* in, __global float* out,
                            uint n) {
  __local float sums[256];
  const uint tid = get_local_id(0);
  float v = 0.0f;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) v += in[i];
  sums[tid] = v;
  for (uint offset = 128; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < offset) sums[tid] += sums[tid + offset];
  }
  if (tid == 0) AddAtomically(out, sums[0]);
}
