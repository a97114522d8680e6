// Random operations on simulated devices, compared with flat memory.
//
// A simulated device keeps real bytes for every segment mapped there. Steps of a
// plan can fail at any point; a copy that fails leaves garbage at its
// destination. Whatever happens, a device that may read must see what was
// written last, wherever that was.
//
// HETGPU_MODEL_SEED and HETGPU_MODEL_STEPS choose another run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "memory/residency.h"
#include "memory/segment_heap.h"

namespace hetgpu::memory {
namespace {

constexpr uint64_t kMiB = 1 << 20;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

struct Reference {
  std::vector<uint8_t> bytes;
  std::vector<bool> defined;  // written once, and not lost since
  SegmentHeap::Placement placement;
};

class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed) {
    arena_.Settle(uint64_t{1} << 30, uint64_t{4} << 30);
    const int devices = 2 + random_() % 3;
    const bool domain = random_() % 2 == 0;
    const bool can_take = random_() % 2 == 0;
    for (int i = 0; i < devices; ++i) {
      LocationTraits traits;
      traits.name = "device " + std::to_string(i);
      traits.capacity = (4 + random_() % 4) * 2 * kMiB;
      traits.host_addressable = random_() % 3 == 0;
      traits.domain = domain && i < 3 ? 1 : 0;
      traits.can_take = traits.domain != 0 && can_take;
      capacity_.push_back(traits.capacity);
      residency_.AddLocation(traits);
    }
    memory_.resize(devices + 1);
  }

  void Step_() {
    switch (random_() % 16) {
      case 0:
      case 1:
        return Allocate();
      case 2:
        return Free();
      case 3:
        return Advise();
      case 4:
        return Shrink();
      case 5:
        return Misuse();
      case 6:
        if (random_() % 20 == 0) return Lose();
        return ReadOnHost();
      case 7:
        return Prefetch();
      default:
        return Launch();
    }
  }

  uint64_t launches() const { return launches_; }
  uint64_t failures() const { return failures_; }
  uint64_t evictions() const { return evictions_; }

 private:
  struct Touched {
    Use use;
    bool writes = false;
  };

  Location AnyDevice() { return 1 + random_() % capacity_.size(); }

  std::map<uint64_t, Reference>::iterator AnyAllocation() {
    auto it = live_.begin();
    std::advance(it, random_() % live_.size());
    return it;
  }

  void Allocate() {
    if (live_.size() > 12) return Free();
    const uint64_t sizes[] = {1 + random_() % 300, 1 + random_() % (200 << 10),
                              1 + random_() % (kMiB + kMiB / 4)};
    const uint64_t bytes = sizes[random_() % 3];
    const auto placed = heap_.Allocate(bytes);
    ASSERT_TRUE(placed.ok());
    residency_.Add(placed->address, bytes, placed->segment,
                   placed->segment_bytes);
    live_[placed->address] = {std::vector<uint8_t>(bytes),
                              std::vector<bool>(bytes), *placed};
  }

  void Free() {
    if (live_.empty()) return;
    const auto victim = AnyAllocation();
    const Residency::Removal removal = residency_.Remove(victim->first);
    ASSERT_EQ(removal.bytes, victim->second.bytes.size());
    for (const Step& step : removal.unmap) {
      ASSERT_EQ(memory_[step.to].erase(step.address), 1u);
    }
    host_.erase(victim->first);
    heap_.Free(victim->second.placement, removal.bytes,
               removal.segment_is_empty);
    live_.erase(victim);
  }

  void Advise() {
    if (live_.empty()) return;
    residency_.SetPreference(AnyAllocation()->first,
                             static_cast<Preference>(random_() % 3));
  }

  // A device that suddenly has less room, or more.
  void Shrink() {
    const Location where = AnyDevice();
    residency_.SetCapacity(where, (2 + random_() % 7) * 2 * kMiB);
  }

  void Misuse() {
    const Use bad = {uint64_t{7} << 30, 10, Access::kRead};
    EXPECT_FALSE(residency_.Plan(AnyDevice(), {&bad, 1}).ok());
    EXPECT_EQ(residency_.Remove(bad.address).bytes, 0u);
  }

  void Lose() {
    const Location where = AnyDevice();
    for (auto& [segment, bytes] : memory_[where]) Scribble(bytes);
    for (const auto& piece : residency_.Lose(where)) {
      auto& reference = Holder(piece.address)->second;
      const uint64_t offset = piece.address - Holder(piece.address)->first;
      std::fill_n(reference.defined.begin() + offset, piece.bytes, false);
    }
  }

  std::map<uint64_t, Reference>::iterator Holder(uint64_t address) {
    return std::prev(live_.upper_bound(address));
  }

  void Scribble(std::vector<uint8_t>& bytes) {
    for (auto& byte : bytes) byte = static_cast<uint8_t>(byte * 7 + 13);
  }

  // The bytes of a location at an address.
  uint8_t* At(Location where, uint64_t address) {
    if (where == kHost) {
      const auto holder = Holder(address);
      auto& mirror = host_[holder->first];
      mirror.resize(holder->second.bytes.size());
      return mirror.data() + (address - holder->first);
    }
    auto next = memory_[where].upper_bound(address);
    if (next == memory_[where].begin()) return nullptr;
    const auto segment = std::prev(next);
    const uint64_t offset = address - segment->first;
    return offset < segment->second.size() ? &segment->second[offset] : nullptr;
  }

  // False: a fault was injected.
  bool Carry(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const bool fails = random_() % 40 == 0;
      switch (step.kind) {
        case Step::Kind::kMap:
          if (fails) break;
          EXPECT_EQ(memory_[step.to].count(step.address), 0u);
          for (const auto& [start, bytes] : memory_[step.to]) {
            EXPECT_TRUE(step.address + step.bytes <= start ||
                        start + bytes.size() <= step.address);
          }
          memory_[step.to][step.address].assign(step.bytes, 0xcd);
          break;
        case Step::Kind::kUnmap:
          if (fails) break;
          ++evictions_;
          EXPECT_EQ(memory_[step.to].erase(step.address), 1u);
          break;
        case Step::Kind::kTake:
          if (fails) break;
          EXPECT_EQ(memory_[step.to].count(step.address), 0u);
          memory_[step.to][step.address] =
              std::move(memory_[step.from].at(step.address));
          memory_[step.from].erase(step.address);
          break;
        case Step::Kind::kCopy: {
          uint8_t* const from = At(step.from, step.address);
          uint8_t* const to = At(step.to, step.address);
          EXPECT_TRUE(from != nullptr && to != nullptr);
          if (from == nullptr || to == nullptr) return false;
          std::copy_n(from, step.bytes, to);
          if (fails) std::fill_n(to, step.bytes, 0xee);
          break;
        }
      }
      if (fails) {
        ++failures_;
        return false;
      }
      residency_.Done(step);
    }
    return true;
  }

  std::vector<Touched> AnyUses() {
    std::vector<Touched> all;
    const int count = 1 + random_() % 3;
    for (int i = 0; i < count; ++i) {
      const auto picked = AnyAllocation();
      const uint64_t size = picked->second.bytes.size();
      const bool whole = random_() % 2 == 0;
      const uint64_t offset = whole ? 0 : random_() % size;
      const uint64_t bytes = whole ? size : 1 + random_() % (size - offset);
      const auto access = static_cast<Access>(random_() % 3);
      all.push_back({{picked->first + offset, bytes, access},
                     access != Access::kRead});
    }
    return all;
  }

  void CheckRead(Location where, const Use& use) {
    const auto holder = Holder(use.address);
    const Reference& reference = holder->second;
    const uint64_t offset = use.address - holder->first;
    const uint8_t* const bytes = At(where, use.address);
    ASSERT_NE(bytes, nullptr);
    for (uint64_t i = 0; i < use.bytes; ++i) {
      if (!reference.defined[offset + i]) continue;
      ASSERT_EQ(bytes[i], reference.bytes[offset + i])
          << "location " << int{where} << ", byte " << offset + i;
    }
  }

  void Write(Location where, const Use& use) {
    const auto holder = Holder(use.address);
    Reference& reference = holder->second;
    const uint64_t offset = use.address - holder->first;
    uint8_t* const bytes = At(where, use.address);
    ASSERT_NE(bytes, nullptr);
    // Not all of it, unless that was promised.
    const uint64_t stride =
        use.access == Access::kOverwrite ? 1 : 1 + random_() % 3;
    for (uint64_t i = 0; i < use.bytes; i += stride) {
      bytes[i] = static_cast<uint8_t>(random_());
      reference.bytes[offset + i] = bytes[i];
      reference.defined[offset + i] = true;
    }
  }

  void Launch() {
    if (live_.empty()) return;
    const Location where = AnyDevice();
    const std::vector<Touched> touched = AnyUses();
    std::vector<Use> uses;
    for (const Touched& one : touched) uses.push_back(one.use);
    const auto steps = residency_.Plan(where, uses);
    if (!steps.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(steps.status()));
      return;
    }
    if (!Carry(*steps)) return;
    EXPECT_TRUE(residency_.Plan(where, uses)->empty());
    for (const Use& use : uses) {
      if (use.access != Access::kOverwrite) CheckRead(where, use);
    }
    residency_.Touch(where, uses);
    for (const Touched& one : touched) {
      if (!one.writes) continue;
      residency_.Wrote(where, one.use.address, one.use.bytes);
      Write(where, one.use);
    }
    ++launches_;
  }

  void Prefetch() {
    if (live_.empty()) return;
    const Use use = {AnyAllocation()->first, 1, Access::kRead};
    const auto steps = residency_.Plan(AnyDevice(), {&use, 1});
    if (steps.ok()) Carry(*steps);
  }

  void ReadOnHost() {
    if (live_.empty()) return;
    const auto picked = AnyAllocation();
    const Use use = {picked->first, picked->second.bytes.size(), Access::kRead};
    const auto steps = residency_.Plan(kHost, {&use, 1});
    ASSERT_TRUE(steps.ok());
    if (Carry(*steps)) CheckRead(kHost, use);
  }

  std::mt19937_64 random_;
  Arena arena_;
  SegmentHeap heap_{arena_};
  Residency residency_;
  std::vector<uint64_t> capacity_;
  std::map<uint64_t, Reference> live_;
  std::map<uint64_t, std::vector<uint8_t>> host_;  // by allocation
  std::vector<std::map<uint64_t, std::vector<uint8_t>>> memory_;
  uint64_t launches_ = 0, failures_ = 0, evictions_ = 0;
};

TEST(ResidencyModelTest, DevicesSeeWhatWasWrittenLast) {
  const uint64_t first = FromEnvironment("HETGPU_MODEL_SEED", 1);
  const uint64_t steps = FromEnvironment("HETGPU_MODEL_STEPS", 1000);
  uint64_t launches = 0, failures = 0, evictions = 0;
  for (uint64_t seed = first; seed < first + 8; ++seed) {
    SCOPED_TRACE("HETGPU_MODEL_SEED=" + std::to_string(seed));
    Model model(seed);
    for (uint64_t i = 0; i < steps; ++i) {
      model.Step_();
      if (testing::Test::HasFailure()) {
        FAIL() << "at step " << i;
      }
    }
    launches += model.launches();
    failures += model.failures();
    evictions += model.evictions();
  }
  // The run was no trivial one.
  EXPECT_GT(launches, 2 * steps);
  EXPECT_GT(failures, steps / 20);
  EXPECT_GT(evictions, steps / 20);
}

// Threads that carry out plans take turns; others ask meanwhile.
TEST(ResidencyModelTest, ThreadsMayAskAtAnyTime) {
  Residency residency;
  Location locations[3];
  for (Location& location : locations) {
    location = residency.AddLocation({"device", 64 * kMiB, true});
  }
  for (uint64_t i = 1; i <= 8; ++i) {
    residency.Add(i * 4 * kMiB, kMiB, i * 4 * kMiB, 2 * kMiB);
  }
  std::mutex turn;
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int i = 0; i < 500; ++i) {
        const uint64_t address = (1 + random() % 8) * 4 * kMiB;
        const Use use = {address, kMiB, Access::kWrite};
        {
          std::lock_guard lock(turn);
          const std::vector<Step> steps =
              *residency.Plan(locations[t], {&use, 1});
          for (const Step& step : steps) residency.Done(step);
          residency.Wrote(locations[t], address, kMiB);
          EXPECT_EQ(*residency.StateAt(locations[t], address),
                    State::kOwnedDirty);
        }
        EXPECT_TRUE(residency.Find(address, kMiB).ok());
        (void)residency.ResidentBytes(locations[t], address);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hetgpu::memory
