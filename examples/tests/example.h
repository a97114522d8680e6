// A committed PTX file on the device under test, driven through the C API.
//
//   Example example("vecadd");
//   auto a = example.Upload(host_vector);
//   auto c = example.Zeros<float>(n);
//   example.Launch("vecadd", {blocks}, {threads}, 0, a, c, uint32_t{n});
//   EXPECT_EQ(example.Download(c), expected);
//
// Errors become test failures; after one, further calls do nothing, so that
// a test reports its first failure and not the consequences.

#ifndef HETGPU_EXAMPLES_TESTS_EXAMPLE_H_
#define HETGPU_EXAMPLES_TESTS_EXAMPLE_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "hetgpu/hetgpu.h"

namespace hetgpu::examples {

// Device memory of `count` elements; the Example owns it.
template <typename T>
struct Array {
  hetgpuDevicePtr address = 0;
  size_t count = 0;
};

// Grid or block extents with ones for what is not given.
struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

class Example {
 public:
  // Opens device HETGPU_TEST_DEVICE (default "cpu") and loads
  // examples/<name>.ptx.
  explicit Example(const std::string& name);
  ~Example();
  Example(const Example&) = delete;
  Example& operator=(const Example&) = delete;

  template <typename T>
  Array<T> Upload(const std::vector<T>& data) {
    return {Allocate(data.data(), data.size() * sizeof(T)), data.size()};
  }

  template <typename T>
  Array<T> Zeros(size_t count) {
    return Upload(std::vector<T>(count));
  }

  template <typename T>
  std::vector<T> Download(const Array<T>& array) {
    std::vector<T> data(array.count);
    Read(array.address, data.data(), array.count * sizeof(T));
    return data;
  }

  template <typename T>
  void Write(const Array<T>& array, const std::vector<T>& data) {
    WriteBytes(array.address, data.data(), data.size() * sizeof(T));
  }

  // Address of a module global; fails the test when it is not there.
  hetgpuDevicePtr Symbol(const std::string& name, size_t bytes);
  void WriteBytes(hetgpuDevicePtr address, const void* data, size_t bytes);

  // Arguments are passed as they are: their types must be the kernel's.
  // Arrays pass their address. Returns when the kernel has finished.
  template <typename... Args>
  void Launch(const char* kernel, Extent grid, Extent block, uint32_t shared,
              const Args&... args) {
    Expect(Try(kernel, grid, block, shared, args...), kernel);
  }

  // The same, but gives the result of the launch to the caller.
  template <typename... Args>
  hetgpuResult Try(const char* kernel, Extent grid, Extent block,
                   uint32_t shared, const Args&... args) {
    return TryPointers(kernel, grid, block, shared, {Pointer(args)...});
  }

  // What kernels have printed since the last call.
  std::string TakeOutput();

 private:
  template <typename T>
  static void* Pointer(const Array<T>& array) {
    return const_cast<hetgpuDevicePtr*>(&array.address);
  }
  template <typename T>
  static void* Pointer(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    return const_cast<T*>(&value);
  }

  hetgpuDevicePtr Allocate(const void* data, size_t bytes);
  void Read(hetgpuDevicePtr address, void* data, size_t bytes);
  hetgpuResult TryPointers(const char* kernel, Extent grid, Extent block,
                           uint32_t shared, std::vector<void*> args);
  void Expect(hetgpuResult result, const std::string& what);

  hetgpuContext context_ = nullptr;
  hetgpuModule module_ = nullptr;
  std::string output_;
  bool ok_ = true;
};

// Blocks of `block` that cover `count`.
inline uint32_t Blocks(size_t count, uint32_t block) {
  return static_cast<uint32_t>((count + block - 1) / block);
}

// `count` numbers between `low` and `high` (inclusive for integers), the same
// on every run.
template <typename T>
std::vector<T> Random(size_t count, uint64_t seed, double low, double high) {
  std::vector<T> values(count);
  uint64_t state = seed * 0x2545F4914F6CDD1Dull + 0x9E3779B97F4A7C15ull;
  for (T& value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const double unit = static_cast<double>(state >> 11) * 0x1p-53;
    if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(static_cast<int64_t>(low + unit *
                                                  (high - low + 1)));
    } else {
      value = static_cast<T>(low + unit * (high - low));
    }
  }
  return values;
}

// `count` words of random bits.
std::vector<uint32_t> RandomBits(size_t count, uint64_t seed);

// Fails at the first element with |got - want| > atol + rtol * |want|.
void ExpectClose(const std::vector<float>& got,
                 const std::vector<double>& want, double rtol, double atol);
void ExpectClose(const std::vector<double>& got,
                 const std::vector<double>& want, double rtol, double atol);

}  // namespace hetgpu::examples

#endif  // HETGPU_EXAMPLES_TESTS_EXAMPLE_H_
