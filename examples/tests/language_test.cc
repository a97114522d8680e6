// Language features: language, printf.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <string>

#include "examples/tests/example.h"
#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

// The layouts of the kernel's structs.
struct Sphere {
  float x, y, z;
  float radius;
  uint8_t tag;
  double weight;
};

struct Scene {
  Sphere spheres[3];
  hetgpuDevicePtr rays;
  int count;
};

static_assert(sizeof(Sphere) == 32 && sizeof(Scene) == 112);

TEST(Language, StructsByValue) {
  Example example("language");
  const int count = 333;
  const auto rays = Random<float>(2 * count, 1, -4, 4);
  const auto device_rays = example.Upload(rays);
  const Scene scene = {{{0, 0, 10, 2, 1, 0.5},
                        {1, -1, 8, 1.5f, 2, 1.25},
                        {-2, 1, 12, 3, 255, -3}},
                       device_rays.address,
                       count};
  std::vector<int> hits(count, -1);
  std::vector<double> depths(count, 1e30);
  for (int i = 0; i < count; ++i) {
    for (int s = 0; s < 3; ++s) {
      const Sphere& sphere = scene.spheres[s];
      const double dx = rays[2 * i] - sphere.x, dy = rays[2 * i + 1] - sphere.y;
      const double h = sphere.radius * sphere.radius - dx * dx - dy * dy;
      if (h < 0) continue;
      const double z = sphere.z - std::sqrt(h);
      if (z < depths[i]) depths[i] = z, hits[i] = s;
    }
  }
  const auto hit = example.Zeros<int>(count);
  const auto depth = example.Zeros<float>(count);
  const auto grown = example.Zeros<Sphere>(3);
  example.Launch("trace", {Blocks(count, 70)}, {70}, 0, scene, hit, depth,
                 grown);
  EXPECT_EQ(example.Download(hit), hits);
  ExpectClose(example.Download(depth), depths, 1e-5, 0);
  const auto spheres = example.Download(grown);
  for (int s = 0; s < 3; ++s) {
    EXPECT_EQ(spheres[s].z, scene.spheres[s].z);
    EXPECT_EQ(spheres[s].radius, scene.spheres[s].radius + 0.5f);
    EXPECT_EQ(spheres[s].tag, scene.spheres[s].tag ^ 0x5a);
    EXPECT_EQ(spheres[s].weight, scene.spheres[s].weight * 2);
  }
}

// One instruction of the stack machine, as a function of the two top values.
// Arithmetic is modulo 2^32; the most negative number divided by -1 is itself.
uint32_t Operate(uint8_t op, uint32_t a, uint32_t b) {
  const int64_t sa = int32_t(a), sb = int32_t(b);
  switch (op) {
    case 1: return a + b;
    case 2: return b - a;
    case 3: return a * b;
    case 4: return sa == 0 ? 0 : uint32_t(sb / sa);
    case 5: return sa == 0 ? 0 : uint32_t(sb % sa);
    case 6: return a << (b & 31);
    case 7: return uint32_t(sa >> (b & 31));
    case 8: return ~a;
    case 9: return std::popcount(a);
    default: return a ^ 0x55;
  }
}

uint32_t Interpret(const std::vector<uint8_t>& program, uint32_t input,
                   uint32_t thread) {
  std::vector<uint32_t> stack = {input};
  auto push = [&](uint32_t v) {
    if (stack.size() == 16) stack.pop_back();
    stack.push_back(v);
  };
  for (size_t pc = 0; pc < program.size(); ++pc) {
    const uint8_t op = program[pc];
    const uint32_t a = stack.back();
    const uint32_t b = stack.size() > 1 ? stack[stack.size() - 2] : stack[0];
    if (op == 0) {
      push(a);
    } else if (op == 10) {
      push(uint32_t(pc) + thread);
    } else if (op == 11) {
      if (a & 1) ++pc;
    } else {
      const bool pops = op >= 1 && op <= 3 && stack.size() > 1;
      if (pops) stack.pop_back();
      stack.back() = Operate(op, a, b);
    }
  }
  uint32_t result = 0;
  for (uint32_t v : stack) result = result * 31 + v;
  return result;
}

TEST(Language, SwitchAndLocalArray) {
  Example example("language");
  const int n = 150;
  const auto input = RandomBits(n, 2);
  for (uint64_t seed = 3; seed < 9; ++seed) {
    const auto program = Random<uint8_t>(100, seed, 0, 12);
    std::vector<uint32_t> want(n);
    for (int i = 0; i < n; ++i) want[i] = Interpret(program, input[i], i);
    const auto output = example.Zeros<uint32_t>(n);
    example.Launch("interpret", {Blocks(n, 60)}, {60}, 0,
                   example.Upload(program), 100, example.Upload(input), output,
                   n);
    ASSERT_EQ(example.Download(output), want) << "seed " << seed;
  }
}

// (a * b) mod 2^128 divided bit by bit, without 128-bit types.
void MulDiv(uint64_t a, uint64_t b, uint64_t c, uint64_t* quotient,
            uint64_t* remainder) {
  const uint64_t al = uint32_t(a), ah = a >> 32;
  const uint64_t bl = uint32_t(b), bh = b >> 32;
  const uint64_t mid = ah * bl + (al * bl >> 32);
  const uint64_t mid2 = al * bh + uint32_t(mid);
  const uint64_t high = ah * bh + (mid >> 32) + (mid2 >> 32);
  const uint64_t low = a * b;
  uint64_t rest = 0;
  *quotient = 0;
  for (int bit = 127; bit >= 0; --bit) {
    const bool carry = rest >> 63;
    const uint64_t word = bit >= 64 ? high : low;
    rest = rest << 1 | (word >> (bit % 64) & 1);
    *quotient <<= 1;
    if (carry || rest >= c) {
      rest -= c;
      *quotient |= 1;
    }
  }
  *remainder = rest;
}

TEST(Language, Int128) {
  Example example("language");
  const int n = 333;
  auto wide = [](uint64_t seed) {
    std::vector<uint64_t> values;
    const auto bits = RandomBits(2 * n, seed);
    for (int i = 0; i < n; ++i) {
      values.push_back(uint64_t{bits[2 * i]} << 32 | bits[2 * i + 1]);
      values.back() >>= i % 64;
    }
    return values;
  };
  const auto a = wide(10), b = wide(11), c = wide(12);
  std::vector<uint64_t> quotient(n), remainder(n);
  for (int i = 0; i < n; ++i) {
    MulDiv(a[i], b[i], c[i] | 1, &quotient[i], &remainder[i]);
  }
  const auto q = example.Zeros<uint64_t>(n), r = example.Zeros<uint64_t>(n);
  example.Launch("muldiv128", {Blocks(n, 50)}, {50}, 0, example.Upload(a),
                 example.Upload(b), example.Upload(c), q, r, n);
  EXPECT_EQ(example.Download(q), quotient);
  EXPECT_EQ(example.Download(r), remainder);
}

TEST(Language, LocalSort) {
  Example example("language");
  const int groups = 101;
  auto want = Random<int16_t>(8 * groups, 13, -32768, 32767);
  const auto data = example.Upload(want);
  for (int g = 0; g < groups; ++g) {
    std::sort(want.begin() + 8 * g, want.begin() + 8 * g + 8);
  }
  example.Launch("local_sort", {Blocks(groups, 30)}, {30}, 0, data, groups);
  EXPECT_EQ(example.Download(data), want);
}

TEST(Language, TableOfPointers) {
  Example example("language");
  const int n = 100, entries = 6;
  std::vector<uint64_t> table;
  std::vector<double> want(n);
  for (int t = 0; t < entries; ++t) {
    if (t == 1) {
      table.push_back(0);
      continue;
    }
    const auto row = Random<float>(n + t, 14 + t, -1, 1);
    table.push_back(example.Upload(row).address + 4 * t);
    for (int i = 0; i < n; ++i) want[i] += double(row[i + t]) * (1 << (t & 3));
  }
  const auto out = example.Zeros<float>(n);
  example.Launch("gather_table", {Blocks(n, 27)}, {27}, 0,
                 example.Upload(table), entries, out, n);
  ExpectClose(example.Download(out), want, 1e-6, 1e-5);
}

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(Printf, OneLinePerThread) {
  Example example("printf");
  const int n = 40;
  std::vector<double> values(n);
  std::string want;
  for (int i = 0; i < n; ++i) {
    values[i] = i * 1.375 - 7;
    char line[128];
    std::snprintf(line, sizeof line,
                  "thread %d of block %d: value %.3f, hex %08x, char %c, %s\n",
                  i % 16, i / 16, values[i], 0xc0ffee00u + i, 'a' + i % 26,
                  i % 2 ? "odd" : "even");
    want += line;
  }
  example.Launch("hello", {Blocks(n, 16)}, {16}, 0, n, example.Upload(values));
  EXPECT_EQ(SortedLines(example.TakeOutput()), SortedLines(want));
}

TEST(Printf, Conversions) {
  Example example("printf");
  example.Launch("print_kinds", {1}, {32}, 0, int64_t{-5000000000}, 0.1f,
                 uint64_t{0});
  EXPECT_EQ(example.TakeOutput(),
            "-5000000000 18446744068709551616   +42|7     |0.1 1.000000e-01 "
            "%\nnull pointer, arguments printed: 6\n");
}

TEST(Printf, AssertionStopsTheLaunchOnly) {
  Example example("printf");
  std::vector<int> data(100);
  for (int i = 0; i < 100; ++i) data[i] = i;
  const auto array = example.Upload(data);
  EXPECT_EQ(example.Try("check_bound", {4}, {32}, 0, array, 100, 100),
            HETGPU_SUCCESS);
  EXPECT_EQ(example.Try("check_bound", {4}, {32}, 0, array, 100, 99),
            HETGPU_ERROR_LAUNCH_ASSERT);
  hetgpuLaunchErrorInfo info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(hetgpuGetLastLaunchError(&info), HETGPU_SUCCESS);
  EXPECT_STREQ(info.kernel, "check_bound");
  EXPECT_EQ(info.block.x, 3u);
  EXPECT_EQ(info.thread.x, 3u);
  // The device is still usable.
  EXPECT_EQ(example.Try("check_bound", {4}, {32}, 0, array, 100, 100),
            HETGPU_SUCCESS);
}

TEST(Printf, TrapStopsTheLaunchOnly) {
  Example example("printf");
  std::vector<int> data(100);
  const auto array = example.Upload(data);
  EXPECT_EQ(example.Try("trap_negative", {4}, {32}, 0, array, 100),
            HETGPU_SUCCESS);
  data[77] = -1;
  example.Write(array, data);
  EXPECT_EQ(example.Try("trap_negative", {4}, {32}, 0, array, 100),
            HETGPU_ERROR_LAUNCH_TRAP);
  data[77] = 0;
  example.Write(array, data);
  EXPECT_EQ(example.Try("trap_negative", {4}, {32}, 0, array, 100),
            HETGPU_SUCCESS);
}

}  // namespace
}  // namespace hetgpu::examples
