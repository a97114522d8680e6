// Every PTX text of the tree lowers, or is refused by name.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ptx/lowering/testing.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::ptx {
namespace {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::vector<fs::path> FilesBelow(const fs::path& folder,
                                 std::string_view extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The text between the lines `ptx` and `end` of a run-file.
std::string PtxOfRunFile(const std::string& text) {
  size_t begin = text.find("\nptx\n");
  size_t end = text.find("\nend\n", begin);
  return text.substr(begin + 5, end - begin - 4);
}

TEST(LoweringTest, EveryExampleLowers) {
  auto files = FilesBelow(HETGPU_SOURCE_DIR "/examples", ".ptx");
  EXPECT_GE(files.size(), 29u);
  for (const fs::path& path : files) {
    absl::Status status = LowerText(ReadFile(path), path.filename().string());
    EXPECT_TRUE(status.ok()) << status;
  }
}

// Instructions of the run-files that have no row, or a form without one. When
// one gains its row, the test asks to remove it here.
constexpr std::string_view kRefused[] = {
    "barrier.cluster.",
};

TEST(LoweringTest, EveryRunFileLowersOrIsRefusedByName) {
  auto files = FilesBelow(HETGPU_SOURCE_DIR "/tests/isa/forms", ".isa");
  EXPECT_GE(files.size(), 2000u);
  std::vector<bool> refused(std::size(kRefused), false);
  for (const fs::path& path : files) {
    std::string name = path.filename().string();
    absl::Status status = LowerText(PtxOfRunFile(ReadFile(path)), name);
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    std::string message(status.message());
    bool known = false;
    for (size_t i = 0; i < std::size(kRefused); ++i) {
      std::string start = "'" + std::string(kRefused[i]);
      if (message.find("unsupported instruction " + start) ==
          std::string::npos) {
        continue;
      }
      known = refused[i] = true;
    }
    EXPECT_TRUE(known) << status;
  }
  for (size_t i = 0; i < std::size(kRefused); ++i) {
    EXPECT_TRUE(refused[i]) << kRefused[i] << " lowers now";
  }
}

// A long chain of diamonds under a loop: deep recursion or work that grows
// with the square of the size would show.
TEST(LoweringTest, LargeKernelsTakeLinearTime) {
  std::string text =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{\n"
      ".reg .pred %p<3>; .reg .b32 %r<400>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [out];\nagain:\n";
  for (int i = 0; i < 8000; ++i) {
    std::string n = std::to_string(i);
    std::string a = "%r" + std::to_string(i % 400);
    std::string b = "%r" + std::to_string((i * 7 + 1) % 400);
    text += "setp.lt.u32 %p1, " + a + ", " + b + ";\n@%p1 bra skip" + n +
            ";\nadd.u32 " + a + ", " + b + ", " + n + ";\nmad.lo.u32 " + b +
            ", " + a + ", 3, " + b + ";\nxor.b32 " + a + ", " + a + ", " + b +
            ";\nskip" + n + ":\n";
  }
  text +=
      "setp.ne.u32 %p2, %r1, %r2;\n@%p2 bra again;\n"
      "st.global.u32 [%rd1], %r3;\nret;\n}\n";
  auto start = std::chrono::steady_clock::now();
  absl::Status status = LowerText(text, "large.ptx");
  EXPECT_TRUE(status.ok()) << status;
  // About 0.3 s on one core; quadratic work takes minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start,
            std::chrono::seconds(30));
}

}  // namespace
}  // namespace hetgpu::ptx
