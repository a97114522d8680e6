// Language features: structs by value, switch, 128-bit integers, arrays in
// local memory, pointer tables.

struct Sphere {
  float x, y, z;
  float radius;
  unsigned char tag;
  double weight;
};

struct Scene {
  Sphere spheres[3];
  const float* rays;
  int count;
};

__device__ __noinline__ Sphere Grow(Sphere s, float by) {
  s.radius += by;
  s.tag ^= 0x5a;
  s.weight *= 2.0;
  return s;
}

// Ray i goes along z from (rays[2i], rays[2i+1]): the index of the sphere
// that it meets first, or -1, and the depth.
extern "C" __global__ void trace(Scene scene, int* hit, float* depth,
                                 Sphere* grown) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 3) grown[i] = Grow(scene.spheres[i], 0.5f);
  if (i >= scene.count) return;
  const float px = scene.rays[2 * i], py = scene.rays[2 * i + 1];
  int best = -1;
  float nearest = 1e30f;
  for (int s = 0; s < 3; ++s) {
    const Sphere& sphere = scene.spheres[s];
    const float dx = px - sphere.x, dy = py - sphere.y;
    const float h = sphere.radius * sphere.radius - dx * dx - dy * dy;
    if (h < 0.0f) continue;
    const float z = sphere.z - sqrtf(h);
    if (z < nearest) {
      nearest = z;
      best = s;
    }
  }
  hit[i] = best;
  depth[i] = nearest;
}

// A little stack machine: dense switch, dynamic indexing of a local array.
extern "C" __global__ void interpret(const unsigned char* program, int length,
                                     const int* input, int* output, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int stack[16];
  int top = 0;
  stack[0] = input[i];
  for (int pc = 0; pc < length; ++pc) {
    const int a = stack[top], b = stack[top > 0 ? top - 1 : 0];
    switch (program[pc]) {
      case 0: stack[top = min(top + 1, 15)] = a; break;
      case 1: stack[top = max(top - 1, 0)] = a + b; break;
      case 2: stack[top = max(top - 1, 0)] = b - a; break;
      case 3: stack[top = max(top - 1, 0)] = a * b; break;
      case 4: stack[top] = a == 0 ? 0 : b / a; break;
      case 5: stack[top] = a == 0 ? 0 : b % a; break;
      case 6: stack[top] = a << (b & 31); break;
      case 7: stack[top] = a >> (b & 31); break;
      case 8: stack[top] = ~a; break;
      case 9: stack[top] = __popc(a); break;
      case 10: stack[top = min(top + 1, 15)] = pc + i; break;
      case 11: if (a & 1) ++pc; break;
      default: stack[top] = a ^ 0x55; break;
    }
  }
  int result = 0;
  for (int s = 0; s <= top; ++s) result = result * 31 + stack[s];
  output[i] = result;
}

// a * b / c and a * b % c with a 128-bit product.
extern "C" __global__ void muldiv128(const unsigned long long* a,
                                     const unsigned long long* b,
                                     const unsigned long long* c,
                                     unsigned long long* quotient,
                                     unsigned long long* remainder, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned __int128 product = (unsigned __int128)a[i] * b[i];
  const unsigned long long divisor = c[i] | 1;
  quotient[i] = (unsigned long long)(product / divisor);
  remainder[i] = (unsigned long long)(product % divisor);
}

// Insertion sort of eight elements in a local array.
extern "C" __global__ void local_sort(short* data, int groups) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  short local[8];
  for (int j = 0; j < 8; ++j) {
    const short v = data[i * 8 + j];
    int at = j;
    while (at > 0 && local[at - 1] > v) {
      local[at] = local[at - 1];
      --at;
    }
    local[at] = v;
  }
  for (int j = 0; j < 8; ++j) data[i * 8 + j] = local[j];
}

__device__ float table_scale[4] = {1.0f, 2.0f, 4.0f, 8.0f};

// Sums through a table of pointers held in memory; null entries are skipped.
extern "C" __global__ void gather_table(const float* const* table, int entries,
                                        float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int t = 0; t < entries; ++t) {
    const float* p = table[t];
    if (p != nullptr) sum += p[i] * table_scale[t & 3];
  }
  out[i] = sum;
}
