#include "runtime/compiler_loader.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/error.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

absl::StatusOr<std::string> Compile(const std::string& library,
                                    const char* kernel) {
  CompilerLoader loader(library);
  CompileRequest request;
  request.kernel = kernel;
  return loader.Compile(request);
}

void ExpectUnavailable(const std::string& library, const char* text) {
  const absl::Status status = Compile(library, "k").status();
  EXPECT_EQ(ResultOf(status), HETGPU_ERROR_COMPILER_UNAVAILABLE);
  EXPECT_THAT(std::string(status.message()), HasSubstr(text));
}

TEST(CompilerLoaderTest, Compiles) {
  EXPECT_EQ(*Compile(HETGPU_FAKE_COMPILER, "k"), "image of k");
}

TEST(CompilerLoaderTest, MissingLibraryIsNamed) {
  ExpectUnavailable("/nowhere/libx.so", "/nowhere/libx.so");
  ExpectUnavailable("/nowhere/libx.so", "HETGPU_COMPILER_LIBRARY");
}

TEST(CompilerLoaderTest, OtherLibraryIsRefused) {
  ExpectUnavailable("libm.so.6", "no function hetgpuGetCompilerApi");
}

TEST(CompilerLoaderTest, OtherInterfaceIsRefused) {
  ExpectUnavailable(HETGPU_OLD_COMPILER, "interface 999, expected 1");
}

TEST(CompilerLoaderTest, FailuresNameTheKernel) {
  const absl::Status broken = Compile(HETGPU_FAKE_COMPILER, "broken").status();
  EXPECT_EQ(ResultOf(broken), HETGPU_ERROR_COMPILE_FAILED);
  EXPECT_EQ(ToStd(broken.message()),
            "kernel broken: fake.ptx:3:1: broken on purpose");
  EXPECT_EQ(ResultOf(Compile(HETGPU_FAKE_COMPILER, "unsupported").status()),
            HETGPU_ERROR_UNSUPPORTED);
}

TEST(CompilerLoaderTest, BuildIdTellsLibrariesApart) {
  const std::string fake = CompilerLoader(HETGPU_FAKE_COMPILER).BuildId();
  EXPECT_NE(fake, CompilerLoader(HETGPU_OLD_COMPILER).BuildId());
  EXPECT_EQ(fake, CompilerLoader(HETGPU_FAKE_COMPILER).BuildId());
  EXPECT_EQ(CompilerLoader("/nowhere/libx.so").BuildId(), "absent");
}

}  // namespace
}  // namespace hetgpu::runtime
