// Conway's game of life on a torus: a byte per cell, and 32 cells per word.

extern "C" __global__ void life_bytes(const unsigned char* in,
                                      unsigned char* out, int width,
                                      int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int left = x == 0 ? width - 1 : x - 1;
  const int right = x == width - 1 ? 0 : x + 1;
  const int up = (y == 0 ? height - 1 : y - 1) * width;
  const int down = (y == height - 1 ? 0 : y + 1) * width;
  const int row = y * width;
  const int alive = in[up + left] + in[up + x] + in[up + right] +
                    in[row + left] + in[row + right] + in[down + left] +
                    in[down + x] + in[down + right];
  out[row + x] = alive == 3 || (alive == 2 && in[row + x]);
}

// Full adder on bit-slices.
__device__ void Add3(unsigned a, unsigned b, unsigned c, unsigned& sum,
                     unsigned& carry) {
  sum = a ^ b ^ c;
  carry = (a & b) | (c & (a ^ b));
}

// `words` words per row; bit 0 is the leftmost cell of a word.
extern "C" __global__ void life_packed(const unsigned* in, unsigned* out,
                                       int words, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= words || y >= height) return;
  const int left = (x + words - 1) % words, right = (x + 1) % words;
  unsigned sums[3], carries[3];
  unsigned self = 0;
  for (int dy = -1; dy <= 1; ++dy) {
    const unsigned* row = in + (y + dy + height) % height * words;
    const unsigned mid = row[x];
    const unsigned west = __funnelshift_l(row[left], mid, 1);
    const unsigned east = __funnelshift_r(mid, row[right], 1);
    if (dy == 0) {
      self = mid;
      Add3(west, east, 0, sums[1], carries[1]);
    } else {
      Add3(west, mid, east, sums[dy + 1], carries[dy + 1]);
    }
  }
  unsigned ones, twos_a, twos_b, fours_a, fours_b;
  Add3(sums[0], sums[1], sums[2], ones, twos_a);
  Add3(carries[0], carries[1], carries[2], twos_b, fours_a);
  const unsigned twos = twos_a ^ twos_b;
  fours_b = twos_a & twos_b;
  out[y * words + x] = twos & ~(fours_a | fours_b) & (ones | self);
}
