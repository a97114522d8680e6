// Local memory in place of shuffles; 256 work-items a row.
float Reduce(float v, __local float* scratch, bool maximum) {
  const uint tid = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[tid] = v;
  for (uint offset = 128; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (tid < offset) {
      const float other = scratch[tid + offset];
      scratch[tid] = maximum ? fmax(scratch[tid], other) : scratch[tid] + other;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  return scratch[0];
}

__kernel void softmax_f32(__global const float* in, __global float* out,
                          uint columns) {
  __local float scratch[256];
  in += (size_t)get_group_id(0) * columns;
  out += (size_t)get_group_id(0) * columns;
  float largest = -INFINITY;
  for (uint c = get_local_id(0); c < columns; c += get_local_size(0)) {
    largest = fmax(largest, in[c]);
  }
  largest = Reduce(largest, scratch, true);
  float sum = 0.0f;
  for (uint c = get_local_id(0); c < columns; c += get_local_size(0)) {
    sum += native_exp(in[c] - largest);
  }
  sum = Reduce(sum, scratch, false);
  for (uint c = get_local_id(0); c < columns; c += get_local_size(0)) {
    out[c] = native_exp(in[c] - largest) / sum;
  }
}
