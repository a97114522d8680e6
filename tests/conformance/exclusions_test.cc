// An exclusion must still be needed: each excluded test is run in a process of
// its own and must fail there.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/conformance/conformance.h"

extern char** environ;

namespace hetgpu::conformance {
namespace {

// Exit status of this program running one test, 0 when it passed.
int RunExcluded(const std::string& test, const std::string& device) {
  std::string parameter = device;
  for (char& c : parameter) c = c == ':' ? '_' : c;
  const std::string filter = "--gtest_filter=All/" + test + "/" + parameter;
  char program[] = "/proc/self/exe";
  std::string argument = filter;
  char* arguments[] = {program, argument.data(), nullptr};
  setenv("HETGPU_CONFORMANCE_RUN_EXCLUDED", "1", 1);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  unsetenv("HETGPU_CONFORMANCE_RUN_EXCLUDED");
  EXPECT_EQ(failed, 0);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(ExclusionsTest, NoneIsStale) {
  for (const std::string& device : TestDevices()) {
    const std::string backend = device.substr(0, device.find(':'));
    for (const Exclusion& exclusion : ExclusionsOf(backend)) {
      EXPECT_NE(exclusion.reason, "") << exclusion.test;
      EXPECT_NE(RunExcluded(exclusion.test, device), 0)
          << exclusion.test << " passes on " << device
          << " (or does not exist): remove it from exclusions/" << backend
          << ".txt";
    }
  }
}

TEST(ExclusionsTest, SomeDeviceIsTested) {
  EXPECT_FALSE(TestDevices().empty());
}

}  // namespace
}  // namespace hetgpu::conformance
