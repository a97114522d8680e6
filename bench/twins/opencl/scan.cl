__kernel void scan_blelloch(__global const int* in, __global int* out,
                            __global int* sums, uint n, __local int* temp) {
  const uint tid = get_local_id(0), width = 2 * get_local_size(0);
  const uint base = get_group_id(0) * width;
  temp[2 * tid] = base + 2 * tid < n ? in[base + 2 * tid] : 0;
  temp[2 * tid + 1] = base + 2 * tid + 1 < n ? in[base + 2 * tid + 1] : 0;
  uint offset = 1;
  for (uint d = width / 2; d > 0; d /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < d) {
      const uint left = offset * (2 * tid + 1) - 1;
      const uint right = offset * (2 * tid + 2) - 1;
      temp[right] += temp[left];
    }
    offset *= 2;
  }
  if (tid == 0) {
    sums[get_group_id(0)] = temp[width - 1];
    temp[width - 1] = 0;
  }
  for (uint d = 1; d < width; d *= 2) {
    offset /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < d) {
      const uint left = offset * (2 * tid + 1) - 1;
      const uint right = offset * (2 * tid + 2) - 1;
      const int t = temp[left];
      temp[left] = temp[right];
      temp[right] += t;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (base + 2 * tid < n) out[base + 2 * tid] = temp[2 * tid];
  if (base + 2 * tid + 1 < n) out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

__kernel void scan_add_offsets(__global int* data, __global const int* offsets,
                               uint chunk, uint n) {
  const uint i = get_global_id(0);
  if (i < n) data[i] += offsets[i / chunk];
}
