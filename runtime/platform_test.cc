#include "runtime/platform.h"

#include "gmock/gmock.h"
#include "runtime/error.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;
using Answer = absl::StatusOr<std::vector<DeviceInfo>>;

// Gives an answer and counts who wanted it.
class CountingDriver final : public Driver {
 public:
  CountingDriver(const char* name, Answer answer, int* asked)
      : name_(name), answer_(std::move(answer)), asked_(asked) {}

  std::string_view name() const override { return name_; }
  Answer Enumerate() override {
    ++*asked_;
    return answer_;
  }
  absl::StatusOr<std::unique_ptr<hetgpu::Device>> Open(uint32_t) override {
    return absl::UnavailableError("not for this test");
  }

 private:
  const char* name_;
  Answer answer_;
  int* asked_;
};

std::vector<DeviceInfo> Devices(size_t count) {
  return std::vector<DeviceInfo>(count);
}

class PlatformTest : public testing::Test {
 protected:
  void Make(Answer a, Answer b, Answer c) {
    std::vector<std::unique_ptr<Driver>> drivers;
    drivers.push_back(
        std::make_unique<CountingDriver>("a", std::move(a), &asked_[0]));
    drivers.push_back(
        std::make_unique<CountingDriver>("b", std::move(b), &asked_[1]));
    drivers.push_back(
        std::make_unique<CountingDriver>("c", std::move(c), &asked_[2]));
    Environment environment;
    environment.cache_bytes = 0;
    platform_ = *Platform::Create(environment, std::move(drivers));
  }
  std::vector<int> Asked() const { return {asked_, asked_ + 3}; }

  int asked_[3] = {};
  std::unique_ptr<Platform> platform_;
};

TEST_F(PlatformTest, AsksNoFurtherThanNeeded) {
  Make(Devices(1), Devices(2), Devices(1));
  EXPECT_EQ(platform_->backend_count(), 3u);
  EXPECT_EQ(Asked(), std::vector<int>({0, 0, 0}));
  EXPECT_EQ((*platform_->FindDevice("a"))->ordinal(), 0u);
  EXPECT_EQ((*platform_->DeviceAt(0))->ordinal(), 0u);
  EXPECT_EQ(Asked(), std::vector<int>({1, 0, 0}));
  EXPECT_EQ((*platform_->DeviceAt(2))->backend_ordinal(), 1u);
  EXPECT_EQ(Asked(), std::vector<int>({1, 1, 0}));
  EXPECT_EQ(*platform_->DeviceCount(), 4u);
  EXPECT_EQ((*platform_->Backends())->size(), 3u);
  EXPECT_EQ(Asked(), std::vector<int>({1, 1, 1}));
}

TEST_F(PlatformTest, OrdinalsDoNotDependOnWhoWasAsked) {
  Make(Devices(1), absl::UnavailableError("libb.so.1 is missing"), Devices(2));
  EXPECT_EQ((*platform_->FindDevice("c:1"))->ordinal(), 2u);
  EXPECT_EQ((*platform_->DeviceAt(1)), *platform_->FindDevice("c"));
  EXPECT_THAT(std::string(platform_->FindDevice("b").status().message()),
              HasSubstr("libb.so.1 is missing"));
  EXPECT_EQ(ResultOf(platform_->DeviceAt(3).status()),
            HETGPU_ERROR_NO_DEVICE);
}

TEST_F(PlatformTest, WrongVariablesAreNamed) {
  Make(absl::InvalidArgumentError("HETGPU_A=x: expected a number"), Devices(1),
       Devices(1));
  for (const absl::Status& status :
       {platform_->DeviceAt(0).status(), platform_->DeviceCount().status(),
        platform_->FindDevice("b").status(), platform_->Backends().status()}) {
    EXPECT_EQ(ResultOf(status), HETGPU_ERROR_INVALID_ENVIRONMENT);
    EXPECT_THAT(std::string(status.message()), HasSubstr("HETGPU_A=x"));
  }
}

}  // namespace
}  // namespace hetgpu::runtime
