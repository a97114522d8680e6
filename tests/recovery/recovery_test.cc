// What a program sees when its kernels fail on a GPU: the error, once; then the
// same handles on a device re-opened in another process, with all memory as it
// was.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hetgpu/hetgpu.h"
#include "runtime/testing/expect.h"

namespace hetgpu {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kLarge = (uint64_t{9} << 20) + 12;  // several pieces
const std::string kKernels = HETGPU_SOURCE_DIR "/tests/conformance/kernels/";

std::vector<uint32_t> Pattern(uint64_t bytes, uint32_t seed) {
  std::vector<uint32_t> words(bytes / 4);
  for (uint32_t& word : words) word = seed = seed * 1664525 + 1013904223;
  return words;
}

// A context with memory, a module, a stream and an event.
class Program {
 public:
  explicit Program(hetgpuDevice device) {
    EXPECT_SUCCESS(hetgpuContextCreate(device, 0, &context_));
    EXPECT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream_));
    EXPECT_SUCCESS(hetgpuModuleLoadFile(
        context_, (kKernels + "faults.ptx").c_str(), &faults_));
    EXPECT_SUCCESS(hetgpuModuleLoadFile(
        context_, (kKernels + "basic.ptx").c_str(), &basic_));
    small_ = Alloc(64);
    large_ = Alloc(kLarge);
    count_ = Alloc(4);
    Upload(small_, Pattern(64, 1));
    Upload(large_, Pattern(kLarge, 2));
  }
  ~Program() { EXPECT_SUCCESS(hetgpuContextDestroy(context_)); }

  hetgpuDevicePtr Alloc(uint64_t bytes) {
    hetgpuDevicePtr address = 0;
    EXPECT_SUCCESS(hetgpuMemAlloc(context_, bytes, &address));
    return address;
  }
  void Upload(hetgpuDevicePtr address, const std::vector<uint32_t>& words) {
    EXPECT_SUCCESS(hetgpuMemCopyHtoD(context_, address, words.data(),
                                     words.size() * 4));
  }
  std::vector<uint32_t> Download(hetgpuDevicePtr address, uint64_t bytes) {
    std::vector<uint32_t> words(bytes / 4);
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(context_, words.data(), address, bytes));
    return words;
  }
  template <typename... Args>
  hetgpuResult Launch(hetgpuModule module, const char* name, uint32_t threads,
                      Args... args) {
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(hetgpuModuleGetFunction(module, name, &function));
    void* pointers[] = {&args..., nullptr};
    return hetgpuLaunchKernel(function, {1, 1, 1}, {threads, 1, 1}, 0, stream_,
                              pointers);
  }
  // A kernel that fails, and what that is reported as.
  template <typename... Args>
  hetgpuResult Fail(const char* name, Args... args) {
    EXPECT_SUCCESS(Launch(faults_, name, 32, args...));
    return hetgpuStreamSynchronize(stream_);
  }
  hetgpuResult FailIllegal() {
    return Fail("write_at", hetgpuDevicePtr{16}, 0u, 1u);
  }
  // All memory as it was, and the old handles compute.
  void ExpectAllIsWell() {
    EXPECT_EQ(Download(small_, 64), Pattern(64, 1));
    EXPECT_EQ(Download(large_, kLarge), Pattern(kLarge, 2));
    EXPECT_SUCCESS(hetgpuMemFill(context_, count_, 0, 4, 1));
    EXPECT_SUCCESS(Launch(basic_, "count", 33, count_));
    EXPECT_SUCCESS(hetgpuStreamSynchronize(stream_));
    EXPECT_EQ(Download(count_, 4)[0], 33u);
    const hetgpuDevicePtr fresh = Alloc(kLarge);
    EXPECT_NE(fresh, large_);
    Upload(fresh, Pattern(kLarge, 3));
    EXPECT_EQ(Download(fresh, kLarge), Pattern(kLarge, 3));
    EXPECT_SUCCESS(hetgpuMemFree(context_, fresh));
  }

  hetgpuContext context_ = nullptr;
  hetgpuStream stream_ = nullptr;
  hetgpuModule faults_ = nullptr, basic_ = nullptr;
  hetgpuDevicePtr small_ = 0, large_ = 0, count_ = 0;
};

// The device servers that this process has started.
std::vector<pid_t> Servers() {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream file(entry.path() / "stat");
    std::string number, name, state;
    pid_t parent = 0;
    if (pid > 0 && file >> number >> name >> state >> parent &&
        parent == getpid() && name == "(hetgpu-device-s)" && state != "Z") {
      found.push_back(pid);
    }
  }
  return found;
}

class RecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* name = std::getenv("HETGPU_TEST_DEVICE");
    if (hetgpuDeviceGetByName(name == nullptr ? "cuda" : name, &device_) !=
        HETGPU_SUCCESS) {
      GTEST_SKIP() << hetgpuGetLastErrorDetail();
    }
  }
  hetgpuDevice device_ = nullptr;
};

TEST_F(RecoveryTest, EachKindOfFailureLeavesEverythingInPlace) {
  Program program(device_), other(device_);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              AllOf(HasSubstr("write_at"),
                    HasSubstr("re-opened in a process of its own"),
                    HasSubstr("kept: "), HasSubstr("lost: work in flight")));
  hetgpuLaunchErrorInfo info = {};
  info.struct_size = sizeof(info);
  EXPECT_SUCCESS(hetgpuGetLastLaunchError(&info));
  EXPECT_STREQ(info.kernel, "write_at");
  EXPECT_SUCCESS(hetgpuContextSynchronize(program.context_));
  program.ExpectAllIsWell();
  other.ExpectAllIsWell();

  // The hardware writes, where it would be aligned, before it fails.
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_MISALIGNED_ADDRESS,
                program.Fail("write_u64", program.count_ + 4));
  program.ExpectAllIsWell();
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP, program.Fail("trap_if", 3u));
  program.ExpectAllIsWell();
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ASSERT, program.Fail("assert_below", 3u));
  program.ExpectAllIsWell();
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, other.FailIllegal());
  other.ExpectAllIsWell();
  program.ExpectAllIsWell();
}

TEST_F(RecoveryTest, FailuresInARow) {
  Program program(device_);
  for (int i = 0; i < 5; ++i) {
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  }
  program.ExpectAllIsWell();
  // The servers that were replaced are gone.
  EXPECT_EQ(Servers().size(), 1u);
}

TEST_F(RecoveryTest, WorkBehindAFailureIsSkippedUntilItIsReported) {
  Program program(device_);
  EXPECT_SUCCESS(hetgpuMemFill(program.context_, program.count_, 0, 4, 1));
  EXPECT_SUCCESS(program.Launch(program.faults_, "trap_if", 32, 3u));
  EXPECT_SUCCESS(
      program.Launch(program.basic_, "count", 33, program.count_));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP,
                hetgpuStreamSynchronize(program.stream_));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(program.stream_));
  EXPECT_EQ(program.Download(program.count_, 4)[0], 0u);
  program.ExpectAllIsWell();
}

TEST_F(RecoveryTest, StreamsAndEventsStayValid) {
  Program program(device_);
  hetgpuEvent before = nullptr, after = nullptr;
  hetgpuStream second = nullptr;
  EXPECT_SUCCESS(hetgpuEventCreate(program.context_, 0, &before));
  EXPECT_SUCCESS(hetgpuEventCreate(program.context_, 0, &after));
  EXPECT_SUCCESS(hetgpuStreamCreate(program.context_, 0, &second));
  EXPECT_SUCCESS(hetgpuEventRecord(before, program.stream_));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  EXPECT_SUCCESS(hetgpuEventSynchronize(before));
  EXPECT_SUCCESS(hetgpuStreamWaitEvent(second, before));
  EXPECT_SUCCESS(
      hetgpuMemFillAsync(program.count_, 7, 4, 1, program.stream_));
  EXPECT_SUCCESS(hetgpuEventRecord(after, program.stream_));
  EXPECT_SUCCESS(hetgpuStreamWaitEvent(second, after));
  uint32_t seen = 0;
  EXPECT_SUCCESS(
      hetgpuMemCopyDtoHAsync(&seen, program.count_, 4, second));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(second));
  EXPECT_EQ(seen, 7u);
  double milliseconds = -1;
  EXPECT_SUCCESS(hetgpuEventElapsedMs(before, after, &milliseconds));
  EXPECT_GT(milliseconds, 0);
  program.ExpectAllIsWell();
}

TEST_F(RecoveryTest, AKernelThatDoesNotEndIsEndedWithItsProcess) {
  Program program(device_);
  // From here on the device is in a process that can be ended.
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  EXPECT_SUCCESS(hetgpuContextSetLimit(
      program.context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 300));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TIMEOUT, program.Fail("forever_alone"));
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              AllOf(HasSubstr("forever_alone"),
                    HasSubstr("the process that runs the kernel is ended"),
                    HasSubstr("re-opened")));
  program.ExpectAllIsWell();
  EXPECT_SUCCESS(hetgpuContextSetLimit(
      program.context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 0));
  EXPECT_SUCCESS(program.Launch(program.faults_, "forever_alone", 32));
  EXPECT_SUCCESS(hetgpuStreamCancel(program.stream_));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_CANCELLED,
                hetgpuStreamSynchronize(program.stream_));
  program.ExpectAllIsWell();
  EXPECT_EQ(Servers().size(), 1u);
}

TEST_F(RecoveryTest, LimitsStay) {
  Program program(device_);
  uint64_t stack = 0, heap = 0;
  EXPECT_SUCCESS(hetgpuContextSetLimit(program.context_,
                                       HETGPU_LIMIT_STACK_BYTES, 4096));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  EXPECT_THAT(hetgpuGetLastErrorDetail(), Not(HasSubstr("not kept")));
  EXPECT_SUCCESS(hetgpuContextGetLimit(program.context_,
                                       HETGPU_LIMIT_STACK_BYTES, &stack));
  EXPECT_GE(stack, 4096u);
  EXPECT_SUCCESS(hetgpuContextSetLimit(program.context_,
                                       HETGPU_LIMIT_HEAP_BYTES, 16 << 20));
  EXPECT_SUCCESS(hetgpuContextGetLimit(program.context_,
                                       HETGPU_LIMIT_HEAP_BYTES, &heap));
  EXPECT_GE(heap, uint64_t{16} << 20);
  program.ExpectAllIsWell();
}

TEST_F(RecoveryTest, TexturesCanBeMadeAfterwards) {
  Program program(device_);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  hetgpuTextureDesc desc = {};
  desc.struct_size = sizeof(desc);
  desc.type = HETGPU_TYPE_U32;
  desc.channels = 2;
  desc.dimensions = 2;
  desc.width = 300;
  desc.height = 200;
  hetgpuTexture texture = nullptr;
  ASSERT_SUCCESS(hetgpuTextureCreate(program.context_, &desc, &texture));
  constexpr uint64_t kBytes = 300 * 200 * 8;
  const std::vector<uint32_t> texels = Pattern(kBytes, 5);
  EXPECT_SUCCESS(hetgpuTextureWrite(texture, texels.data(), kBytes));
  std::vector<uint32_t> back(texels.size());
  EXPECT_SUCCESS(hetgpuTextureRead(texture, back.data(), kBytes));
  EXPECT_EQ(back, texels);
  EXPECT_SUCCESS(hetgpuTextureDestroy(texture));
}

TEST_F(RecoveryTest, OutOfMemoryIsNoLoss) {
  Program program(device_);
  uint64_t total = 0;
  EXPECT_SUCCESS(hetgpuDeviceGetProperty(
      device_, HETGPU_DEVICE_TOTAL_MEMORY, &total));
  hetgpuDevicePtr address = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY,
                  hetgpuMemAlloc(program.context_, total, &address));
    program.ExpectAllIsWell();
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  }
}

TEST_F(RecoveryTest, AServerThatDiesIsReported) {
  Program program(device_);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, program.FailIllegal());
  program.ExpectAllIsWell();
  EXPECT_SUCCESS(program.Launch(program.faults_, "forever_alone", 32));
  const std::vector<pid_t> servers = Servers();
  ASSERT_EQ(servers.size(), 1u);
  EXPECT_EQ(kill(servers[0], SIGKILL), 0);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_FAILED,
                hetgpuStreamSynchronize(program.stream_));
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              AllOf(HasSubstr("work in flight was lost"),
                    HasSubstr("device server"),
                    HasSubstr("could not be re-opened")));
  hetgpuDevicePtr address = 0;
  EXPECT_RESULT(HETGPU_ERROR_NO_DEVICE,
                hetgpuMemAlloc(program.context_, 64, &address));
  // New contexts are not concerned.
  Program next(device_);
  next.ExpectAllIsWell();
}

// Unified contexts on the CPU and on every GPU.
class UnifiedRecoveryTest : public RecoveryTest {
 protected:
  void SetUp() override {
    RecoveryTest::SetUp();
    if (device_ == nullptr) return;
    hetgpuDevice device = nullptr;
    ASSERT_SUCCESS(hetgpuDeviceGetByName("cpu", &device));
    members_.push_back(Join(device));
    for (int i = 0;; ++i) {
      const std::string gpu = "cuda:" + std::to_string(i);
      if (hetgpuDeviceGetByName(gpu.c_str(), &device) != HETGPU_SUCCESS) break;
      members_.push_back(Join(device));
    }
    ASSERT_GE(members_.size(), 2u);
  }
  void TearDown() override {
    for (const Member& member : members_) {
      EXPECT_SUCCESS(hetgpuContextDestroy(member.context));
    }
  }

  struct Member {
    hetgpuContext context = nullptr;
    hetgpuModule basic = nullptr, faults = nullptr;
  };

  static Member Join(hetgpuDevice device) {
    Member member;
    EXPECT_SUCCESS(
        hetgpuContextCreate(device, HETGPU_CONTEXT_UNIFIED, &member.context));
    EXPECT_SUCCESS(hetgpuModuleLoadFile(
        member.context, (kKernels + "basic.ptx").c_str(), &member.basic));
    EXPECT_SUCCESS(hetgpuModuleLoadFile(
        member.context, (kKernels + "faults.ptx").c_str(), &member.faults));
    return member;
  }

  template <typename... Args>
  static hetgpuResult Launch(hetgpuModule module, const char* name,
                             uint32_t threads, Args... args) {
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(hetgpuModuleGetFunction(module, name, &function));
    void* pointers[] = {&args..., nullptr};
    return hetgpuLaunchKernel(function, {1, 1, 1}, {threads, 1, 1}, 0, nullptr,
                              pointers);
  }
  // Adds `threads` to a word on that device.
  void Count(size_t who, hetgpuDevicePtr word, uint32_t threads) {
    EXPECT_SUCCESS(Launch(members_[who].basic, "count", threads, word));
    EXPECT_SUCCESS(hetgpuContextSynchronize(members_[who].context));
  }
  void Fail(size_t who) {
    EXPECT_SUCCESS(Launch(members_[who].faults, "trap_if", 32, 3u));
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP,
                  hetgpuContextSynchronize(members_[who].context));
  }
  hetgpuDevicePtr Alloc(uint64_t bytes) {
    hetgpuDevicePtr address = 0;
    EXPECT_SUCCESS(hetgpuMemAlloc(members_[0].context, bytes, &address));
    return address;
  }
  void Upload(size_t who, hetgpuDevicePtr address,
              const std::vector<uint32_t>& words) {
    EXPECT_SUCCESS(hetgpuMemCopyHtoD(members_[who].context, address,
                                     words.data(), words.size() * 4));
    EXPECT_SUCCESS(hetgpuContextSynchronize(members_[who].context));
  }
  std::vector<uint32_t> Download(size_t who, hetgpuDevicePtr address,
                                 uint64_t bytes) {
    std::vector<uint32_t> words(bytes / 4);
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(members_[who].context, words.data(),
                                     address, bytes));
    return words;
  }
  static uint64_t BytesLost() {
    uint64_t bytes = 0;
    EXPECT_SUCCESS(hetgpuGetCounter(HETGPU_COUNTER_BYTES_LOST, &bytes));
    return bytes;
  }

  std::vector<Member> members_;
};

// What only the lost device had, what others have too, and what it had not.
TEST_F(UnifiedRecoveryTest, NothingIsLostWithADevice) {
  const size_t count = members_.size();
  const uint64_t before = BytesLost();
  std::vector<hetgpuDevicePtr> own(count), words(count);
  for (size_t i = 0; i < count; ++i) {
    own[i] = Alloc(kLarge);
    words[i] = Alloc(4);
    Upload(i, own[i], Pattern(kLarge, i));
    EXPECT_SUCCESS(hetgpuMemFill(members_[i].context, words[i], 0, 4, 1));
    Count(i, words[i], 10);
  }
  const hetgpuDevicePtr shared = Alloc(kLarge);
  Upload(1, shared, Pattern(kLarge, 99));
  EXPECT_SUCCESS(hetgpuMemPrefetch(members_[0].context, shared, kLarge));
  EXPECT_SUCCESS(hetgpuContextSynchronize(members_[0].context));

  for (int round = 1; round <= 2; ++round) {
    for (size_t lost = 1; lost < count; ++lost) Fail(lost);
    for (size_t i = 0; i < count; ++i) {
      const size_t reader = (i + round) % count;
      EXPECT_EQ(Download(reader, own[i], kLarge), Pattern(kLarge, i));
      EXPECT_EQ(Download(reader, shared, kLarge), Pattern(kLarge, 99));
      Count(reader, words[i], 10);
      EXPECT_EQ(Download(i, words[i], 4)[0], 10u + 10 * round);
    }
  }
  EXPECT_EQ(BytesLost(), before);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_SUCCESS(hetgpuMemFree(members_[0].context, own[i]));
    EXPECT_SUCCESS(hetgpuMemFree(members_[i].context, words[i]));
  }
}

// The CPU is the first to find out, when it wants what the GPU had.
TEST_F(UnifiedRecoveryTest, AnotherDeviceFindsTheLoss) {
  const hetgpuDevicePtr data = Alloc(kLarge), word = Alloc(4);
  Upload(1, data, Pattern(kLarge, 7));
  EXPECT_SUCCESS(hetgpuMemFill(members_[1].context, word, 0, 4, 1));
  Count(1, word, 5);
  EXPECT_SUCCESS(Launch(members_[1].faults, "trap_if", 32, 3u));
  EXPECT_EQ(Download(0, data, kLarge), Pattern(kLarge, 7));
  Count(0, word, 6);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP,
                hetgpuContextSynchronize(members_[1].context));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("re-opened"));
  Count(1, word, 7);
  EXPECT_EQ(Download(0, word, 4)[0], 18u);
  // New memory after the loss, and more devices than there were processes.
  const hetgpuDevicePtr fresh = Alloc(kLarge);
  for (size_t i = 0; i < members_.size(); ++i) {
    Upload(i, fresh, Pattern(kLarge, 40 + i));
    for (size_t j = 0; j < members_.size(); ++j) {
      EXPECT_EQ(Download(j, fresh, kLarge), Pattern(kLarge, 40 + i));
    }
  }
}

}  // namespace
}  // namespace hetgpu
