#include "runtime/jit_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "runtime/counters.h"
#include "runtime/file.h"
#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'H', 'E', 'T', 'J', 'I', 'T', '\0', '\1'};
constexpr char kSuffix[] = ".jit";
constexpr char kTemporary[] = ".tmp.";
// A temporary file this old was left by a process that died.
constexpr time_t kStaleSeconds = 3600;

struct Header {
  char magic[8];
  Digest key;
  uint64_t payload_bytes;
  Digest hash;
};

Header MakeHeader(const Digest& key, std::string_view image) {
  Header header;
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.key = key;
  header.payload_bytes = image.size();
  header.hash = DigestOf(image);
  return header;
}

bool IsIntact(const Digest& key, std::string_view file) {
  if (file.size() < sizeof(Header)) return false;
  const Header expected = MakeHeader(key, file.substr(sizeof(Header)));
  return std::memcmp(file.data(), &expected, sizeof(Header)) == 0;
}

struct Entry {
  std::string path;
  uint64_t bytes = 0;
  timespec used = {};
};

bool UsedEarlier(const Entry& a, const Entry& b) {
  return std::pair(a.used.tv_sec, a.used.tv_nsec) <
         std::pair(b.used.tv_sec, b.used.tv_nsec);
}

bool IsStale(const Entry& entry) {
  return entry.used.tv_sec + kStaleSeconds < time(nullptr);
}

// The entries of a folder; stale temporary files are removed on the way.
std::vector<Entry> List(const std::string& dir) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end;
       it.increment(error)) {
    Entry entry{it->path().string()};
    struct stat info;
    if (lstat(entry.path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
      continue;
    }
    entry.bytes = info.st_size;
    entry.used = info.st_mtim;
    const std::string name = it->path().filename().string();
    if (absl::StartsWith(name, kTemporary)) {
      if (IsStale(entry)) unlink(entry.path.c_str());
    } else if (absl::EndsWith(name, kSuffix)) {
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

Digest DigestOf(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical,
                           XXH3_128bits(bytes.data(), bytes.size()));
  Digest digest;
  std::memcpy(digest.bytes.data(), canonical.digest, digest.bytes.size());
  return digest;
}

std::string ToHex(const Digest& digest) {
  return absl::BytesToHexString(absl::string_view(
      reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()));
}

JitCache::JitCache(std::string dir, uint64_t max_bytes)
    : dir_(std::move(dir)), max_bytes_(max_bytes) {}

std::string JitCache::PathOf(const Digest& key) const {
  return Cat(dir_, "/", ToHex(key), kSuffix);
}

bool JitCache::MakeFolder() {
  std::error_code error;
  const fs::path parent = fs::path(dir_).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (mkdir(dir_.c_str(), 0700) != 0 && errno != EEXIST) {
    problem_ = Cat(dir_, ": ", std::strerror(errno));
    return false;
  }
  struct stat info;
  if (stat(dir_.c_str(), &info) != 0) {
    problem_ = Cat(dir_, ": ", std::strerror(errno));
  } else if (!S_ISDIR(info.st_mode)) {
    problem_ = Cat(dir_, ": not a folder");
  } else if (info.st_uid != geteuid() && info.st_uid != 0) {
    problem_ = Cat(dir_, ": belongs to another user");
  } else if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    problem_ = Cat(dir_, ": other users can write to it");
  }
  return problem_.empty();
}

bool JitCache::Usable() {
  std::lock_guard lock(mutex_);
  if (checked_) return problem_.empty();
  checked_ = true;
  if (dir_.empty()) {
    problem_ = "no folder is known: set HETGPU_JIT_CACHE_DIR";
  } else if (max_bytes_ == 0) {
    problem_ = "switched off by HETGPU_JIT_CACHE_SIZE";
  } else {
    MakeFolder();
  }
  return problem_.empty();
}

JitCache::Usage JitCache::Measure() const {
  Usage usage;
  if (dir_.empty()) return usage;
  for (const Entry& entry : List(dir_)) {
    ++usage.entries;
    usage.bytes += entry.bytes;
  }
  return usage;
}

std::string JitCache::Problem() {
  Usable();
  std::lock_guard lock(mutex_);
  return problem_;
}

std::optional<std::string> JitCache::Load(const Digest& key) {
  if (!Usable()) return std::nullopt;
  const std::string path = PathOf(key);
  std::optional<std::string> file = ReadFile(path);
  if (!file) return std::nullopt;
  if (!IsIntact(key, *file)) {
    unlink(path.c_str());
    Count(HETGPU_COUNTER_CACHE_DISCARDED);
    return std::nullopt;
  }
  utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // now: recently used
  file->erase(0, sizeof(Header));
  return file;
}

void JitCache::Store(const Digest& key, std::string_view image) {
  const Header header = MakeHeader(key, image);
  if (image.size() + sizeof(header) > max_bytes_ || !Usable()) return;
  static std::atomic<uint64_t> serial = 0;
  const std::string temporary =
      Cat(dir_, "/", kTemporary, getpid(), ".", serial++);
  const std::string_view head(reinterpret_cast<const char*>(&header),
                              sizeof(header));
  if (!WriteFile(temporary, {head, image}) ||
      rename(temporary.c_str(), PathOf(key).c_str()) != 0) {
    unlink(temporary.c_str());
    return;
  }
  const uint64_t bytes = sizeof(header) + image.size();
  std::lock_guard lock(mutex_);
  if (bytes > room_) {
    Evict();
  } else {
    room_ -= bytes;
  }
}

void JitCache::Evict() {
  // What other processes add before the next look is not known: so look again
  // after a sixteenth at the latest.
  const uint64_t stride = max_bytes_ / 16;
  std::vector<Entry> entries = List(dir_);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total > max_bytes_) {
    std::sort(entries.begin(), entries.end(), UsedEarlier);
    for (const Entry& entry : entries) {
      const bool newest = &entry == &entries.back();
      if (total <= (newest ? max_bytes_ : max_bytes_ - stride)) break;
      unlink(entry.path.c_str());
      total -= entry.bytes;
    }
  }
  room_ = std::min(stride, max_bytes_ - std::min(total, max_bytes_));
}

}  // namespace hetgpu::runtime
