// The output of nvcc, whole files: nothing refused, and every written operand
// typed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "frontend/ptx/dump.h"
#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"
#include "frontend/ptx/test_util.h"

namespace hetgpu::ptx {
namespace {

std::string Read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::filesystem::path> Files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"/tests/ptx", "/examples"}) {
    std::filesystem::path path = std::string(HETGPU_SOURCE_DIR) + folder;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".ptx") files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class NvccTest : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(NvccTest, IsAccepted) {
  std::string text = Read(GetParam());
  auto module = Parse(text, GetParam().filename().string());
  ASSERT_TRUE(module.ok()) << module.status();
  size_t kernels = 0;
  for (const Function& function : (*module)->functions) {
    EXPECT_TRUE(function.refusal.ok()) << function.refusal;
    kernels += function.is_entry;
    if (function.body == nullptr) continue;
    EXPECT_FALSE(function.body->instructions.empty()) << function.name;
    for (const Instruction& instruction : function.body->instructions) {
      for (const Operand& operand : function.body->Operands(instruction)) {
        bool typed = operand.kind != OperandKind::kRegister ||
                     operand.type != Type::kNone;
        EXPECT_TRUE(typed) << DumpInstruction(**module, function, instruction);
      }
    }
  }
  EXPECT_GT(kernels, 0u);
  auto info = BuildModuleInfo(**module);
  ASSERT_TRUE(info.ok()) << info.status();
  EXPECT_EQ(info->kernels.size(), kernels);
  for (const KernelInfo& kernel : info->kernels) {
    EXPECT_TRUE(kernel.refusal.ok()) << kernel.refusal;
  }
}

// A function of the text cut anywhere is refused, and never with a crash.
TEST_P(NvccTest, CutShortIsRefused) {
  std::string text = Read(GetParam());
  size_t last = text.rfind('}');
  ASSERT_NE(last, std::string::npos);
  for (size_t i = 1; i <= 20; ++i) {
    std::string_view part = std::string_view(text).substr(0, last * i / 21);
    auto module = Parse(part, "cut.ptx");
    if (module.ok()) continue;  // cut between two functions
    std::string message(module.status().message());
    EXPECT_EQ(message.rfind("cut.ptx:", 0), 0u) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, NvccTest, testing::ValuesIn(Files()),
                         [](const auto& info) {
                           std::string name = info.param.stem().string();
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_" + std::to_string(info.index);
                         });

TEST(NvccTest, ModuleInfoOfStructParameters) {
  auto module = Parse(Read(HETGPU_SOURCE_DIR "/tests/ptx/calls.ptx"), "calls");
  ASSERT_TRUE(module.ok()) << module.status();
  auto info = BuildModuleInfo(**module);
  ASSERT_TRUE(info.ok()) << info.status();
  const KernelInfo* kernel =
      info->FindKernel("_Z10Parameters3Bigcsb6float4xPi");
  ASSERT_NE(kernel, nullptr);
  ASSERT_EQ(kernel->params.size(), 7u);
  EXPECT_TRUE(kernel->params[0].is_array);
  EXPECT_EQ(kernel->params[0].size, 88u);
  EXPECT_EQ(kernel->params[4].size, 16u);
  EXPECT_EQ(kernel->params[4].offset % 16, 0u);
  EXPECT_TRUE(kernel->params[6].is_pointer);
  const KernelInfo* limited = info->FindKernel("_Z6SwitchiPi");
  ASSERT_NE(limited, nullptr);
  EXPECT_EQ(limited->max_threads[0], 256u);
}

TEST(NvccTest, ModuleInfoOfData) {
  auto module = Parse(Read(HETGPU_SOURCE_DIR "/tests/ptx/memory.ptx"), "m");
  ASSERT_TRUE(module.ok()) << module.status();
  auto info = BuildModuleInfo(**module);
  ASSERT_TRUE(info.ok()) << info.status();
  const SymbolInfo* counters = info->FindSymbol("counters");
  const SymbolInfo* middle = info->FindSymbol("middle");
  ASSERT_NE(counters, nullptr);
  ASSERT_NE(middle, nullptr);
  EXPECT_EQ(counters->size, 20u);
  EXPECT_EQ(info->data_init[counters->offset + 4], 2);
  bool found = false;
  for (const Relocation& relocation : info->relocations) {
    if (relocation.offset != middle->offset) continue;
    found = true;
    EXPECT_EQ(relocation.addend, static_cast<int64_t>(counters->offset) + 8);
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(info->FindSymbol("kTable")->space, AddressSpace::kConst);
  const KernelInfo* spaces = info->FindKernel("_Z6SpacesiPfPi");
  ASSERT_NE(spaces, nullptr);
  EXPECT_TRUE(spaces->uses_dynamic_shared);
  EXPECT_EQ(spaces->static_shared_bytes, 32u * 33 * 4 + 64);
  EXPECT_EQ(spaces->local_bytes, 128u);
}

}  // namespace
}  // namespace hetgpu::ptx
