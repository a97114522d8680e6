#include "backends/remote/server_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

extern char** environ;

namespace hetgpu::remote {
namespace {

constexpr char kName[] = "hetgpu-device-server";

absl::Status Failed(const char* what, int error) {
  return absl::UnavailableError(
      absl::StrCat("remote: ", what, ": ", std::strerror(error)));
}

// The folder of the library, or program, that this code is in.
std::string OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&OwnFolder), &info) == 0) return ".";
  char* const path = realpath(info.dli_fname, nullptr);
  std::string folder = path == nullptr ? info.dli_fname : path;
  std::free(path);
  return folder.substr(0, folder.rfind('/'));
}

// The child's descriptors: 0 to 2 as they are, and ours.
class SpawnSetup {
 public:
  SpawnSetup(int control, int page) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, control, kControlFd);
    posix_spawn_file_actions_adddup2(&actions_, page, kStatusPageFd);
    posix_spawnattr_init(&attributes_);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    // A group of its own: what is typed at the terminal is for the program.
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF |
                                               POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  int Spawn(const std::string& path, pid_t* pid) {
    char* argv[] = {const_cast<char*>(kName), nullptr};
    return posix_spawn(pid, path.c_str(), &actions_, &attributes_, argv,
                       environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Above the numbers that the child gets, so that no dup2 overwrites another.
UniqueFd MoveUp(UniqueFd fd) {
  return UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, kStatusPageFd + 1));
}

}  // namespace

absl::StatusOr<std::string> FindServer() {
  const char* named = std::getenv("HETGPU_DEVICE_SERVER");
  std::vector<std::string> places;
  if (named != nullptr && *named != '\0') {
    places.push_back(named);
  } else {
    const std::string folder = OwnFolder();
    // Beside lib, beside lib/<architecture>, and where packages without libexec
    // put such programs.
    for (const char* relative :
         {"/../libexec/hetgpu/", "/../../libexec/hetgpu/", "/hetgpu/"}) {
      places.push_back(absl::StrCat(folder, relative, kName));
    }
  }
  for (const std::string& place : places) {
    if (access(place.c_str(), X_OK) == 0) return place;
  }
  return absl::UnavailableError(
      absl::StrCat("remote: no device server at ", absl::StrJoin(places, ", "),
                   " (HETGPU_DEVICE_SERVER names it)"));
}

absl::StatusOr<std::shared_ptr<ServerProcess>> ServerProcess::Start() {
  const absl::StatusOr<std::string> path = FindServer();
  if (!path.ok()) return path.status();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Failed("socketpair", errno);
  }
  UniqueFd ours(sockets[0]), theirs = MoveUp(UniqueFd(sockets[1]));
  UniqueFd page = MoveUp(UniqueFd(memfd_create("hetgpu-status", MFD_CLOEXEC)));
  if (!theirs.valid() || !page.valid() ||
      ftruncate(page.get(), sizeof(StatusPage)) != 0) {
    return Failed("memfd_create", errno);
  }
  void* const memory = mmap(nullptr, sizeof(StatusPage), PROT_READ, MAP_SHARED,
                            page.get(), 0);
  if (memory == MAP_FAILED) return Failed("mmap", errno);
  pid_t pid = 0;
  const int error = SpawnSetup(theirs.get(), page.get()).Spawn(*path, &pid);
  if (error != 0) {
    munmap(memory, sizeof(StatusPage));
    return Failed(path->c_str(), error);
  }
  return std::shared_ptr<ServerProcess>(new ServerProcess(
      pid, std::move(ours), static_cast<StatusPage*>(memory)));
}

ServerProcess::ServerProcess(pid_t pid, UniqueFd control, StatusPage* page)
    : pid_(pid),
      process_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
      control_(std::move(control)),
      page_(page) {}

ServerProcess::~ServerProcess() {
  Kill();
  (void)Fate();
  munmap(page_, sizeof(StatusPage));
}

absl::StatusOr<UniqueFd> ServerProcess::NewSession() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Failed("socketpair", errno);
  }
  UniqueFd ours(sockets[0]);
  std::vector<UniqueFd> handles;
  handles.emplace_back(sockets[1]);
  absl::Status sent =
      control_.Send(remote::NewSession(), 0, std::move(handles));
  if (!sent.ok()) return sent;
  return ours;
}

void ServerProcess::Kill() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (reaped_) return;
  if (process_.valid()) {
    syscall(SYS_pidfd_send_signal, process_.get(), SIGKILL, nullptr, 0);
  } else {
    kill(pid_, SIGKILL);
  }
}

std::string ServerProcess::Fate() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!reaped_) {
    int status = 0;
    const pid_t waited = waitpid(pid_, &status, 0);
    reaped_ = true;
    // The program may have waited for all its children.
    if (waited == pid_) wait_status_ = status;
  }
  if (wait_status_ < 0) return "has ended";
  if (WIFSIGNALED(wait_status_)) {
    return absl::StrCat("was ended by signal ", WTERMSIG(wait_status_));
  }
  return absl::StrCat("ended with code ", WEXITSTATUS(wait_status_));
}

uint64_t ServerProcess::Beats() const {
  return __atomic_load_n(&page_->beats, __ATOMIC_RELAXED);
}

}  // namespace hetgpu::remote
