// The server's side of one device that a client uses: the objects the client
// has made, by number, and what each message does to them.
//
//   Serve()   reads messages; answers of the client to waiting queues at once
//   commands  everything that must keep the order of messages
//   control   what takes long and whose reply the client waits for anyway:
//             loading, allocating
#ifndef HETGPU_BACKENDS_REMOTE_SESSION_H_
#define HETGPU_BACKENDS_REMOTE_SESSION_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "backends/remote/channel.h"
#include "backends/remote/server_queue.h"
#include "backends/remote/worker.h"

namespace hetgpu::remote {

// The driver of that name, or why there is none.
using FindDriver =
    std::function<absl::StatusOr<Driver*>(std::string_view name)>;

struct ServerTexture {
  uint64_t bytes = 0;  // of all texels
  std::unique_ptr<Texture> texture;
};

class Session {
 public:
  // `lost` is called when the session finds its device lost.
  Session(UniqueFd socket, FindDriver find_driver, std::function<void()> lost);
  ~Session();

  // Until the client is gone or breaks the protocol; says which.
  absl::Status Serve();
  // Tells the client if its device is lost. Threads: any.
  void CheckLost();

 private:
  template <typename T>
  using Objects = std::map<uint64_t, std::shared_ptr<T>>;

  absl::Status Handle(Frame& frame);
  absl::Status HandleFirst(Frame& frame);
  absl::Status HandleCreateQueue(Frame& frame);

  // Decodes, and has `worker` call On(message, call).
  template <typename Message>
  absl::Status Post(Worker& worker, Frame& frame);
  template <typename Message>
  absl::Status PostToQueue(Frame& frame);
  template <typename Message>
  absl::Status AnswerQueue(const Frame& frame);
  // InvalidArgument when the client never made it.
  template <typename T>
  absl::StatusOr<std::shared_ptr<T>> Find(const Objects<T>& objects,
                                          uint64_t number);
  template <typename Reply>
  void Answer(uint64_t call, const Reply& reply);

  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(Open& message);
  void On(const Allocate& message, uint64_t call);
  void On(const Free& message, uint64_t call);
  void On(const FreeMemory& message, uint64_t call);
  void On(const ExportMemory& message, uint64_t call);
  void On(const Map& message, uint64_t call);
  void On(const Unmap& message, uint64_t call);
  void On(const SetLimit& message, uint64_t call);
  void On(const GetLimit& message, uint64_t call);
  void On(const CooperativeLimit& message, uint64_t call);
  void On(const CreateTexture& message, uint64_t call);
  void On(const WriteTexture& message, uint64_t call);
  void On(const ReadTexture& message, uint64_t call);
  void On(const ReadMemory& message, uint64_t call);
  void On(const LoadModule& message, uint64_t call);
  void On(const SymbolAddress& message, uint64_t call);
  void On(const LoadKernel& message, uint64_t call);
  void On(const Destroy& message, uint64_t call);
  void On(const QueryEvent& message, uint64_t call);
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const LoadKernel& message);
  void MakeQueue(uint64_t number, const UniqueFd& ring, uint64_t call);

  // A command on its queue; with the queue found.
  void Do(ServerQueue& queue, const Launch& message, uint64_t call);
  void Do(ServerQueue& queue, const Record& message, uint64_t call);
  void Do(ServerQueue& queue, const Wait& message, uint64_t call);
  void Do(ServerQueue& queue, const Idle& message, uint64_t call);
  void Do(ServerQueue& queue, const Synchronize& message, uint64_t call);
  void Do(ServerQueue& queue, const Cancel& message, uint64_t call);
  template <typename Message>
  void Do(ServerQueue& queue, const Message& message, uint64_t call) {
    queue.Enqueue(message);
  }
  // The client broke the protocol.
  void Refuse(const absl::Status& status);

  const FindDriver find_driver_;
  const std::function<void()> lost_;
  Channel channel_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> reader_;  // of ReadMemory; of the control worker
  std::atomic<bool> opened_ = false;
  std::mutex lost_mutex_;
  bool told_lost_ = false;  // guarded by lost_mutex_
  std::vector<UniqueFd> handles_;  // for the message that follows

  std::mutex mutex_;  // guards the objects
  Objects<DeviceModule> modules_;
  Objects<ServerKernel> kernels_;
  Objects<ServerQueue> queues_;
  Objects<Event> events_;
  Objects<ServerTexture> textures_;

  std::unique_ptr<Worker> commands_, control_;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_SESSION_H_
