// Calls: direct, recursive, indirect, virtual; struct parameters; printf,
// assert, malloc; switches.
#include <cassert>
#include <cstdio>

struct Big {
  int a[17];
  double d;
  char c;
};
struct Shape {
  __device__ virtual int Area(int) = 0;
};
struct Square : Shape {
  int side;
  __device__ int Area(int x) override { return x * side; }
};
struct Circle : Shape {
  __device__ int Area(int x) override { return x * 3; }
};

__device__ __noinline__ int Fibonacci(int n) {
  return n < 2 ? n : Fibonacci(n - 1) + Fibonacci(n - 2);
}
__device__ int Increment(int x) { return x + 1; }
__device__ int Double(int x) { return x * 2; }
typedef int (*Function)(int);
__device__ Function functions[] = {Increment, Double};

__device__ __noinline__ Big MakeBig(int x) {
  Big b;
  for (int i = 0; i < 17; ++i) b.a[i] = x * i;
  b.d = x;
  b.c = (char)x;
  return b;
}

__global__ void Calls(int n, int *o, Shape *shape) {
  o[0] = Fibonacci(n);
  o[1] = functions[n & 1](n);
  o[2] = shape->Area(n);
  o[3] = MakeBig(n).a[n];
  Square s;
  s.side = n;
  Circle c;
  Shape *either = n & 1 ? (Shape *)&s : (Shape *)&c;
  o[4] = either->Area(3);
}

__global__ void Parameters(Big b, char c, short s, bool flag, float4 v,
                           long long l, int *o) {
  o[threadIdx.x] = b.a[threadIdx.x] + c + s + flag + (int)v.z + (int)l +
                   (int)b.d + b.c;
}

__global__ void Library(int n, int **o) {
  printf("value %d of %s at %f\n", n, "text", 1.5);
  assert(n > 3);
  int *p = (int *)malloc(n);
  *o = p;
  free(p);
  if (n == 77) __trap();
}

__global__ void __launch_bounds__(256, 2) Switch(int n, int *o) {
  switch (n) {
    case 0: o[7] = 3; break;
    case 1: o[8] = 4; break;
    case 2: o[9] = o[3]; break;
    case 3: o[10] *= 7; break;
    case 4: o[11] ^= 9; break;
    case 5: o[12] -= 1; break;
    case 6: o[13] = o[2]; break;
    case 7: o[14] = 5; break;
    default: return;
  }
  o[20] = n;
}
