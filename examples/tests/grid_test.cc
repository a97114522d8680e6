// Grids and particles: stencil, life, jacobi, nbody.

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "examples/tests/example.h"
#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

std::vector<double> Widen(const std::vector<float>& in) {
  return {in.begin(), in.end()};
}

std::vector<double> HostHeat(const std::vector<double>& in, int nx, int ny,
                             double alpha) {
  std::vector<double> out = in;
  for (int y = 1; y < ny - 1; ++y) {
    for (int x = 1; x < nx - 1; ++x) {
      const int i = y * nx + x;
      out[i] += alpha * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] -
                         4 * in[i]);
    }
  }
  return out;
}

TEST(Stencil, Plane) {
  Example example("stencil");
  for (auto [nx, ny] : {std::pair{1, 1}, {32, 8}, {70, 45}, {33, 100}}) {
    const auto in = Random<float>(nx * ny, 1, 0, 100);
    auto want = Widen(in);
    auto from = example.Upload(in), to = example.Zeros<float>(in.size());
    for (int step = 0; step < 4; ++step) {
      want = HostHeat(want, nx, ny, 0.2f);
      example.Launch("stencil2d", {Blocks(nx, 32), Blocks(ny, 8)}, {32, 8}, 0,
                     from, to, nx, ny, 0.2f);
      std::swap(from, to);
    }
    ExpectClose(example.Download(from), want, 1e-5, 1e-5);
  }
}

std::vector<double> HostStencil3d(const std::vector<float>& in, int nx, int ny,
                                  int nz, const std::vector<float>& w) {
  std::vector<double> out = Widen(in);
  for (int z = 1; z < nz - 1; ++z) {
    for (int y = 1; y < ny - 1; ++y) {
      for (int x = 1; x < nx - 1; ++x) {
        const int i = (z * ny + y) * nx + x, plane = nx * ny;
        out[i] = double(w[0]) * in[i] +
                 double(w[1]) * (double(in[i - 1]) + in[i + 1]) +
                 double(w[2]) * (double(in[i - nx]) + in[i + nx]) +
                 double(w[3]) * (double(in[i - plane]) + in[i + plane]);
      }
    }
  }
  return out;
}

TEST(Stencil, VolumeWithConstantWeights) {
  Example example("stencil");
  const std::vector<float> initial = {0.4f, 0.1f, 0.1f, 0.1f};
  const std::vector<float> other = {-1.0f, 0.25f, 0.5f, 2.0f};
  const int nx = 33, ny = 18, nz = 9;
  const auto in = Random<float>(nx * ny * nz, 2, -1, 1);
  const hetgpuDevicePtr symbol = example.Symbol("stencil_weights", 16);
  // The first round relies on the initial values in the PTX.
  for (bool overwrite : {false, true}) {
    const auto& weights = overwrite ? other : initial;
    if (overwrite) example.WriteBytes(symbol, weights.data(), 16);
    for (Extent block : {Extent{7, 5}, Extent{32, 32}}) {
      const auto out = example.Zeros<float>(in.size());
      example.Launch("stencil3d", {Blocks(nx, block.x), Blocks(ny, block.y)},
                     block, 0, example.Upload(in), out, nx, ny, nz);
      ExpectClose(example.Download(out), HostStencil3d(in, nx, ny, nz, weights),
                  1e-5, 1e-6);
    }
  }
}

std::vector<uint8_t> HostLife(const std::vector<uint8_t>& in, int width,
                              int height) {
  std::vector<uint8_t> out(in.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int alive = 0;
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          if (dx == 0 && dy == 0) continue;
          alive += in[(y + dy + height) % height * width +
                      (x + dx + width) % width];
        }
      }
      const bool self = in[y * width + x];
      out[y * width + x] = alive == 3 || (self && alive == 2);
    }
  }
  return out;
}

TEST(Life, Bytes) {
  Example example("life");
  for (auto [width, height] : {std::pair{3, 3}, {50, 37}, {129, 65}}) {
    auto want = Random<uint8_t>(width * height, 3, 0, 1);
    auto from = example.Upload(want);
    auto to = example.Zeros<uint8_t>(want.size());
    for (int step = 0; step < 6; ++step) {
      want = HostLife(want, width, height);
      example.Launch("life_bytes", {Blocks(width, 16), Blocks(height, 5)},
                     {16, 5}, 0, from, to, width, height);
      std::swap(from, to);
    }
    ASSERT_EQ(example.Download(from), want) << width << " x " << height;
  }
}

std::vector<uint32_t> Pack(const std::vector<uint8_t>& cells) {
  std::vector<uint32_t> words(cells.size() / 32);
  for (size_t i = 0; i < cells.size(); ++i) {
    words[i / 32] |= uint32_t{cells[i]} << (i % 32);
  }
  return words;
}

TEST(Life, Packed) {
  Example example("life");
  for (auto [words, height] : {std::pair{1, 3}, {3, 41}, {5, 64}}) {
    auto want = Random<uint8_t>(words * 32 * height, 4, 0, 1);
    auto from = example.Upload(Pack(want));
    auto to = example.Zeros<uint32_t>(words * height);
    for (int step = 0; step < 6; ++step) {
      want = HostLife(want, words * 32, height);
      example.Launch("life_packed", {Blocks(words, 4), Blocks(height, 7)},
                     {4, 7}, 0, from, to, words, height);
      std::swap(from, to);
    }
    ASSERT_EQ(example.Download(from), Pack(want)) << words << " x " << height;
  }
}

TEST(Jacobi, StepsAndResidual) {
  Example example("jacobi");
  for (int n : {3, 17, 33}) {
    const auto rhs = Random<float>(n * n, 5, 0, 100);
    const float h2 = 1.0f / ((n - 1) * (n - 1));
    std::vector<double> want(n * n), before;
    auto u = example.Zeros<float>(n * n), next = example.Zeros<float>(n * n);
    for (int step = 0; step < 50; ++step) {
      before = want;
      for (int y = 1; y < n - 1; ++y) {
        for (int x = 1; x < n - 1; ++x) {
          const int i = y * n + x;
          want[i] = 0.25 * (before[i - 1] + before[i + 1] + before[i - n] +
                            before[i + n] + double(h2) * rhs[i]);
        }
      }
      example.Launch("jacobi_step", {Blocks(n, 8), Blocks(n, 4)}, {8, 4}, 0, u,
                     example.Upload(rhs), next, n, h2);
      std::swap(u, next);
    }
    ExpectClose(example.Download(u), want, 1e-4, 1e-5);
    double residual = 0;
    for (int i = 0; i < n * n; ++i) {
      residual = std::max(residual, std::fabs(want[i] - before[i]));
    }
    const auto largest = example.Zeros<uint32_t>(1);
    example.Launch("jacobi_residual", {3}, {96}, 0, u, next, largest, n * n);
    EXPECT_NEAR(std::bit_cast<float>(example.Download(largest)[0]), residual,
                1e-5);
  }
}

struct Body {
  float x, y, z, mass;
};

struct Vector {
  double x = 0, y = 0, z = 0;
};

std::vector<Vector> HostForces(const std::vector<Body>& bodies,
                               double softening) {
  std::vector<Vector> accel(bodies.size());
  for (size_t i = 0; i < bodies.size(); ++i) {
    for (const Body& other : bodies) {
      const double dx = double(other.x) - bodies[i].x;
      const double dy = double(other.y) - bodies[i].y;
      const double dz = double(other.z) - bodies[i].z;
      const double r2 = dx * dx + dy * dy + dz * dz + softening;
      const double s = other.mass / (r2 * std::sqrt(r2));
      accel[i].x += s * dx;
      accel[i].y += s * dy;
      accel[i].z += s * dz;
    }
  }
  return accel;
}

TEST(NBody, Forces) {
  Example example("nbody");
  for (int n : {1, 33, 200}) {
    const auto numbers = Random<float>(4 * n, 6, 0, 1);
    std::vector<Body> bodies(n);
    for (int i = 0; i < n; ++i) {
      bodies[i] = {numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2],
                   numbers[4 * i + 3]};
    }
    std::vector<double> want;
    for (const Vector& a : HostForces(bodies, 0.05f)) {
      want.insert(want.end(), {a.x, a.y, a.z, 0.0});
    }
    for (uint32_t block : {32u, 48u, 256u, 1024u}) {
      const auto accel = example.Zeros<float>(4 * n);
      example.Launch("nbody_forces", {Blocks(n, block)}, {block}, 16 * block,
                     example.Upload(bodies), accel, n, 0.05f);
      ExpectClose(example.Download(accel), want, 1e-4, 1e-3);
    }
  }
}

TEST(NBody, Step) {
  Example example("nbody");
  const int n = 77;
  const auto p = Random<float>(4 * n, 7, -1, 1);
  const auto v = Random<float>(4 * n, 8, -1, 1);
  const auto a = Random<float>(4 * n, 9, -1, 1);
  std::vector<double> want_p = Widen(p), want_v = Widen(v);
  for (int i = 0; i < 4 * n; ++i) {
    if (i % 4 == 3) continue;
    want_v[i] += double(a[i]) * 0.01f;
    want_p[i] += want_v[i] * 0.01f;
  }
  const auto bodies = example.Upload(p), velocities = example.Upload(v);
  example.Launch("nbody_step", {Blocks(n, 30)}, {30}, 0, bodies, velocities,
                 example.Upload(a), n, 0.01f);
  ExpectClose(example.Download(bodies), want_p, 1e-6, 1e-6);
  ExpectClose(example.Download(velocities), want_v, 1e-6, 1e-6);
}

}  // namespace
}  // namespace hetgpu::examples
