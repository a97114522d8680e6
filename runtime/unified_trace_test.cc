// What the trace says of moves of unified memory. The trace is the process's, so
// this is a program of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hetgpu/hetgpu.h"
#include "runtime/module_readers.h"
#include "runtime/platform.h"
#include "runtime/testing/expect.h"
#include "runtime/testing/sim_driver.h"
#include "runtime/trace.h"

namespace hetgpu::runtime {
namespace {

using Json = nlohmann::json;
using testing::Contains;
using testing::HasSubstr;

constexpr uint64_t kBytes = 200000;  // four granules

std::vector<std::unique_ptr<Driver>> SimDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(CreateSimDriver());
  return drivers;
}

struct Member {
  hetgpuContext context = nullptr;
  hetgpuFunction set = nullptr;
};

Member Make(uint32_t device) {
  Member member;
  hetgpuDevice found = 0;
  hetgpuModule module = nullptr;
  EXPECT_SUCCESS(hetgpuDeviceGet(device, &found));
  EXPECT_SUCCESS(hetgpuContextCreate(found, HETGPU_CONTEXT_UNIFIED,
                                     &member.context));
  EXPECT_SUCCESS(
      hetgpuModuleLoadData(member.context, "x", 1, "sim.ptx", &module));
  EXPECT_SUCCESS(hetgpuModuleGetFunction(module, "set", &member.set));
  return member;
}

void Set(const Member& member, hetgpuDevicePtr address) {
  uint64_t values[] = {address, kBytes / 8, 7};
  void* arguments[] = {&values[0], &values[1], &values[2]};
  EXPECT_SUCCESS(hetgpuLaunchKernel(member.set, {1, 1, 1}, {1, 1, 1}, 0,
                                    nullptr, arguments));
}

// "name, bytes, granules, for" of each move that took no less than no time.
std::vector<std::string> MovesIn(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> moves;
  for (const Json& event : Json::parse(file)) {
    if (event.value("cat", "") != "move") continue;
    EXPECT_GT(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
    const Json& args = event["args"];
    moves.push_back(event["name"].get<std::string>() + ", " +
                    args["bytes"].dump() + ", " + args["granules"].dump() +
                    ", " + args["for"].get<std::string>());
  }
  return moves;
}

TEST(UnifiedTraceTest, MovesAreSpansOfTheirOwnWithACause) {
  const std::string path = testing::TempDir() + "hetgpu-unified-trace-" +
                           std::to_string(getpid()) + ".json";
  setenv("HETGPU_TRACE", path.c_str(), 1);
  setenv("HETGPU_JIT_CACHE_SIZE", "0", 1);
  Platform::OverrideDrivers(SimDrivers);
  OverrideModuleReader([](std::string_view, std::string_view) {
    return absl::StatusOr<ModuleInfo>(SimModule());
  });
  const Member first = Make(1), second = Make(2);
  hetgpuDevicePtr a = 0, b = 0;
  EXPECT_SUCCESS(hetgpuMemAlloc(first.context, kBytes, &a));
  EXPECT_SUCCESS(hetgpuMemAlloc(first.context, kBytes, &b));
  Set(first, a);
  Set(first, b);
  Set(second, a);  // takes it along
  EXPECT_SUCCESS(hetgpuMemPrefetch(second.context, b, kBytes));
  std::vector<char> host(kBytes);
  Set(first, b);
  EXPECT_SUCCESS(
      hetgpuMemCopyDtoH(second.context, host.data(), b, host.size()));
  EXPECT_SUCCESS(hetgpuContextDestroy(first.context));
  EXPECT_SUCCESS(hetgpuContextDestroy(second.context));
  ASSERT_NE(Trace::Active(), nullptr);
  EXPECT_TRUE(Trace::Active()->Finish().ok());
  const std::vector<std::string> moves = MovesIn(path);
  unlink(path.c_str());
  EXPECT_THAT(moves, Contains(HasSubstr("host, 200000, 4, launch set")));
  EXPECT_THAT(moves, Contains(HasSubstr(", 200000, 4, prefetch")));
  EXPECT_THAT(moves, Contains(HasSubstr(", 200000, 4, copy")));
}

}  // namespace
}  // namespace hetgpu::runtime
