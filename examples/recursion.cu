// Functions that call themselves and each other: the device stack.

__device__ __noinline__ unsigned Fibonacci(unsigned n) {
  return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
}

__device__ __noinline__ unsigned Ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return Ackermann(m - 1, 1);
  return Ackermann(m - 1, Ackermann(m, n - 1));
}

__device__ bool IsOdd(unsigned n);

__device__ __noinline__ bool IsEven(unsigned n) {
  return n == 0 || IsOdd(n - 1);
}

__device__ __noinline__ bool IsOdd(unsigned n) {
  return n != 0 && IsEven(n - 1);
}

extern "C" __global__ void recursion(const unsigned* in, unsigned* fibonacci,
                                     unsigned* ackermann, unsigned* even,
                                     unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned v = in[i];
  fibonacci[i] = Fibonacci(v % 12);
  ackermann[i] = Ackermann(v % 3, v % 5);
  even[i] = IsEven(v % 17);
}

// In-place quicksort of one segment per thread.
__device__ __noinline__ void QuickSort(int* data, int low, int high) {
  if (low >= high) return;
  const int pivot = data[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (data[i] < pivot) ++i;
    while (data[j] > pivot) --j;
    if (i <= j) {
      const int t = data[i];
      data[i++] = data[j];
      data[j--] = t;
    }
  }
  QuickSort(data, low, j);
  QuickSort(data, i, high);
}

extern "C" __global__ void quicksort(int* data, int segment, int n) {
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * segment;
  if (begin >= n) return;
  QuickSort(data, begin, min(begin + segment, n) - 1);
}
