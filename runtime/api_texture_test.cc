// Textures through the C API.
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

class TextureTest : public FakeTest {
 protected:
  static hetgpuTextureDesc Good() {
    hetgpuTextureDesc desc = {};
    desc.struct_size = sizeof(desc);
    desc.type = HETGPU_TYPE_F32;
    desc.channels = 2;
    desc.dimensions = 2;
    desc.width = 4;
    desc.height = 3;
    return desc;
  }

  // Spoils a good description and expects a refusal that names `what`.
  template <typename Spoil>
  void ExpectRefused(Spoil&& spoil, const char* what) {
    hetgpuTextureDesc desc = Good();
    spoil(desc);
    hetgpuTexture texture = nullptr;
    EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                  hetgpuTextureCreate(context_, &desc, &texture));
    EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr(what));
    EXPECT_EQ(texture, nullptr);
  }
};

TEST_F(TextureTest, TexelsComeBack) {
  const hetgpuTextureDesc desc = Good();
  hetgpuTexture texture;
  ASSERT_SUCCESS(hetgpuTextureCreate(context_, &desc, &texture));
  std::vector<float> texels(24, 1.5f), back(24);
  EXPECT_SUCCESS(hetgpuTextureWrite(texture, texels.data(), 96));
  EXPECT_SUCCESS(hetgpuTextureRead(texture, back.data(), 96));
  EXPECT_EQ(texels, back);
  uint64_t handle = 0;
  EXPECT_SUCCESS(hetgpuTextureGetHandle(texture, &handle));
  EXPECT_NE(handle, 0u);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuTextureWrite(texture, texels.data(), 95));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuTextureWrite(texture, nullptr, 96));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuTextureGetHandle(texture, nullptr));
  EXPECT_SUCCESS(hetgpuTextureDestroy(texture));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuTextureDestroy(texture));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuTextureRead(texture, back.data(), 96));
}

TEST_F(TextureTest, EndsWithItsContext) {
  hetgpuContext other;
  ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &other));
  const hetgpuTextureDesc desc = Good();
  hetgpuTexture texture;
  ASSERT_SUCCESS(hetgpuTextureCreate(other, &desc, &texture));
  ASSERT_SUCCESS(hetgpuContextDestroy(other));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuTextureDestroy(texture));
}

TEST_F(TextureTest, MemoryMustLieInAnAllocation) {
  hetgpuTextureDesc desc = Good();
  desc.pitch = 64;
  desc.memory = (Alloc(2048) + 511) / 512 * 512;
  hetgpuTexture texture;
  ASSERT_SUCCESS(hetgpuTextureCreate(context_, &desc, &texture));
  float texels[24] = {};
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuTextureWrite(texture, texels, sizeof(texels)));
  EXPECT_SUCCESS(hetgpuTextureDestroy(texture));
  desc.memory = 512;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuTextureCreate(context_, &desc, &texture));
}

TEST_F(TextureTest, EachFieldIsChecked) {
  using Desc = hetgpuTextureDesc;
  ExpectRefused([](Desc& d) { d.struct_size = 0; }, "struct_size");
  ExpectRefused([](Desc& d) { d.type = HETGPU_TYPE_F64; }, "type f64");
  ExpectRefused([](Desc& d) { d.type = HETGPU_TYPE_U64; }, "type u64");
  ExpectRefused([](Desc& d) { d.channels = 3; }, "3 channels");
  ExpectRefused([](Desc& d) { d.dimensions = 4; }, "4 dimensions");
  ExpectRefused([](Desc& d) { d.width = 0; }, "width 0");
  ExpectRefused([](Desc& d) { d.height = uint64_t{1} << 40; }, "height");
  ExpectRefused([](Desc& d) { d.depth = 1; }, "depth 1");
  ExpectRefused([](Desc& d) { d.pitch = 64; }, "pitch 64");
  ExpectRefused([](Desc& d) { d.memory = 256; }, "memory 0x100");
  ExpectRefused(
      [](Desc& d) {
        d.memory = 512;
        d.pitch = 16;
      },
      "pitch 16");
  ExpectRefused(
      [](Desc& d) {
        d.memory = 512;
        d.dimensions = 3;
        d.depth = 1;
      },
      "memory with 3");
  ExpectRefused([](Desc& d) { d.normalized_values = 1; }, "normalized_values");
  ExpectRefused([](Desc& d) { d.normalized_coordinates = 2; },
                "normalized_coordinates");
  ExpectRefused(
      [](Desc& d) { d.filter = static_cast<hetgpuTextureFilter>(2); },
      "filter 2");
  ExpectRefused(
      [](Desc& d) {
        d.address_mode[1] = static_cast<hetgpuTextureAddressMode>(9);
      },
      "address mode 9");
  ExpectRefused(
      [](Desc& d) {
        d.type = HETGPU_TYPE_S16;
        d.filter = HETGPU_TEXTURE_FILTER_LINEAR;
      },
      "linear filter");
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuTextureCreate(context_, nullptr, nullptr));
}

}  // namespace
}  // namespace hetgpu::runtime
