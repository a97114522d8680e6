#include "hetir/container/container.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu {
namespace {

using testing::HasSubstr;

ModuleInfo Sample() {
  ModuleInfo info;
  info.name = "sample.ptx";
  info.ptx_version = 90;
  info.target = "sm_80";
  info.data_size = 32;
  info.data_align = 8;
  info.data_init = std::string("\1\0\2", 3);
  KernelInfo kernel;
  kernel.name = "k";
  kernel.param_bytes = 16;
  kernel.params.push_back(
      {"out", 0, 8, 8, ScalarType::kU64, false, true});
  kernel.params.push_back({"n", 8, 4, 4, ScalarType::kF32, false, false});
  kernel.static_shared_bytes = 100;
  kernel.dynamic_shared_offset = 112;
  kernel.uses_dynamic_shared = true;
  kernel.local_bytes = 24;
  kernel.max_threads[0] = 256;
  kernel.required_threads[2] = 3;
  kernel.line = 17;
  kernel.access = {true, {{0, false, true}, {8, true, false}}, true, false};
  info.kernels.push_back(kernel);
  kernel.name = "refused";
  kernel.refusal = absl::UnimplementedError("sample.ptx:9:3: no");
  info.kernels.push_back(kernel);
  info.symbols.push_back(
      {"table", AddressSpace::kConst, 8, 16, 8, ScalarType::kF64});
  info.relocations.push_back({8, Relocation::Kind::kData, 24, ""});
  info.relocations.push_back({16, Relocation::Kind::kFunction, 2, "f"});
  return info;
}

SourceMap SampleMap() {
  return {{"a.cu", "b.cuh"}, {{20, 0, 3, 1}, {21, 1, 7, 5}}};
}

std::string SampleBytes() {
  return WriteContainer(Sample(), SampleMap(), "ML\xefRbytecode");
}

TEST(ContainerTest, ReadsBackWhatWasWritten) {
  std::string bytes = SampleBytes();
  EXPECT_TRUE(IsContainer(bytes));
  auto container = ReadContainer(bytes, "s.hetir");
  ASSERT_TRUE(container.ok()) << container.status();
  EXPECT_EQ(container->bytecode, "ML\xefRbytecode");
  EXPECT_EQ(container->source_map.files, SampleMap().files);
  EXPECT_EQ(container->source_map.entries, SampleMap().entries);
  const ModuleInfo& info = container->info;
  EXPECT_EQ(info.name, "sample.ptx");
  EXPECT_EQ(info.target, "sm_80");
  EXPECT_EQ(info.data_init, Sample().data_init);
  EXPECT_EQ(info.data_size, 32u);
  ASSERT_EQ(info.kernels.size(), 2u);
  const KernelInfo& kernel = info.kernels[0];
  EXPECT_EQ(kernel.name, "k");
  EXPECT_EQ(kernel.dynamic_shared_offset, 112u);
  EXPECT_TRUE(kernel.uses_dynamic_shared);
  EXPECT_EQ(kernel.local_bytes, 24u);
  EXPECT_EQ(kernel.max_threads[0], 256u);
  EXPECT_EQ(kernel.required_threads[2], 3u);
  EXPECT_EQ(kernel.line, 17u);
  EXPECT_TRUE(kernel.access.is_known);
  EXPECT_TRUE(kernel.access.reads_unknown);
  EXPECT_FALSE(kernel.access.writes_unknown);
  ASSERT_EQ(kernel.access.pointers.size(), 2u);
  EXPECT_TRUE(kernel.access.pointers[0].writes);
  EXPECT_EQ(kernel.access.pointers[1].offset, 8u);
  EXPECT_FALSE(kernel.access.pointers[1].writes);
  EXPECT_TRUE(kernel.refusal.ok());
  ASSERT_EQ(kernel.params.size(), 2u);
  EXPECT_TRUE(kernel.params[0].is_pointer);
  EXPECT_EQ(kernel.params[1].offset, 8u);
  EXPECT_EQ(kernel.params[1].type, ScalarType::kF32);
  EXPECT_EQ(info.kernels[1].refusal,
            absl::UnimplementedError("sample.ptx:9:3: no"));
  ASSERT_EQ(info.symbols.size(), 1u);
  EXPECT_EQ(info.symbols[0].space, AddressSpace::kConst);
  ASSERT_EQ(info.relocations.size(), 2u);
  EXPECT_EQ(info.relocations[1].kind, Relocation::Kind::kFunction);
  EXPECT_EQ(info.relocations[1].addend, 2);
  EXPECT_EQ(info.relocations[1].function, "f");
}

TEST(ContainerTest, TheSameModuleGivesTheSameBytes) {
  EXPECT_EQ(SampleBytes(), SampleBytes());
}

TEST(ContainerTest, UnknownMajorVersionsAreRefused) {
  std::string bytes = SampleBytes();
  bytes[8] = 2;
  absl::Status status = ReadContainer(bytes, "s").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("container format 2.0, this build reads 1.x"));
  bytes = SampleBytes();
  bytes[12] = 7;
  EXPECT_THAT(std::string(ReadContainer(bytes, "s").status().message()),
              HasSubstr("hetIR version 7.0"));
}

TEST(ContainerTest, OtherMinorVersionsLoad) {
  std::string bytes = SampleBytes();
  bytes[10] = 9;
  bytes[14] = 9;
  EXPECT_TRUE(ReadContainer(bytes, "s").ok());
}

TEST(ContainerTest, EveryCutIsNoticed) {
  std::string bytes = SampleBytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ReadContainer(bytes.substr(0, size), "s").ok()) << size;
  }
}

TEST(ContainerTest, EveryChangedBitBehindTheVersionsIsNoticed) {
  const std::string bytes = SampleBytes();
  for (size_t i = 16; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] ^= 0x10;
    EXPECT_FALSE(ReadContainer(changed, "s").ok()) << i;
  }
}

TEST(ContainerTest, ContradictionsAreRefused) {
  auto message = [](ModuleInfo info) {
    std::string bytes = WriteContainer(info, {}, "");
    return std::string(ReadContainer(bytes, "s").status().message());
  };
  ModuleInfo info = Sample();
  info.kernels[0].params[1].offset = 13;
  EXPECT_THAT(message(info), HasSubstr("parameter 'n' does not fit"));
  info = Sample();
  info.symbols[0].size = ~uint64_t{0} - 4;
  EXPECT_THAT(message(info), HasSubstr("symbol 'table' does not fit"));
  info = Sample();
  info.relocations[0].offset = 25;
  EXPECT_THAT(message(info), HasSubstr("a relocation does not fit"));
  info = Sample();
  info.data_align = 3;
  EXPECT_THAT(message(info), HasSubstr("alignment of the module's data"));
  info = Sample();
  info.data_size = 2;
  EXPECT_THAT(message(info), HasSubstr("size or alignment"));
  info = Sample();
  info.kernels[0].dynamic_shared_offset = 99;
  EXPECT_THAT(message(info), HasSubstr("begins inside the static part"));
}

}  // namespace
}  // namespace hetgpu
