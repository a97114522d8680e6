// Matrices: sgemm, transpose, spmv, softmax, layernorm, dp4a.

#include <cmath>
#include <utility>

#include "examples/tests/example.h"
#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

using Half = _Float16;

struct GemmShape {
  int m, n, k;
};

constexpr GemmShape kGemmShapes[] = {
    {1, 1, 1}, {37, 53, 41}, {16, 16, 16}, {33, 17, 65}, {64, 5, 100}};

void TestSgemm(const char* kernel, Extent block) {
  Example example("sgemm");
  for (auto [m, n, k] : kGemmShapes) {
    const auto a = Random<float>(m * k, 1, -1, 1);
    const auto b = Random<float>(k * n, 2, -1, 1);
    const auto c = Random<float>(m * n, 3, -1, 1);
    std::vector<double> want(m * n);
    for (int row = 0; row < m; ++row) {
      for (int col = 0; col < n; ++col) {
        double sum = 0;
        for (int i = 0; i < k; ++i) {
          sum += double(a[row * k + i]) * b[i * n + col];
        }
        want[row * n + col] = 1.5 * sum - 0.5 * c[row * n + col];
      }
    }
    const auto result = example.Upload(c);
    example.Launch(kernel, {Blocks(n, block.x), Blocks(m, block.y)}, block, 0,
                   m, n, k, 1.5f, example.Upload(a), example.Upload(b), -0.5f,
                   result);
    ExpectClose(example.Download(result), want, 1e-5, 2e-5);
  }
}

TEST(Sgemm, Naive) {
  TestSgemm("sgemm_naive", {8, 5});
  TestSgemm("sgemm_naive", {32, 32});
}

TEST(Sgemm, Tiled) { TestSgemm("sgemm_tiled", {16, 16}); }

void TestTranspose(const char* kernel, Extent block, Extent cover) {
  Example example("transpose");
  for (auto [width, height] :
       {std::pair{1, 1}, {32, 32}, {70, 45}, {33, 100}}) {
    const auto in = Random<float>(width * height, 4, -1, 1);
    std::vector<float> want(in.size());
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        want[x * height + y] = in[y * width + x];
      }
    }
    const auto out = example.Zeros<float>(in.size());
    example.Launch(kernel, {Blocks(width, cover.x), Blocks(height, cover.y)},
                   block, 0, example.Upload(in), out, width, height);
    ASSERT_EQ(example.Download(out), want) << width << " x " << height;
  }
}

TEST(Transpose, Naive) {
  TestTranspose("transpose_naive", {15, 5}, {15, 5});
  TestTranspose("transpose_naive", {32, 32}, {32, 32});
}

TEST(Transpose, Tiled) {
  TestTranspose("transpose_tiled", {32, 8}, {32, 32});
}

struct Csr {
  int rows, columns;
  std::vector<int> row_start, column;
  std::vector<float> value;
};

// Row lengths jump between empty, a few and more than a warp.
Csr RandomMatrix(int rows, int columns) {
  Csr matrix{rows, columns, {0}, {}, {}};
  for (int length : Random<int>(rows, 5, 0, 6)) {
    constexpr int kLengths[] = {0, 1, 3, 31, 32, 33, 100};
    matrix.row_start.push_back(matrix.row_start.back() + kLengths[length]);
  }
  const int entries = matrix.row_start.back();
  matrix.column = Random<int>(entries, 6, 0, columns - 1);
  matrix.value = Random<float>(entries, 7, -1, 1);
  return matrix;
}

void TestSpmv(const char* kernel, uint32_t threads_per_row) {
  Example example("spmv");
  const Csr matrix = RandomMatrix(203, 150);
  const auto x = Random<float>(matrix.columns, 8, -1, 1);
  std::vector<double> want(matrix.rows);
  for (int row = 0; row < matrix.rows; ++row) {
    for (int i = matrix.row_start[row]; i < matrix.row_start[row + 1]; ++i) {
      want[row] += double(matrix.value[i]) * x[matrix.column[i]];
    }
  }
  for (uint32_t block : {32u, 96u, 1024u}) {
    const auto y = example.Zeros<float>(matrix.rows);
    example.Launch(kernel, {Blocks(matrix.rows * threads_per_row, block)},
                   {block}, 0, matrix.rows, example.Upload(matrix.row_start),
                   example.Upload(matrix.column), example.Upload(matrix.value),
                   example.Upload(x), y);
    ExpectClose(example.Download(y), want, 1e-5, 1e-5);
  }
}

TEST(Spmv, ThreadPerRow) { TestSpmv("spmv_scalar", 1); }

TEST(Spmv, WarpPerRow) { TestSpmv("spmv_vector", 32); }

template <typename T>
void TestSoftmax(const char* kernel, double rtol, double atol) {
  Example example("softmax");
  for (auto [rows, columns] :
       {std::pair<uint32_t, uint32_t>{1, 1}, {5, 133}, {3, 1000}}) {
    const auto in = Random<T>(rows * columns, 9, -8, 8);
    std::vector<double> want(in.size());
    for (uint32_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (uint32_t c = 0; c < columns; ++c) {
        sum += std::exp(double(in[row * columns + c]));
      }
      for (uint32_t c = 0; c < columns; ++c) {
        want[row * columns + c] = std::exp(double(in[row * columns + c])) / sum;
      }
    }
    for (uint32_t block : {32u, 96u, 1024u}) {
      const auto out = example.Zeros<T>(in.size());
      example.Launch(kernel, {rows}, {block}, 0, example.Upload(in), out,
                     columns);
      const auto got = example.Download(out);
      ExpectClose(std::vector<double>(got.begin(), got.end()), want, rtol,
                  atol);
    }
  }
}

TEST(Softmax, Float) { TestSoftmax<float>("softmax_f32", 1e-5, 1e-8); }

// Half a unit in the last place, and the smallest subnormal.
TEST(Softmax, Half) { TestSoftmax<Half>("softmax_f16", 6e-4, 6e-8); }

template <typename T>
std::vector<double> LayerNorm(const std::vector<T>& in,
                              const std::vector<T>& gamma,
                              const std::vector<T>& beta, uint32_t rows) {
  const size_t columns = gamma.size();
  std::vector<double> out(in.size());
  for (uint32_t row = 0; row < rows; ++row) {
    const T* line = &in[row * columns];
    double mean = 0, variance = 0;
    for (size_t c = 0; c < columns; ++c) mean += double(line[c]) / columns;
    for (size_t c = 0; c < columns; ++c) {
      variance += std::pow(double(line[c]) - mean, 2) / columns;
    }
    for (size_t c = 0; c < columns; ++c) {
      out[row * columns + c] = (double(line[c]) - mean) /
                                   std::sqrt(variance + 1e-5) *
                                   double(gamma[c]) +
                               double(beta[c]);
    }
  }
  return out;
}

template <typename T>
void TestLayerNorm(const char* kernel, uint32_t columns, uint32_t per_element,
                   double tolerance) {
  Example example("layernorm");
  const uint32_t rows = 11;
  const auto in = Random<T>(rows * columns, 10, -3, 5);
  const auto gamma = Random<T>(columns, 11, 0.5, 1.5);
  const auto beta = Random<T>(columns, 12, -1, 1);
  for (uint32_t rows_per_block : {1u, 3u, 32u}) {
    const auto out = example.Zeros<T>(in.size());
    example.Launch(kernel, {Blocks(rows, rows_per_block)},
                   {32, rows_per_block}, 0, example.Upload(in),
                   example.Upload(gamma), example.Upload(beta), out, rows,
                   columns / per_element, 1e-5f);
    const auto got = example.Download(out);
    ExpectClose(std::vector<double>(got.begin(), got.end()),
                LayerNorm(in, gamma, beta, rows), tolerance, tolerance);
  }
}

TEST(LayerNorm, Float) { TestLayerNorm<float>("layernorm_f32", 101, 1, 1e-5); }

TEST(LayerNorm, Half) { TestLayerNorm<Half>("layernorm_f16", 134, 2, 5e-3); }

int DotBytes(uint32_t a, uint32_t b, bool a_signed) {
  int sum = 0;
  for (int byte = 0; byte < 4; ++byte) {
    const uint8_t x = a >> (8 * byte);
    const int8_t y = b >> (8 * byte);
    sum += (a_signed ? int8_t(x) : int(x)) * y;
  }
  return sum;
}

TEST(Dp4a, Dot) {
  Example example("dp4a");
  for (uint32_t words : {1u, 31u, 1003u}) {
    const auto a = RandomBits(words, 13), b = RandomBits(words, 14);
    int want = 0;
    for (uint32_t i = 0; i < words; ++i) want += DotBytes(a[i], b[i], true);
    for (uint32_t block : {32u, 96u, 1024u}) {
      const auto out = example.Zeros<int>(1);
      example.Launch("dot_int8", {3}, {block}, 0, example.Upload(a),
                     example.Upload(b), words, out);
      EXPECT_EQ(example.Download(out)[0], want) << words << " by " << block;
    }
  }
}

TEST(Dp4a, Gemm) {
  Example example("dp4a");
  const int m = 19, n = 23, k4 = 10;
  const auto a = RandomBits(m * k4, 15), b = RandomBits(n * k4, 16);
  std::vector<int> want(m * n);
  for (int row = 0; row < m; ++row) {
    for (int col = 0; col < n; ++col) {
      for (int i = 0; i < k4; ++i) {
        want[row * n + col] +=
            DotBytes(a[row * k4 + i], b[col * k4 + i], false);
      }
    }
  }
  const auto c = example.Zeros<int>(m * n);
  example.Launch("gemm_int8", {Blocks(n, 8), Blocks(m, 7)}, {8, 7}, 0,
                 example.Upload(a), example.Upload(b), c, m, n, k4);
  EXPECT_EQ(example.Download(c), want);
}

}  // namespace
}  // namespace hetgpu::examples
