// hetgpu-device-server: a process for devices that must not take their user's
// process along. Started by libhetgpu with two descriptors (protocol.h); of no
// use by hand. Ends when its parent does.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/init.h"
#include "backends/remote/session.h"
#include "backends/remote/worker.h"

namespace hetgpu::remote {
namespace {

class Server {
 public:
  absl::Status Serve() {
    Channel control{UniqueFd(kControlFd)};
    return control.Serve([this](Frame& frame) { return Start(frame); });
  }

 private:
  absl::Status Start(Frame& frame) {
    NewSession message;
    absl::Status decoded = Decode(frame.payload, message);
    if (!decoded.ok()) return decoded;
    if (frame.type != Type::kNewSession || frame.handles.size() != 1) {
      return absl::InvalidArgumentError("not a new session");
    }
    std::thread([this, socket = std::move(frame.handles[0])]() mutable {
      Run(std::move(socket));
    }).detach();
    return absl::OkStatus();
  }

  void Run(UniqueFd socket) {
    Session session(
        std::move(socket),
        [this](std::string_view name) { return FindDriver(name); },
        [this] { CheckAll(); });
    {
      std::lock_guard<std::mutex> lock(mutex_);
      sessions_.insert(&session);
    }
    const absl::Status status = session.Serve();
    if (absl::IsInvalidArgument(status)) {
      std::fprintf(stderr, "hetgpu-device-server: %s\n",
                   std::string(status.message()).c_str());
    }
    std::lock_guard<std::mutex> lock(mutex_);
    sessions_.erase(&session);
  }

  // A kernel that fails can take the devices of all sessions along.
  void CheckAll() {
    checker_.Post([this] {
      std::lock_guard<std::mutex> lock(mutex_);
      for (Session* session : sessions_) session->CheckLost();
    });
  }

  absl::StatusOr<Driver*> FindDriver(std::string_view name) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (drivers_.empty()) drivers_ = CreateDrivers();
    for (const auto& driver : drivers_) {
      if (driver->name() == name) return driver.get();
    }
    return absl::UnavailableError(absl::StrCat(
        "remote: the server has no backend ",
        absl::string_view(name.data(), name.size())));
  }

  std::mutex mutex_;
  std::set<Session*> sessions_;
  std::vector<std::unique_ptr<Driver>> drivers_;
  Worker checker_;
};

// Null when nobody gave us a page.
StatusPage* MapStatusPage() {
  struct stat info = {};
  if (fstat(kStatusPageFd, &info) != 0 ||
      info.st_size < static_cast<off_t>(sizeof(StatusPage))) {
    return nullptr;
  }
  void* const memory = mmap(nullptr, sizeof(StatusPage), PROT_READ | PROT_WRITE,
                            MAP_SHARED, kStatusPageFd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<StatusPage*>(memory);
}

[[noreturn]] void Beat(StatusPage* page) {
  for (;;) {
    __atomic_fetch_add(&page->beats, 1, __ATOMIC_RELAXED);
    std::this_thread::sleep_for(std::chrono::milliseconds(kBeatMs));
  }
}

// Exported memory takes a descriptor for each block.
void AllowManyFiles() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace hetgpu::remote

int main() {
  using namespace hetgpu::remote;
  // What the program had open is none of ours.
  closefrom(kStatusPageFd + 1);
  StatusPage* const page = MapStatusPage();
  if (page == nullptr) {
    std::fprintf(stderr,
                 "hetgpu-device-server is started by libhetgpu, not by hand\n");
    return 2;
  }
  AllowManyFiles();
  // Devices here are opened in this process.
  unsetenv("HETGPU_ISOLATE");
  std::thread(Beat, page).detach();
  (new Server)->Serve().IgnoreError();
  // Nothing is cleaned up: a kernel that does not end would be waited for.
  std::fflush(stdout);
  _exit(0);
}
