// The disk half of the JIT cache: a folder of content-addressed files.
//
//   <dir>/<32 hex digits of the key>.jit
//   +--------+---------+--------------+----------+---------+
//   | magic  | key 16  | payload size | hash 16  | payload |
//   +--------+---------+--------------+----------+---------+
//
// Written under a temporary name and renamed, so readers see whole files only;
// the hash of the payload catches what disks and people do to them. Processes
// share a folder without locks: the worst that can happen is that two compile
// the same kernel and one file wins. A folder that other users can write to is
// not trusted, because its content is executed. Whatever goes wrong here costs
// a compilation, never a launch.
#ifndef HETGPU_RUNTIME_JIT_CACHE_H_
#define HETGPU_RUNTIME_JIT_CACHE_H_

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace hetgpu::runtime {

// 128-bit XXH3.
struct Digest {
  std::array<uint8_t, 16> bytes = {};
  auto operator<=>(const Digest&) const = default;
};

Digest DigestOf(std::string_view bytes);
std::string ToHex(const Digest& digest);

// Threads: any. Processes: any number on one folder.
class JitCache {
 public:
  // `dir` is made when first written to; "" or max_bytes 0 switch the cache
  // off. Entries least recently used go when more than max_bytes are held.
  JitCache(std::string dir, uint64_t max_bytes);

  // The image stored for `key`. Damaged entries are removed and counted
  // (HETGPU_COUNTER_CACHE_DISCARDED).
  std::optional<std::string> Load(const Digest& key);

  // Does nothing when it cannot be done.
  void Store(const Digest& key, std::string_view image);

  struct Usage {
    uint64_t entries = 0, bytes = 0;
  };
  // What the folder holds now.
  Usage Measure() const;

  const std::string& dir() const { return dir_; }
  uint64_t max_bytes() const { return max_bytes_; }

  // Why the folder is not used; "" when it is.
  std::string Problem();

 private:
  bool Usable();
  bool MakeFolder();
  std::string PathOf(const Digest& key) const;
  // Looks at the whole folder, which takes long when it holds much.
  void Evict();

  const std::string dir_;
  const uint64_t max_bytes_;
  std::mutex mutex_;  // of what follows
  bool checked_ = false;
  std::string problem_;
  uint64_t room_ = 0;  // bytes that may be stored before the next look
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_JIT_CACHE_H_
