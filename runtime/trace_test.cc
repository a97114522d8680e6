#include "runtime/trace.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/error.h"
#include "runtime/testing/fake_driver.h"
#include "runtime/testing/fakes.h"
#include "runtime/traced_queue.h"

namespace hetgpu::runtime {
namespace {

using Json = nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

Json ReadJson(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return Json::parse(text.str());
}

std::vector<std::string> NamesOf(const Json& trace, const char* category) {
  std::vector<std::string> names;
  for (const Json& event : trace) {
    if (event.value("cat", "") == category) names.push_back(event["name"]);
  }
  return names;
}

class TraceTest : public testing::Test {
 protected:
  TraceTest() : path_(FreshFolder() + "/trace.json") {
    auto trace = Trace::Open(path_);
    EXPECT_TRUE(trace.ok()) << trace.status();
    trace_ = *std::move(trace);
  }

  const std::string path_;
  std::unique_ptr<Trace> trace_;
};

TEST_F(TraceTest, SpansCarryPlaceTimeAndArguments) {
  const uint32_t process = trace_->AddProcess("cpu:0");
  const Trace::Track track = trace_->AddTrack(process, "stream");
  const uint64_t now = NowNs();
  trace_->Span(track, "launch", "a \"kernel\"\n", now, now + 2500,
               TraceArgs().Add("grid", "(1,2,3)").Add("bytes", 7));
  EXPECT_TRUE(trace_->Finish().ok());
  const Json trace = ReadJson(path_);
  const Json& span = trace.back();
  EXPECT_EQ(span["ph"], "X");
  EXPECT_EQ(span["name"], "a \"kernel\"\n");
  EXPECT_EQ(span["pid"], process);
  EXPECT_EQ(span["tid"], track.thread);
  EXPECT_DOUBLE_EQ(span["dur"], 2.5);
  EXPECT_EQ(span["args"], Json({{"grid", "(1,2,3)"}, {"bytes", 7}}));
}

TEST_F(TraceTest, ThreadsOfTheHostHaveTracksOfTheirOwn) {
  const Trace::Track mine = trace_->HostTrack();
  Trace::Track other;
  std::thread([&] { other = trace_->HostTrack(); }).join();
  EXPECT_EQ(mine.process, 0u);
  EXPECT_EQ(other.process, 0u);
  EXPECT_NE(mine.thread, other.thread);
  EXPECT_EQ(trace_->HostTrack().thread, mine.thread);
}

TEST_F(TraceTest, ProcessNumberInThePath) {
  const std::string folder = FreshFolder();
  ASSERT_TRUE(Trace::Open(folder + "/t-%p.json").ok());
  const Json trace =
      ReadJson(folder + "/t-" + std::to_string(getpid()) + ".json");
  EXPECT_EQ(trace[0]["args"]["name"], "host");
}

TEST_F(TraceTest, UnwritablePathIsNamed) {
  const auto trace = Trace::Open("/nowhere/trace.json");
  EXPECT_EQ(ResultOf(trace.status()), HETGPU_ERROR_INVALID_ENVIRONMENT);
  EXPECT_THAT(std::string(trace.status().message()),
              HasSubstr("HETGPU_TRACE is \"/nowhere/trace.json\""));
}

TEST_F(TraceTest, AFullDiskIsReportedOnce) {
  auto trace = Trace::Open("/dev/full");
  ASSERT_TRUE(trace.ok()) << trace.status();
  for (int i = 0; i < 10000; ++i) (*trace)->AddProcess("a name");
  const absl::Status status = (*trace)->Finish();
  EXPECT_EQ(std::string(status.message()),
            "HETGPU_TRACE: cannot write /dev/full: No space left on device");
  EXPECT_TRUE((*trace)->Finish().ok());
}

class TracedQueueTest : public TraceTest {
 protected:
  TracedQueueTest() {
    device_ = *CreateFakeDriver()->Open(0);
    queue_ = std::make_unique<TracedQueue>(*trace_, trace_->AddTrack(0, "s"),
                                           *device_, *device_->CreateQueue());
    memory_ = *device_->Allocate(64);
  }

  // Ends when the queue is destroyed, on every path of a test.
  Json Finish() {
    queue_.reset();
    EXPECT_TRUE(trace_->Finish().ok());
    return ReadJson(path_);
  }

  std::unique_ptr<hetgpu::Device> device_;
  std::unique_ptr<TracedQueue> queue_;
  uint64_t memory_ = 0;
};

TEST_F(TracedQueueTest, CommandsBecomeSpansInTheirOrder) {
  char host[64] = "traced";
  ASSERT_TRUE(queue_->CopyToDevice(memory_, host, 32).ok());
  ASSERT_TRUE(queue_->Fill(memory_ + 32, 0, 4, 4).ok());
  ASSERT_TRUE(queue_->CopyFromDevice(host, memory_, 16).ok());
  ASSERT_TRUE(queue_->Synchronize(nullptr).ok());
  EXPECT_STREQ(host, "traced");
  const Json trace = Finish();
  EXPECT_THAT(NamesOf(trace, "copy"),
              ElementsAre("copy to device", "copy from device"));
  EXPECT_THAT(NamesOf(trace, "fill"), ElementsAre("fill"));
  double last = 0;
  for (const Json& event : trace) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["ts"].get<double>(), last);
    EXPECT_GE(event["dur"].get<double>(), 0);
    last = event["ts"].get<double>() + event["dur"].get<double>() - 0.001;
  }
}

TEST_F(TracedQueueTest, FinishingWritesWhatIsDoneOfLiveQueues) {
  ASSERT_TRUE(queue_->Fill(memory_, 0, 4, 4).ok());
  while (!queue_->Idle()) std::this_thread::yield();
  EXPECT_TRUE(trace_->Finish().ok());
  EXPECT_THAT(NamesOf(ReadJson(path_), "fill"), ElementsAre("fill"));
}

}  // namespace
}  // namespace hetgpu::runtime
