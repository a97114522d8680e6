#include "runtime/jit.h"

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "hetir/container/container.h"
#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

class JitTest : public testing::Test {
 protected:
  JitTest() {
    environment_.cache_dir = FreshFolder();
    environment_.compiler_library = HETGPU_FAKE_COMPILER;
    source_.bytes = "text";
    source_.digest = DigestOf(source_.bytes);
    source_.info = FakeModule();
    device_.backend = std::string("fake");
    device_.target = std::string("t");
  }

  const KernelInfo& Kernel(const char* name) {
    return *source_.info.FindKernel(name);
  }

  Environment environment_;
  ModuleSource source_;
  DeviceInfo device_;
};

TEST_F(JitTest, CompilesOnceThenServesFromMemoryThenFromDisk) {
  const uint64_t compiles = CounterValue(HETGPU_COUNTER_COMPILES);
  const uint64_t memory = CounterValue(HETGPU_COUNTER_CACHE_MEMORY_HITS);
  const uint64_t disk = CounterValue(HETGPU_COUNTER_CACHE_DISK_HITS);
  Jit jit(environment_);
  EXPECT_EQ(**jit.Get(source_, Kernel("store"), device_), "image of store");
  EXPECT_EQ(**jit.Get(source_, Kernel("store"), device_), "image of store");
  Jit next_process(environment_);
  EXPECT_EQ(**next_process.Get(source_, Kernel("store"), device_),
            "image of store");
  EXPECT_EQ(CounterValue(HETGPU_COUNTER_COMPILES), compiles + 1);
  EXPECT_EQ(CounterValue(HETGPU_COUNTER_CACHE_MEMORY_HITS), memory + 1);
  EXPECT_EQ(CounterValue(HETGPU_COUNTER_CACHE_DISK_HITS), disk + 1);
}

TEST_F(JitTest, WarmStartDoesNotOpenTheCompiler) {
  // A file that is no library stands for the compiler: its image is served as
  // long as nothing tries to open it.
  const std::string library = environment_.cache_dir + "/not-a-library";
  std::ofstream(library) << "x";
  environment_.compiler_library = library;
  Jit jit(environment_);
  JitCache(environment_.cache_dir, environment_.cache_bytes)
      .Store(jit.KeyOf(source_, Kernel("store"), device_), "stored image");
  EXPECT_EQ(**jit.Get(source_, Kernel("store"), device_), "stored image");
  EXPECT_EQ(ResultOf(jit.Get(source_, Kernel("slow"), device_).status()),
            HETGPU_ERROR_COMPILER_UNAVAILABLE);
}

TEST_F(JitTest, WhatIsKnownOfLargeModulesIsKept) {
  const std::string small(100, ' '), large(100000, ' ');
  Jit jit(environment_);
  const auto fresh = jit.InfoOf(large, DigestOf(large), "a.ptx");
  ASSERT_TRUE(fresh.ok()) << fresh.status();
  ASSERT_TRUE(jit.InfoOf(small, DigestOf(small), "a.ptx").ok());
  EXPECT_EQ(jit.disk().Measure().entries, 1u);
  Jit next_process(environment_);
  const auto kept = next_process.InfoOf(large, DigestOf(large), "a.ptx");
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ(WriteContainer(*kept, {}, ""), WriteContainer(*fresh, {}, ""));
  EXPECT_EQ(jit.disk().Measure().entries, 1u);
  // Messages name the file.
  ASSERT_TRUE(jit.InfoOf(large, DigestOf(large), "b.ptx").ok());
  EXPECT_EQ(jit.disk().Measure().entries, 2u);
}

TEST_F(JitTest, ThreadsShareOneCompilation) {
  Jit jit(environment_);
  const uint64_t compiles = CounterValue(HETGPU_COUNTER_COMPILES);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back(
        [&] { EXPECT_TRUE(jit.Get(source_, Kernel("slow"), device_).ok()); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(CounterValue(HETGPU_COUNTER_COMPILES), compiles + 1);
}

TEST_F(JitTest, FailureIsNotRemembered) {
  Jit jit(environment_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ResultOf(jit.Get(source_, Kernel("broken"), device_).status()),
              HETGPU_ERROR_COMPILE_FAILED);
  }
  EXPECT_TRUE(jit.Get(source_, Kernel("store"), device_).ok());
}

TEST_F(JitTest, KeyDependsOnEverythingThatShapesTheImage) {
  const Digest base =
      Jit(environment_).KeyOf(source_, Kernel("store"), device_);
  EXPECT_EQ(base, Jit(environment_).KeyOf(source_, Kernel("store"), device_));
  EXPECT_NE(base, Jit(environment_).KeyOf(source_, Kernel("slow"), device_));
  const auto key_with = [&](auto&& change) {
    Environment environment = environment_;
    ModuleSource source = source_;
    DeviceInfo device = device_;
    change(environment, source, device);
    return Jit(environment).KeyOf(source, Kernel("store"), device);
  };
  using E = Environment;
  using S = ModuleSource;
  using D = DeviceInfo;
  EXPECT_NE(base, key_with([](E& e, S&, D&) { e.fp_mode = "strict"; }));
  EXPECT_NE(base, key_with([](E& e, S&, D&) { e.cpu_mode = "fiber"; }));
  EXPECT_NE(base, key_with([](E& e, S&, D&) {
              e.compiler_library = HETGPU_OLD_COMPILER;
            }));
  EXPECT_NE(base, key_with([](E&, S& s, D&) { s.digest = DigestOf("u"); }));
  EXPECT_NE(base, key_with([](E&, S&, D& d) { d.backend = "other"; }));
  EXPECT_NE(base, key_with([](E&, S&, D& d) { d.target = "u"; }));
  EXPECT_EQ(base, key_with([](E&, S& s, D&) { s.name = "renamed.ptx"; }));
  EXPECT_EQ(base, key_with([](E&, S&, D& d) { d.name = "renamed"; }));
}

}  // namespace
}  // namespace hetgpu::runtime
