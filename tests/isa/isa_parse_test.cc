// The PTX front end takes every recorded module: ptxas did.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "frontend/ptx/parser.h"
#include "gtest/gtest.h"
#include "tests/isa/run_file.h"

namespace hetgpu::isa {
namespace {

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(IsaParse, EveryModuleParses) {
  const std::string folder = HETGPU_SOURCE_DIR "/tests/isa/forms";
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".isa") continue;
    std::string path = entry.path().string();
    absl::StatusOr<RunFile> run = ParseRunFile(ReadText(path), path);
    ASSERT_TRUE(run.ok()) << run.status();
    absl::StatusOr<std::unique_ptr<ptx::Module>> module =
        ptx::Parse(run->ptx, entry.path().filename().string());
    ++files;
    if (!module.ok()) {
      ADD_FAILURE() << module.status().message();
      continue;
    }
    for (const ptx::Function& function : (*module)->functions) {
      EXPECT_TRUE(function.refusal.ok()) << function.refusal.message();
    }
  }
  EXPECT_GE(files, 2500);
}

}  // namespace
}  // namespace hetgpu::isa
