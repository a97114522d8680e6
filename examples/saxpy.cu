// y = a * x + y with grid-stride loops: any grid handles any n.

extern "C" __global__ void saxpy(unsigned n, float a,
                                 const float* __restrict__ x,
                                 float* __restrict__ y) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void daxpy(unsigned n, double a,
                                 const double* __restrict__ x,
                                 double* __restrict__ y) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = a * x[i] + y[i];
  }
}
