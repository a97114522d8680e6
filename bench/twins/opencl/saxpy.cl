__kernel void saxpy(uint n, float a, __global const float* restrict x,
                    __global float* restrict y) {
  const uint stride = get_global_size(0);
  for (uint i = get_global_id(0); i < n; i += stride) y[i] = a * x[i] + y[i];
}
