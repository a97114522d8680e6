// Textures where the device has them, and the refusal where it has none.
#include <cmath>
#include <cstring>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using testing::HasSubstr;

class TextureSuite : public DeviceTest {
 protected:
  void TearDown() override {
    if (texture_ != nullptr) EXPECT_SUCCESS(hetgpuTextureDestroy(texture_));
    DeviceTest::TearDown();
  }

  static hetgpuTextureDesc Desc(hetgpuType type, uint32_t channels,
                                std::vector<uint64_t> extents) {
    hetgpuTextureDesc desc = {};
    desc.struct_size = sizeof(desc);
    desc.type = type;
    desc.channels = channels;
    desc.dimensions = extents.size();
    extents.resize(3);
    desc.width = extents[0];
    desc.height = extents[1];
    desc.depth = extents[2];
    return desc;
  }

  // False where the device has no textures and says so.
  bool Create(const hetgpuTextureDesc& desc) {
    const hetgpuResult result = hetgpuTextureCreate(context_, &desc, &texture_);
    if (result == HETGPU_ERROR_UNSUPPORTED) {
      EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("has no textures"));
      texture_ = nullptr;
      return false;
    }
    EXPECT_SUCCESS(result);
    return result == HETGPU_SUCCESS;
  }

  template <typename T>
  void Write(const std::vector<T>& texels) {
    EXPECT_SUCCESS(hetgpuTextureWrite(texture_, texels.data(),
                                      texels.size() * sizeof(T)));
  }

  // What `kernel` samples at each of the points.
  template <typename Out, typename Point>
  std::vector<Out> Sample(const char* kernel, const std::vector<Point>& points,
                          size_t channels = 1) {
    uint64_t handle = 0;
    EXPECT_SUCCESS(hetgpuTextureGetHandle(texture_, &handle));
    const hetgpuDevicePtr out = Alloc(points.size() * channels * sizeof(Out));
    EXPECT_SUCCESS(Run(Function("textures", kernel), {{1, 1, 1}, {64, 1, 1}}, handle,
                       Upload(points), out,
                       static_cast<uint32_t>(points.size())));
    return Download<Out>(out, points.size() * channels);
  }

  hetgpuTexture texture_ = nullptr;
};

struct Point2 {
  float x, y;
};
struct Point4 {
  float x, y, z, w;
};

TEST_P(TextureSuite, LinearFilterInOneDimension) {
  hetgpuTextureDesc desc = Desc(HETGPU_TYPE_F32, 1, {4});
  desc.filter = HETGPU_TEXTURE_FILTER_LINEAR;
  desc.address_mode[0] = HETGPU_TEXTURE_ADDRESS_CLAMP;
  if (!Create(desc)) return;
  Write<float>({0, 8, 16, 64});
  // Texel centres lie at halves.
  EXPECT_EQ(Sample<float>("sample_1d",
                          std::vector<float>{0.5f, 1.5f, 1.0f, 3.0f, -5, 9}),
            (std::vector<float>{0, 8, 4, 40, 0, 64}));
}

TEST_P(TextureSuite, PointsAndBordersInTwoDimensions) {
  hetgpuTextureDesc desc = Desc(HETGPU_TYPE_F32, 4, {2, 2});
  for (auto& mode : desc.address_mode) mode = HETGPU_TEXTURE_ADDRESS_BORDER;
  for (int i = 0; i < 4; ++i) desc.border[i] = -1.0f - i;
  if (!Create(desc)) return;
  std::vector<float> texels(16);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = i;
  Write(texels);
  EXPECT_EQ(Sample<float>("sample_2d",
                          std::vector<Point2>{{0.5f, 0.5f},
                                              {1.5f, 0.5f},
                                              {0.9f, 1.9f},
                                              {2.5f, 0.5f}},
                          4),
            (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, -2,
                                -3, -4}));
}

TEST_P(TextureSuite, NormalizedBytesAtNormalizedCoordinates) {
  hetgpuTextureDesc desc = Desc(HETGPU_TYPE_U8, 4, {2, 1});
  desc.normalized_values = 1;
  desc.normalized_coordinates = 1;
  if (!Create(desc)) return;
  Write<uint8_t>({0, 255, 51, 102, 255, 0, 204, 153});
  const std::vector<float> got = Sample<float>(
      "sample_2d",
      std::vector<Point2>{{0.25f, 0.5f}, {0.75f, 0.5f}, {1.25f, 0.5f}}, 4);
  const float want[] = {0, 1, 0.2f, 0.4f, 1, 0, 0.8f, 0.6f, 0, 1, 0.2f, 0.4f};
  ASSERT_EQ(got.size(), std::size(want));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6f);
}

TEST_P(TextureSuite, IntegersInThreeDimensions) {
  if (!Create(Desc(HETGPU_TYPE_U32, 1, {2, 3, 4}))) return;
  std::vector<uint32_t> texels(24);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = 1000 + i;
  Write(texels);
  std::vector<uint32_t> back(24);
  EXPECT_SUCCESS(hetgpuTextureRead(texture_, back.data(), 96));
  EXPECT_EQ(back, texels);
  std::vector<Point4> points;
  for (int i = 0; i < 24; ++i) {
    points.push_back({i % 2 + 0.5f, i / 2 % 3 + 0.5f, i / 6 + 0.5f, 0});
  }
  EXPECT_EQ(Sample<uint32_t>("sample_3d", points), texels);
}

TEST_P(TextureSuite, MemoryIsFetchedByNumber) {
  std::vector<int32_t> texels(40);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = 3 * i;
  texels.resize(256);
  hetgpuTextureDesc desc = Desc(HETGPU_TYPE_S32, 1, {40});
  const hetgpuDevicePtr room = Upload(std::vector<int32_t>(512));
  desc.memory = (room + 511) / 512 * 512;
  ASSERT_SUCCESS(
      hetgpuMemCopyHtoD(context_, desc.memory, texels.data(), 160));
  if (!Create(desc)) return;
  uint64_t handle = 0;
  EXPECT_SUCCESS(hetgpuTextureGetHandle(texture_, &handle));
  const hetgpuDevicePtr out = Zeroes(40);
  EXPECT_SUCCESS(Run(Function("textures", "fetch"), {{1, 1, 1}, {64, 1, 1}}, handle, out,
                     uint32_t{40}));
  const auto got = Download<int32_t>(out, 40);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(got[i], 3 * (39 - i)) << i;
}

TEST_P(TextureSuite, NeighboursOfKernelsThatSampleRun) {
  const hetgpuDevicePtr out = Zeroes(4);
  EXPECT_SUCCESS(
      Run(Function("textures", "untextured"), {{1, 1, 1}, {4, 1, 1}}, out));
  EXPECT_EQ(Download<int32_t>(out, 4), (std::vector<int32_t>(4, 7)));
}

HETGPU_CONFORMANCE(TextureSuite);

}  // namespace
}  // namespace hetgpu::conformance
