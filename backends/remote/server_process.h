// A process that runs hetgpu-device-server, as its parent sees it.
#ifndef HETGPU_BACKENDS_REMOTE_SERVER_PROCESS_H_
#define HETGPU_BACKENDS_REMOTE_SERVER_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/unique_fd.h"
#include "backends/remote/channel.h"
#include "backends/remote/protocol.h"

namespace hetgpu::remote {

// The executable: HETGPU_DEVICE_SERVER, or where it lies relative to the library
// that holds this code. Unavailable names the places looked at.
absl::StatusOr<std::string> FindServer();

// Threads: any. The process ends with this object.
class ServerProcess {
 public:
  // Unavailable when it cannot be started.
  static absl::StatusOr<std::shared_ptr<ServerProcess>> Start();
  ~ServerProcess();

  // The socket of a new session.
  absl::StatusOr<UniqueFd> NewSession();
  // Ends it at once, with all that runs on its device.
  void Kill();
  // "was ended by signal 9", once it has ended.
  std::string Fate();
  // That its threads run: compare two values some kBeatMs apart.
  uint64_t Beats() const;
  pid_t pid() const { return pid_; }

 private:
  ServerProcess(pid_t pid, UniqueFd control, StatusPage* page);

  const pid_t pid_;
  const UniqueFd process_;  // a pidfd: never another process of that number
  Channel control_;
  StatusPage* const page_;
  std::mutex mutex_;  // guards both below
  bool reaped_ = false;
  int wait_status_ = -1;  // -1: not known
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_SERVER_PROCESS_H_
