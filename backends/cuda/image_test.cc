// The header of images.
#include "backends/cuda/image.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::cuda {
namespace {

using testing::HasSubstr;

std::string Refusal(std::string_view image) {
  return std::string(ParseHeader(image).status().message());
}

TEST(ImageTest, HeaderSurvives) {
  ImageHeader header;
  header.entry = "kernel";
  header.const_copies = {{"hetgpu_const_0", 0, 64}, {"hetgpu_const_80", 80, 4}};
  header.why = "HETGPU_FP_MODE is strict";
  const auto read = ParseHeader(FormatHeader(header) + "//\n.version 8.3\n");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->entry, "kernel");
  EXPECT_EQ(read->why, header.why);
  ASSERT_EQ(read->const_copies.size(), 2u);
  EXPECT_EQ(read->const_copies[1].symbol, "hetgpu_const_80");
  EXPECT_EQ(read->const_copies[1].offset, 80u);
  EXPECT_EQ(read->const_copies[1].bytes, 4u);
}

TEST(ImageTest, WhatIsNoImageIsRefused) {
  EXPECT_THAT(Refusal(""), HasSubstr("expected one that begins"));
  EXPECT_THAT(Refusal(".version 8.3\n"), HasSubstr("expected one that begins"));
  EXPECT_THAT(Refusal("// hetgpu cuda image 2\n// entry k\n"),
              HasSubstr("expected one that begins"));
  EXPECT_THAT(Refusal("// hetgpu cuda image 1\n// why -\n"),
              HasSubstr("names no entry"));
  EXPECT_THAT(Refusal("// hetgpu cuda image 1\n// color red\n"),
              HasSubstr("unknown line \"color\""));
  EXPECT_THAT(Refusal("// hetgpu cuda image 1\n// const a 4 x\n"),
              HasSubstr("expected a symbol, an offset and a size"));
}

TEST(ImageTest, SeveralBecomeOnePtx) {
  const std::string top = ".version 8.3\n.target sm_90\n.address_size 64\n";
  const std::string a = "// hetgpu cuda image 1\n//\n\n" + top + "\na {}\n";
  const std::string b = "// hetgpu cuda image 1\n" + top + "b {}\n";
  EXPECT_EQ(*JoinPtx({a, b}), top + "\na {}\nb {}\n");
  const std::string other =
      "//\n.version 8.3\n.target sm_80\n.address_size 64\nc {}\n";
  EXPECT_THAT(std::string(JoinPtx({a, other}).status().message()),
              HasSubstr("directives differ"));
  EXPECT_THAT(
      std::string(JoinPtx({"// no\n.target sm_80\n"}).status().message()),
      HasSubstr("expected directives from .version"));
}

}  // namespace
}  // namespace hetgpu::cuda
