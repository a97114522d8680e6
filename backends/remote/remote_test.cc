// The protocol against malformed peers, and devices whose servers die.
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "backends/cpu/driver.h"
#include "backends/remote/channel.h"
#include "backends/remote/device.h"
#include "backends/remote/driver.h"
#include "backends/remote/session.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::remote {
namespace {

using testing::HasSubstr;

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    first = UniqueFd(fds[0]);
    second = UniqueFd(fds[1]);
  }
  UniqueFd first, second;
};

LoadKernel SomeMessage() {
  LoadKernel message;
  message.kernel = 7;
  message.info.name = "k";
  message.info.params.resize(3);
  message.info.params[1].name = "p";
  message.info.max_threads[2] = 9;
  message.info.refusal = absl::UnimplementedError("line 3");
  message.image = std::string("\0image", 6);
  return message;
}

TEST(WireTest, MessagesComeBackAsTheyWere) {
  const LoadKernel sent = SomeMessage();
  LoadKernel got;
  ASSERT_TRUE(Decode(Encode(sent), got).ok());
  EXPECT_EQ(got.kernel, 7u);
  EXPECT_EQ(got.info.params.size(), 3u);
  EXPECT_EQ(got.info.params[1].name, "p");
  EXPECT_EQ(got.info.max_threads[2], 9u);
  EXPECT_EQ(got.info.refusal, sent.info.refusal);
  EXPECT_EQ(got.image, sent.image);
}

TEST(WireTest, EveryCutAndEveryExtensionIsRefused) {
  const std::string bytes = Encode(SomeMessage());
  for (size_t size = 0; size < bytes.size(); ++size) {
    LoadKernel got;
    EXPECT_FALSE(Decode(bytes.substr(0, size), got).ok()) << size;
  }
  LoadKernel got;
  EXPECT_FALSE(Decode(bytes + '\0', got).ok());
  // A length that promises more than there is allocates nothing.
  std::vector<std::string> names;
  Decoder decoder("\xff\xff\xff\x7f");
  decoder.Get(names);
  EXPECT_FALSE(decoder.Done());
  EXPECT_LT(names.capacity(), 10u);
}

TEST(ChannelTest, CarriesMessagesOfAnySizeBothWaysAtOnce) {
  Pair pair;
  Channel a(std::move(pair.first)), b(std::move(pair.second));
  constexpr int kMessages = 200;
  std::atomic<int> at_a = 0, at_b = 0;
  const auto serve = [&](Channel& channel, std::atomic<int>& count) {
    return std::thread([&] {
      (void)channel.Serve([&](Frame& frame) {
        Printed message;
        EXPECT_TRUE(Decode(frame.payload, message).ok());
        EXPECT_EQ(message.text, std::string(frame.call * 1000, 'x'));
        EXPECT_EQ(frame.handles.size(), frame.call % 2);
        ++count;
        return absl::OkStatus();
      });
    });
  };
  std::thread serve_a = serve(a, at_a), serve_b = serve(b, at_b);
  for (int i = 0; i < kMessages; ++i) {
    for (Channel* channel : {&a, &b}) {
      Printed message;
      message.text.assign(i * 1000, 'x');
      std::vector<UniqueFd> handles;
      if (i % 2 == 1) handles.emplace_back(dup(0));
      EXPECT_TRUE(channel->Send(message, i, std::move(handles)).ok());
    }
  }
  while (at_a < kMessages || at_b < kMessages) std::this_thread::yield();
  a.Close();
  serve_a.join();
  serve_b.join();
  EXPECT_TRUE(absl::IsUnavailable(b.Send(Printed())));
}

TEST(ChannelTest, GarbageEndsIt) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    Pair pair;
    Channel channel(std::move(pair.first));
    std::string garbage(1000, '\0');
    for (char& byte : garbage) byte = static_cast<char>(random());
    ASSERT_EQ(write(pair.second.get(), garbage.data(), garbage.size()), 1000);
    const absl::Status ended =
        channel.Serve([](Frame&) { return absl::OkStatus(); });
    EXPECT_TRUE(absl::IsInvalidArgument(ended)) << ended.message();
  }
}

// A session on the CPU, served by a thread.
class SessionTest : public testing::Test {
 protected:
  void Start() {
    Pair pair;
    client_ = std::make_unique<Channel>(std::move(pair.first));
    thread_ = std::thread([this, socket = std::move(pair.second)]() mutable {
      Session session(
          std::move(socket),
          [this](std::string_view name) -> absl::StatusOr<Driver*> {
            if (name == "cpu") return driver_.get();
            return absl::UnavailableError("no such backend");
          },
          [] {});
      ended_ = session.Serve();
    });
  }
  // What the session ended with after the client went away.
  absl::Status End() {
    client_->Close();
    thread_.join();
    return ended_;
  }
  void SendOpen() {
    Open open;
    open.backend = "cpu";
    EXPECT_TRUE(client_->Send(open, 1).ok());
  }

  std::unique_ptr<Driver> driver_ = cpu::CreateDriver();
  std::unique_ptr<Channel> client_;
  std::thread thread_;
  absl::Status ended_;
};

TEST_F(SessionTest, TheFirstMessageMustOpenADevice) {
  Start();
  EXPECT_TRUE(client_->Send(Allocate(), 1).ok());
  thread_.join();
  EXPECT_TRUE(absl::IsInvalidArgument(ended_));
  client_->Close();
}

TEST_F(SessionTest, RandomMessagesHarmNobody) {
  std::mt19937 random(2);
  for (int round = 0; round < 150; ++round) {
    Start();
    SendOpen();
    for (int i = 0; i < 5; ++i) {
      const auto type = static_cast<Type>(
          1 + random() % (static_cast<int>(Type::kMaxType) - 1));
      // Half of them well formed but for objects that are not there.
      std::string payload(random() % 64, '\0');
      if (round % 2 == 0) payload.assign(8 * (1 + random() % 8), '\0');
      for (char& byte : payload) {
        byte = static_cast<char>(round % 2 == 0 ? random() % 3 : random());
      }
      if (!client_->SendFrame(type, i + 2, payload, {}, false).ok()) break;
    }
    (void)End();
  }
}

TEST_F(SessionTest, AnObjectThatIsNotThereEndsTheSession) {
  Start();
  SendOpen();
  remote::Launch launch;
  launch.queue = 99;
  EXPECT_TRUE(client_->Send(launch).ok());
  thread_.join();
  EXPECT_TRUE(absl::IsInvalidArgument(ended_));
  EXPECT_THAT(std::string(ended_.message()), HasSubstr("no object 99"));
  client_->Close();
}

class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    auto driver = Isolate(cpu::CreateDriver());
    auto device = driver->Open(0);
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *std::move(device);
    queue_ = *device_->CreateQueue();
    event_ = *device_->CreateEvent();
    address_ = *device_->Allocate(1 << 20);
  }
  // Work that does not end before the test says so.
  void Block() {
    ASSERT_TRUE(queue_->HostFunction([this] {
      while (!release_) std::this_thread::yield();
    }).ok());
    ASSERT_TRUE(queue_->Fill(address_, 1, 4, 1).ok());
    ASSERT_TRUE(queue_->Record(event_.get()).ok());
  }
  void ExpectLost() {
    const absl::Status failed = queue_->Synchronize(nullptr);
    EXPECT_TRUE(absl::IsAborted(failed)) << failed.message();
    EXPECT_THAT(std::string(failed.message()),
                HasSubstr("work in flight was lost"));
    EXPECT_TRUE(event_->Wait().ok());
    EXPECT_TRUE(queue_->Synchronize(nullptr).ok());
    EXPECT_TRUE(queue_->Idle());
    EXPECT_TRUE(absl::IsUnavailable(device_->Lost()));
    EXPECT_TRUE(absl::IsUnavailable(queue_->Fill(address_, 1, 4, 1)));
    EXPECT_TRUE(absl::IsUnavailable(device_->Allocate(64).status()));
    EXPECT_FALSE(device_->ExportMemory().ok());
    release_ = true;
  }
  pid_t server() {
    return static_cast<RemoteDevice*>(device_.get())->server_pid();
  }

  std::atomic<bool> release_ = false;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Event> event_;
  std::unique_ptr<Queue> queue_;
  uint64_t address_ = 0;
};

TEST_F(ServerTest, ThatIsKilledLosesItsWorkAndSaysSo) {
  Block();
  EXPECT_EQ(kill(server(), SIGKILL), 0);
  ExpectLost();
}

TEST_F(ServerTest, ThatIsStoppedIsEnded) {
  Block();
  EXPECT_EQ(kill(server(), SIGSTOP), 0);
  ExpectLost();
}

TEST_F(ServerTest, ThatIsIdleLosesNoWork) {
  EXPECT_EQ(kill(server(), SIGKILL), 0);
  while (device_->Lost().ok()) std::this_thread::yield();
  EXPECT_TRUE(queue_->Synchronize(nullptr).ok());
}

TEST_F(ServerTest, EventsTellTheTimeThoughNobodyAskedWhetherTheyAreDone) {
  const auto now = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  for (int round = 0; round < 100; ++round) {
    auto begin = *device_->CreateEvent(), end = *device_->CreateEvent();
    EXPECT_EQ(begin->TimestampNs(), 0u);
    const uint64_t start = now();
    ASSERT_TRUE(queue_->Record(begin.get()).ok());
    ASSERT_TRUE(queue_->Fill(address_, 1, 4, 1 << 18).ok());
    ASSERT_TRUE(queue_->Record(end.get()).ok());
    ASSERT_TRUE(queue_->Synchronize(nullptr).ok());
    const uint64_t last = end->TimestampNs();
    EXPECT_GE(begin->TimestampNs(), start);
    EXPECT_GE(last, begin->TimestampNs());
    EXPECT_LE(last, now());
  }
}

TEST_F(ServerTest, CopiesKeepTheirPlaceAmongHostFunctions) {
  const size_t size = (21 << 20) + 3;
  const uint64_t memory = *device_->Allocate(size);
  std::vector<char> in(size, 1), out(size, 0);
  ASSERT_TRUE(queue_->HostFunction([&] { in.assign(size, 2); }).ok());
  ASSERT_TRUE(queue_->CopyToDevice(memory, in.data(), size).ok());
  ASSERT_TRUE(queue_->HostFunction([&] { in.assign(size, 3); }).ok());
  ASSERT_TRUE(queue_->CopyFromDevice(out.data(), memory, size).ok());
  ASSERT_TRUE(queue_->Synchronize(nullptr).ok());
  EXPECT_EQ(out, std::vector<char>(size, 2));
  EXPECT_EQ(in, std::vector<char>(size, 3));
}

TEST(FindServerTest, AProgramThatIsNoServerIsAnError) {
  setenv("HETGPU_DEVICE_SERVER", "/bin/false", 1);
  auto driver = Isolate(cpu::CreateDriver());
  EXPECT_TRUE(absl::IsUnavailable(driver->Open(0).status()));
  setenv("HETGPU_DEVICE_SERVER", "/no/such/file", 1);
  const absl::Status absent = driver->Open(0).status();
  EXPECT_TRUE(absl::IsUnavailable(absent));
  EXPECT_THAT(std::string(absent.message()), HasSubstr("/no/such/file"));
  unsetenv("HETGPU_DEVICE_SERVER");
}

}  // namespace
}  // namespace hetgpu::remote
