// Texture objects: what the driver is asked for, and that it gets all back.
#include <vector>

#include "backends/cuda/test_device.h"

namespace hetgpu::cuda {
namespace {

using TextureTest = CudaTest;

TextureDesc Desc(uint32_t dimensions) {
  TextureDesc desc;
  desc.type = ScalarType::kF16;
  desc.channels = 4;
  desc.dimensions = dimensions;
  desc.width = 5;
  desc.height = dimensions >= 2 ? 3 : 1;
  desc.depth = dimensions >= 3 ? 2 : 1;
  return desc;
}

TEST_F(TextureTest, TexelsComeBackInEachDimension) {
  for (uint32_t dimensions = 1; dimensions <= 3; ++dimensions) {
    const TextureDesc desc = Desc(dimensions);
    auto texture = device_->CreateTexture(desc);
    ASSERT_TRUE(texture.ok()) << texture.status();
    std::vector<char> texels(desc.Bytes()), back(desc.Bytes());
    for (size_t i = 0; i < texels.size(); ++i) texels[i] = i * 7;
    EXPECT_OK((*texture)->Write(texels.data()));
    EXPECT_OK((*texture)->Read(back.data()));
    EXPECT_EQ(texels, back);
    EXPECT_NE((*texture)->handle(), 0u);
  }
  EXPECT_EQ(DriverCounts().textures, 0u);
}

TEST_F(TextureTest, MemoryIsLookedAtWhereItLies) {
  TextureDesc desc = Desc(1);
  desc.memory = Alloc(desc.Bytes());
  auto linear = device_->CreateTexture(desc);
  EXPECT_OK(linear.status());
  desc = Desc(2);
  desc.pitch = 512;
  desc.memory = Alloc(desc.pitch * desc.height);
  auto pitched = device_->CreateTexture(desc);
  EXPECT_OK(pitched.status());
  EXPECT_EQ(DriverCounts().textures, 2u);
}

TEST_F(TextureTest, AFailedObjectLeavesNoArrayBehind) {
  FailCall("cuTexObjectCreate", CUDA_ERROR_OUT_OF_MEMORY);
  const auto texture = device_->CreateTexture(Desc(2));
  EXPECT_EQ(texture.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(DriverCounts().textures, 0u);
}

}  // namespace
}  // namespace hetgpu::cuda
