#include "runtime/jit_cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/counters.h"
#include "runtime/file.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint64_t kPlenty = uint64_t{1} << 30;

class JitCacheTest : public testing::Test {
 protected:
  std::string PathOf(const Digest& key) {
    return dir_ + "/" + ToHex(key) + ".jit";
  }

  size_t Entries() {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(dir_)) {
      count += entry.path().extension() == ".jit";
    }
    return count;
  }

  const std::string dir_ = FreshFolder();
  const Digest key_ = DigestOf("some kernel");
  const std::string image_ = std::string(1000, 'x');
};

TEST_F(JitCacheTest, ReturnsWhatWasStored) {
  JitCache cache(dir_, kPlenty);
  EXPECT_EQ(cache.Load(key_), std::nullopt);
  cache.Store(key_, image_);
  EXPECT_EQ(cache.Load(key_), image_);
  EXPECT_EQ(JitCache(dir_, kPlenty).Load(key_), image_);
  EXPECT_EQ(cache.Load(DigestOf("another")), std::nullopt);
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(JitCacheTest, MakesTheFolderForItsOwnerOnly) {
  const std::string dir = dir_ + "/a/b";
  JitCache(dir, kPlenty).Store(key_, image_);
  struct stat info;
  ASSERT_EQ(stat(dir.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(JitCache(dir, kPlenty).Load(key_), image_);
}

TEST_F(JitCacheTest, TruncatedEntryIsDiscardedAtEveryLength) {
  JitCache cache(dir_, kPlenty);
  for (const uint64_t length : {0, 1, 8, 47, 48, 56, 500, 1055}) {
    SCOPED_TRACE(length);
    cache.Store(key_, image_);
    ASSERT_EQ(truncate(PathOf(key_).c_str(), length), 0);
    const uint64_t before = CounterValue(HETGPU_COUNTER_CACHE_DISCARDED);
    EXPECT_EQ(cache.Load(key_), std::nullopt);
    EXPECT_EQ(CounterValue(HETGPU_COUNTER_CACHE_DISCARDED), before + 1);
    EXPECT_EQ(Entries(), 0u);
  }
}

TEST_F(JitCacheTest, AnyFlippedBitIsDiscarded) {
  JitCache cache(dir_, kPlenty);
  cache.Store(key_, image_);
  const std::string whole = *ReadFile(PathOf(key_));
  for (size_t at = 0; at < whole.size(); at += 13) {
    std::string damaged = whole;
    damaged[at] ^= 1 << at % 8;
    std::ofstream(PathOf(key_), std::ios::binary) << damaged;
    EXPECT_EQ(cache.Load(key_), std::nullopt) << at;
  }
  std::ofstream(PathOf(key_), std::ios::binary) << whole;
  EXPECT_EQ(cache.Load(key_), image_);
}

TEST_F(JitCacheTest, EntryOfAnotherKeyIsDiscarded) {
  JitCache cache(dir_, kPlenty);
  cache.Store(key_, image_);
  const Digest other = DigestOf("other");
  fs::rename(PathOf(key_), PathOf(other));
  EXPECT_EQ(cache.Load(other), std::nullopt);
}

TEST_F(JitCacheTest, SizeCapDropsLeastRecentlyUsed) {
  JitCache cache(dir_, 3500);
  const Digest keys[] = {DigestOf("a"), DigestOf("b"), DigestOf("c"),
                         DigestOf("d")};
  for (int i = 0; i < 3; ++i) {
    cache.Store(keys[i], image_);
    const timespec old[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, PathOf(keys[i]).c_str(), old, 0), 0);
  }
  EXPECT_EQ(cache.Load(keys[0]), image_);  // now the most recent
  cache.Store(keys[3], image_);
  EXPECT_EQ(cache.Load(keys[0]), image_);
  EXPECT_EQ(cache.Load(keys[1]), std::nullopt);
  EXPECT_EQ(cache.Load(keys[2]), image_);
  EXPECT_EQ(cache.Load(keys[3]), image_);
}

TEST_F(JitCacheTest, SizeCapHoldsOverManySmallEntries) {
  constexpr uint64_t kCap = 10000;
  JitCache one(dir_, kCap), other(dir_, kCap);
  uint64_t most = 0;
  for (int i = 0; i < 400; ++i) {
    (i % 2 == 0 ? one : other).Store(DigestOf(std::to_string(i)), "entry");
    most = std::max(most, one.Measure().bytes);
  }
  EXPECT_GT(most, kCap * 3 / 4);
  // Each may add a sixteenth before it sees what the other one added.
  EXPECT_LE(most, kCap + kCap / 16);
}

TEST_F(JitCacheTest, ImageAsLargeAsTheCapIsKept) {
  JitCache cache(dir_, image_.size() + 64);
  cache.Store(DigestOf("a"), "small");
  cache.Store(DigestOf("b"), image_);
  EXPECT_EQ(cache.Load(DigestOf("b")), image_);
}

TEST_F(JitCacheTest, ImageLargerThanTheCapIsNotStored) {
  JitCache cache(dir_, 500);
  cache.Store(key_, image_);
  EXPECT_EQ(Entries(), 0u);
}

TEST_F(JitCacheTest, ZeroSizeSwitchesOff) {
  JitCache cache(dir_, 0);
  cache.Store(key_, image_);
  EXPECT_EQ(cache.Load(key_), std::nullopt);
  EXPECT_EQ(Entries(), 0u);
  EXPECT_THAT(cache.Problem(), HasSubstr("HETGPU_JIT_CACHE_SIZE"));
}

TEST_F(JitCacheTest, FolderOthersCanWriteToIsNotTrusted) {
  JitCache(dir_, kPlenty).Store(key_, image_);
  for (const mode_t mode : {0777, 0770, 01777}) {
    ASSERT_EQ(chmod(dir_.c_str(), mode), 0);
    JitCache cache(dir_, kPlenty);
    EXPECT_EQ(cache.Load(key_), std::nullopt);
    EXPECT_THAT(cache.Problem(), HasSubstr("other users"));
  }
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  EXPECT_EQ(JitCache(dir_, kPlenty).Load(key_), image_);
}

TEST_F(JitCacheTest, FileInPlaceOfTheFolderIsTolerated) {
  std::ofstream(dir_ + "/file") << "x";
  JitCache cache(dir_ + "/file", kPlenty);
  cache.Store(key_, image_);
  EXPECT_EQ(cache.Load(key_), std::nullopt);
  EXPECT_THAT(cache.Problem(), HasSubstr("not a folder"));
}

// Runs `body` in a child process; its exit code.
template <typename Body>
int InChild(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(JitCacheTest, ReadOnlyFolderStillServes) {
  JitCache(dir_, kPlenty).Store(key_, image_);
  ASSERT_EQ(chmod(dir_.c_str(), 0555), 0);
  ASSERT_EQ(chmod(PathOf(key_).c_str(), 0444), 0);
  EXPECT_EQ(0, InChild([&] {
              // Permissions do not bind the superuser.
              if (geteuid() == 0 && seteuid(65534) != 0) return 2;
              if (geteuid() == 0) return 3;
              JitCache cache(dir_, kPlenty);
              cache.Store(DigestOf("new"), image_);
              if (cache.Load(DigestOf("new"))) return 4;
              return cache.Load(key_) == image_ ? 0 : 5;
            }));
  ASSERT_EQ(chmod(dir_.c_str(), 0755), 0);
  EXPECT_EQ(Entries(), 1u);
}

TEST_F(JitCacheTest, FullDiskLeavesNothingBehind) {
  EXPECT_EQ(0, InChild([&] {
              signal(SIGXFSZ, SIG_IGN);
              const rlimit limit = {512, 512};
              if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
              JitCache cache(dir_, kPlenty);
              cache.Store(key_, image_);
              return cache.Load(key_) ? 3 : 0;
            }));
  EXPECT_TRUE(fs::is_empty(dir_));
}

TEST_F(JitCacheTest, ProcessesShareAFolder) {
  const uint64_t discarded = CounterValue(HETGPU_COUNTER_CACHE_DISCARDED);
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    const pid_t child = fork();
    if (child == 0) {
      JitCache cache(dir_, 20000);  // evicts all the time
      for (int i = 0; i < 300; ++i) {
        const std::string name = std::to_string(i % 40);
        const Digest key = DigestOf(name);
        const std::string expected(800 + i % 40, 'a' + i % 20);
        cache.Store(key, expected);
        const auto found = cache.Load(key);
        if (found && *found != expected) _exit(1);
      }
      _exit(CounterValue(HETGPU_COUNTER_CACHE_DISCARDED) - discarded);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(dir_)) {
    EXPECT_EQ(entry.path().extension(), ".jit") << entry.path();
    total += entry.file_size();
  }
  EXPECT_LE(total, 20000u + 4 * 1000);
}

TEST_F(JitCacheTest, StaleTemporaryFilesAreRemoved) {
  const std::string stale = dir_ + "/.tmp.1.1";
  const std::string fresh = dir_ + "/.tmp.1.2";
  std::ofstream(stale) << "x";
  std::ofstream(fresh) << "x";
  const timespec old[2] = {{1000, 0}, {1000, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, stale.c_str(), old, 0), 0);
  JitCache(dir_, kPlenty).Store(key_, image_);
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh));
}

}  // namespace
}  // namespace hetgpu::runtime
