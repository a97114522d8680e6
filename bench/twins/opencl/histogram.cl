__kernel void histogram_shared(__global const uchar* data, uint n,
                               __global uint* bins) {
  __local uint counts[256];
  const uint tid = get_local_id(0);
  for (uint b = tid; b < 256; b += get_local_size(0)) counts[b] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    atomic_inc(&counts[data[i]]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint b = tid; b < 256; b += get_local_size(0)) {
    if (counts[b] != 0) atomic_add(&bins[b], counts[b]);
  }
}
