// Runs a fuzz target without a fuzzer: every seed of a folder, every prefix of
// it up to a limit, and mutations drawn from a fixed generator. The same inputs
// on every machine, so that a failure can be run again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr size_t kMutationsPerSeed = 400;
constexpr size_t kMaxPrefixes = 400;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  size_t Below(size_t bound) { return bound == 0 ? 0 : Next() % bound; }

 private:
  uint64_t state_;
};

// The copy has exactly the size of the input, so that a sanitizer sees any
// read past its end.
void Run(const std::string& input) {
  const std::vector<uint8_t> bytes(input.begin(), input.end());
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

void FlipBit(std::string& text, Random& random) {
  if (text.empty()) return;
  text[random.Below(text.size())] ^= static_cast<char>(1 << random.Below(8));
}

void Overwrite(std::string& text, Random& random) {
  if (text.empty()) return;
  text[random.Below(text.size())] = static_cast<char>(random.Next());
}

void Erase(std::string& text, Random& random) {
  const size_t at = random.Below(text.size());
  text.erase(at, 1 + random.Below(16));
}

void Duplicate(std::string& text, Random& random) {
  const size_t at = random.Below(text.size());
  const std::string part = text.substr(at, 1 + random.Below(64));
  text.insert(random.Below(text.size() + 1), part);
}

void Insert(std::string& text, Random& random) {
  static constexpr const char* kWords[] = {"0",
                                           "-1",
                                           "4294967296",
                                           "18446744073709551615",
                                           "99999999999999999999",
                                           "{",
                                           "}",
                                           "[",
                                           "]",
                                           "(",
                                           ")",
                                           "\"",
                                           "'",
                                           ",",
                                           ":",
                                           ";",
                                           "=",
                                           "nan",
                                           "0x",
                                           "1e999",
                                           "\n",
                                           "//",
                                           "/*"};
  text.insert(random.Below(text.size() + 1),
              kWords[random.Below(std::size(kWords))]);
}

std::string Mutate(std::string text, Random& random) {
  using Mutation = void (*)(std::string&, Random&);
  static constexpr Mutation kMutations[] = {FlipBit, Overwrite, Erase,
                                            Duplicate, Insert};
  for (size_t n = 1 + random.Below(6); n > 0; --n) {
    kMutations[random.Below(std::size(kMutations))](text, random);
  }
  return text;
}

void RunSeed(const std::string& seed, uint64_t number) {
  Run(seed);
  const size_t step = 1 + seed.size() / kMaxPrefixes;
  for (size_t size = 0; size < seed.size(); size += step) {
    Run(seed.substr(0, size));
  }
  Random random(number);
  for (size_t i = 0; i < kMutationsPerSeed; ++i) Run(Mutate(seed, random));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  if (paths.empty()) {
    std::fprintf(stderr, "no seeds in %s\n", argv[1]);
    return 1;
  }
  std::sort(paths.begin(), paths.end());
  for (size_t i = 0; i < paths.size(); ++i) {
    std::ifstream file(paths[i], std::ios::binary);
    RunSeed(std::string(std::istreambuf_iterator<char>(file), {}), i);
  }
  std::printf("%zu seeds survived\n", paths.size());
  return 0;
}
