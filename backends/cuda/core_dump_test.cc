// Where kernels failed, by core dumps: one recorded on an H200 and those of the
// test driver.
#include "backends/cuda/core_dump.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "backends/cuda/device.h"
#include "backends/cuda/line_table.h"
#include "backends/cuda/test_device.h"

namespace hetgpu::cuda {
namespace {

using testing::HasSubstr;
using testing::Not;

// Line 10 traps in thread 5 of block 2, line 14 stores where nothing is.
constexpr char kPtx[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry fail(.param .u32 trap) {
  .reg .b32 %r<4>; .reg .b64 %d; .reg .pred %p<3>;
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; ld.param.u32 %r3, [trap];
  setp.ne.u32 %p1, %r1, 2; @%p1 ret;
  setp.ne.u32 %p2, %r2, 5; @%p2 ret;
  setp.eq.u32 %p1, %r3, 0; @%p1 bra store;
  trap;
  ret;
store:
  mov.u64 %d, 16;
  st.global.u32 [%d], %r1;
  ret;
}
)";

std::string Recorded() {
  std::ifstream file(std::string(HETGPU_SOURCE_DIR) +
                         "/backends/cuda/testdata/trap.core",
                     std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void ExpectThread(const Dim3& at, uint32_t x) {
  EXPECT_EQ(at.x, x);
  EXPECT_EQ(at.y, 0u);
  EXPECT_EQ(at.z, 0u);
}

TEST(CoreDumpTest, FindsTheThreadThatTrappedOnACard) {
  const std::string dump = Recorded();
  const absl::StatusOr<FaultSite> site = FindFault(dump);
  ASSERT_TRUE(site.ok()) << site.status().message();
  EXPECT_EQ(site->kernel, "trapped");
  EXPECT_TRUE(site->has_thread);
  ExpectThread(site->block, 2);
  ExpectThread(site->thread, 13);
  EXPECT_EQ(site->line, 34u);
}

TEST(CoreDumpTest, RefusesWhatIsNoDump) {
  EXPECT_TRUE(absl::IsInvalidArgument(FindFault("").status()));
  EXPECT_TRUE(absl::IsInvalidArgument(FindFault("a text").status()));
  std::string dump = Recorded();
  dump.resize(dump.size() / 2);  // its section headers are last
  EXPECT_THAT(std::string(FindFault(dump).status().message()),
              HasSubstr("section headers"));
}

// Under the sanitizers this proves that nothing outside the file is read.
TEST(CoreDumpTest, SurvivesDamage) {
  const std::string whole = Recorded();
  int found = 0;
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string dump = whole;
    dump[at] = static_cast<char>(~dump[at]);
    found += FindFault(dump).ok();
  }
  EXPECT_GT(found, 0);
}

TEST(LineTableTest, KnowsNothingOfOtherVersionsAndAddresses) {
  EXPECT_EQ(LineOf("", 0), 0u);
  EXPECT_EQ(LineOf(std::string("\x04\0\0\0\x07\0\0\0", 8), 0), 0u);
  EXPECT_EQ(LineOf("\xff\xff\xff\xff\xff\xff\xff\xff", 0), 0u);
}

class CoreDumpDeviceTest : public CudaTest {
 protected:
  LaunchError Fail(const char* ptx, uint32_t trap) {
    ModuleInfo module;
    module.name = "fail.ptx";
    module.ptx_version = 70;
    auto loaded = device_->LoadModule(module, ptx);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    KernelInfo info;
    info.name = "fail";
    info.param_bytes = 4;
    auto kernel = (*loaded)->Load(info);
    EXPECT_TRUE(kernel.ok()) << kernel.status().message();
    auto queue = NewQueue();
    LaunchDesc desc;
    desc.kernel = kernel->get();
    desc.info = &info;
    desc.grid.x = 4;
    desc.block.x = 64;
    desc.params = Bytes(trap);
    EXPECT_OK(queue->Launch(desc));
    LaunchError error;
    EXPECT_TRUE(absl::IsAborted(queue->Synchronize(&error)));
    return error;
  }
};

TEST_F(CoreDumpDeviceTest, FailuresNameThreadAndLine) {
  const LaunchError error = Fail(kPtx, 1);
  EXPECT_EQ(error.kind, LaunchError::Kind::kTrap);
  EXPECT_EQ(error.kernel, "fail");
  ASSERT_TRUE(error.has_thread) << Describe(error);
  ExpectThread(error.block, 2);
  ExpectThread(error.thread, 5);
  EXPECT_EQ(error.line, 10u);
  EXPECT_THAT(Describe(error),
              HasSubstr("at block (2,0,0) thread (5,0,0), PTX line 10"));
}

TEST_F(CoreDumpDeviceTest, OfLongTextsToo) {
  const std::string ptx = std::string(5000, '\n') + kPtx;
  const LaunchError error = Fail(ptx.c_str(), 0);
  EXPECT_EQ(error.kind, LaunchError::Kind::kIllegalAddress);
  EXPECT_EQ(error.line, 5014u);
}

TEST_F(CoreDumpDeviceTest, SaysThatThereWasNone) {
  auto queue = NewQueue();
  FailCall("cuMemsetD32Async", CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_OK(Launch(*queue, "nothing"));
  EXPECT_OK(queue->Fill(Alloc(64), 0, 4, 1));
  LaunchError error;
  EXPECT_TRUE(absl::IsAborted(queue->Synchronize(&error)));
  EXPECT_FALSE(error.has_thread);
  EXPECT_THAT(error.detail, HasSubstr("the driver wrote no core dump"));
  EXPECT_THAT(std::string(device_->Lost().message()),
              Not(HasSubstr("core dump")));
}

TEST(EnableCoreDumpsTest, RefusesBadValuesAndOldDrivers) {
  setenv("HETGPU_CUDA_COREDUMP", "maybe", 1);
  const absl::Status bad = EnableCoreDumps(TestLibrary());
  setenv("HETGPU_CUDA_COREDUMP", "1", 1);
  EXPECT_TRUE(absl::IsInvalidArgument(bad));
  EXPECT_THAT(std::string(bad.message()),
              HasSubstr("HETGPU_CUDA_COREDUMP is \"maybe\", expected 0 or 1"));
  Library old = TestLibrary();
  old.CoredumpSetAttributeGlobal = nullptr;
  EXPECT_TRUE(absl::IsUnimplemented(EnableCoreDumps(old)));
}

}  // namespace
}  // namespace hetgpu::cuda

int main(int argc, char** argv) {
  setenv("HETGPU_CUDA_COREDUMP", "1", 1);  // before the library is opened
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
