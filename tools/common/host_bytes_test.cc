#include "tools/common/host_bytes.h"

#include <unistd.h>

#include <cstdio>
#include <thread>

#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

TEST(HostBytes, MoreThanThereIsIsRefused) {
  EXPECT_GT(AvailableMemory(), uint64_t{1} << 20);
  for (const uint64_t size : {uint64_t{1} << 50, uint64_t{1} << 62}) {
    const auto bytes = HostBytes::Uninitialized(size);
    EXPECT_EQ(bytes.status().code(), absl::StatusCode::kResourceExhausted);
  }
}

TEST(HostBytes, SkipTruncateAndResizeKeepTheContent) {
  for (const uint64_t size : {uint64_t{100}, uint64_t{3} << 20}) {
    auto bytes = HostBytes::Uninitialized(size);
    ASSERT_TRUE(bytes.ok());
    for (uint64_t i = 0; i < size; ++i) bytes->data()[i] = i % 251;
    bytes->Skip(10);
    EXPECT_EQ(bytes->size(), size - 10);
    ASSERT_TRUE(bytes->Resize(size * 2).ok());
    EXPECT_EQ(bytes->data()[0], 10);
    EXPECT_EQ(bytes->data()[size - 11], (size - 1) % 251);
    bytes->Truncate(5);
    EXPECT_EQ(bytes->size(), 5u);
  }
}

TEST(Files, ArePipesToo) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  // More than a pipe and the first guess of the reader hold.
  const std::string text(300000, 'x');
  std::thread writer([&] {
    size_t done = 0;
    while (done < text.size()) {
      const ssize_t n = write(ends[1], text.data() + done, text.size() - done);
      if (n <= 0) break;
      done += static_cast<size_t>(n);
    }
    close(ends[1]);
  });
  const auto bytes =
      ReadFile("/dev/fd/" + std::to_string(ends[0]), uint64_t{1} << 20);
  writer.join();
  close(ends[0]);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(bytes->view(), text);
}

TEST(Files, LimitsAndErrors) {
  EXPECT_EQ(ReadFile("/dev/zero", 100000).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(ReadFile("/does/not/exist", 1).status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadFile("/", 1).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteFile("/dev/full", "", std::string(100, 'x')).code(),
            absl::StatusCode::kNotFound);
}

TEST(Files, PathsAreSeenFromAFolder) {
  EXPECT_EQ(ResolvePath("a/b/", "c"), "a/b/c");
  EXPECT_EQ(ResolvePath("a/b/", "/c"), "/c");
  EXPECT_EQ(ResolvePath("", "c"), "c");
  EXPECT_EQ(FolderOf("a/b/c.json"), "a/b/");
  EXPECT_EQ(FolderOf("c.json"), "");
}

}  // namespace
}  // namespace hetgpu::tools
