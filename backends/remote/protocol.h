// What client and server say to each other: the one definition for both sides.
//
//   control socket   NewSession, one for each device that the client opens
//   session socket   requests →  ← their replies, under the number of the call
//                    commands of queues →           in order, without reply
//                    ← events reached, host functions, data, loss
//
// Bulk data goes through a ring of buffers in memory shared by both, one ring a
// queue; messages say which buffer holds which bytes of which copy. Objects have
// numbers chosen by the client, from 1, used once.
#ifndef HETGPU_BACKENDS_REMOTE_PROTOCOL_H_
#define HETGPU_BACKENDS_REMOTE_PROTOCOL_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "backends/common/driver.h"
#include "hetir/module_info.h"

namespace hetgpu {

// Structures of the driver interface on the wire.
inline auto Fields(Dim3& d) { return std::tie(d.x, d.y, d.z); }
inline auto Fields(LaunchError& e) {
  return std::tie(e.kind, e.kernel, e.block, e.thread, e.has_thread, e.line,
                  e.has_address, e.address, e.detail);
}
inline auto Fields(ParamInfo& p) {
  return std::tie(p.name, p.offset, p.size, p.align, p.type, p.is_array,
                  p.is_pointer);
}
inline auto Fields(KernelInfo& k) {
  return std::tie(k.name, k.params, k.param_bytes, k.static_shared_bytes,
                  k.dynamic_shared_offset, k.uses_dynamic_shared, k.local_bytes,
                  k.max_threads, k.required_threads, k.line, k.refusal);
}
inline auto Fields(Relocation& r) {
  return std::tie(r.offset, r.kind, r.addend, r.function);
}
inline auto Fields(SymbolInfo& s) {
  return std::tie(s.name, s.space, s.offset, s.size, s.align, s.type);
}
inline auto Fields(ModuleInfo& m) {
  return std::tie(m.name, m.ptx_version, m.target, m.kernels, m.symbols,
                  m.relocations, m.data_init, m.data_size, m.data_align);
}
inline auto Fields(MemoryExport::Range& r) {
  return std::tie(r.address, r.bytes);
}
inline auto Fields(TextureDesc& t) {
  return std::tie(t.type, t.channels, t.dimensions, t.width, t.height, t.depth,
                  t.memory, t.pitch, t.address_mode[0], t.address_mode[1],
                  t.address_mode[2], t.filter, t.normalized_coordinates,
                  t.normalized_values, t.border[0], t.border[1], t.border[2],
                  t.border[3]);
}

namespace remote {

// Both sides must speak the same one.
inline constexpr uint32_t kVersion = 5;

// Descriptors that the server finds open.
inline constexpr int kControlFd = 3;
inline constexpr int kStatusPageFd = 4;

// Shared with the server process: that it is not stopped.
struct StatusPage {
  uint64_t beats;  // grows every kBeatMs; accessed atomically
};
inline constexpr uint32_t kBeatMs = 50;

// The ring of a queue.
inline constexpr uint64_t kSlotBytes = uint64_t{4} << 20;
inline constexpr uint32_t kSlots = 4;
// Up to so many bytes go in the message itself when the queue is idle.
inline constexpr uint64_t kInlineBytes = 16 << 10;

// Before each message. The payload follows.
struct FrameHeader {
  uint32_t magic;
  uint32_t bytes;    // of the payload
  uint16_t type;
  uint16_t handles;  // descriptors that came along
  uint32_t zero;
  uint64_t call;     // of a request and of its reply; 0: neither
};
inline constexpr uint32_t kMagic = 0x31524768;  // "hGR1"
inline constexpr uint32_t kMaxPayload = uint32_t{1} << 30;
inline constexpr uint16_t kMaxHandles = 128;
// Of a texture that is written or read: it goes in one message.
inline constexpr uint64_t kMaxTexelBytes = uint64_t{1} << 29;

// Every message, by what its receiver does with it: a new one is a line here,
// its structure below and what it does in the session (On or Do) or the
// connection.
//
// What a queue of the client answers to its server's queue.
#define HETGPU_REMOTE_ANSWERS(M) M(Filled) M(Taken) M(HostFunctionDone)
// Commands and questions of a queue, in the order of messages.
#define HETGPU_REMOTE_QUEUE(M)                                             \
  M(Launch) M(Copy) M(CopyIn) M(CopyOut) M(Fill) M(HostFunction) M(Record) \
  M(Wait) M(Idle) M(Synchronize) M(Cancel)
// The same of the session.
#define HETGPU_REMOTE_COMMANDS(M) M(Destroy) M(QueryEvent)
// What may take long and whose reply the client waits for.
#define HETGPU_REMOTE_CONTROL(M)                                              \
  M(Allocate) M(Free) M(FreeMemory) M(ExportMemory) M(Map) M(Unmap)           \
  M(LoadModule) M(SymbolAddress) M(LoadKernel) M(SetLimit) M(GetLimit)        \
  M(CooperativeLimit) M(CreateTexture) M(WriteTexture) M(ReadTexture)         \
  M(ReadMemory)
// Handled one by one: of the control socket, the first one, those with handles.
#define HETGPU_REMOTE_SPECIAL(M) M(NewSession) M(Handles) M(Open) M(CreateQueue)
#define HETGPU_REMOTE_TO_CLIENT(M) \
  M(EventReached) M(CallHost) M(Need) M(Data) M(Printed) M(Lost)

enum class Type : uint16_t {
  kReply = 1,
#define HETGPU_TYPE(name) k##name,
  HETGPU_REMOTE_SPECIAL(HETGPU_TYPE)
  HETGPU_REMOTE_CONTROL(HETGPU_TYPE)
  HETGPU_REMOTE_COMMANDS(HETGPU_TYPE)
  HETGPU_REMOTE_QUEUE(HETGPU_TYPE)
  HETGPU_REMOTE_ANSWERS(HETGPU_TYPE)
  HETGPU_REMOTE_TO_CLIENT(HETGPU_TYPE)
#undef HETGPU_TYPE
  kMaxType,
};

#define HETGPU_FIELDS(...) \
  auto FieldTuple() { return std::tie(__VA_ARGS__); }
template <typename M>
  requires requires(M& m) { m.FieldTuple(); }
auto Fields(M& message) {
  return message.FieldTuple();
}

// ------------------------------------------------------------------- replies
struct StatusReply {
  absl::Status status;
  HETGPU_FIELDS(status)
};
// `printing`: see Device::CanRedirectPrintf(). `target`: what kernels are
// compiled for, which may say where the memory of that process lies.
struct OpenReply {
  absl::Status status, printing;
  std::string target;
  uint64_t map_granularity = 0;
  HETGPU_FIELDS(status, printing, target, map_granularity)
};
struct NumberReply {
  absl::Status status;
  uint64_t number = 0;
  HETGPU_FIELDS(status, number)
};
struct TextReply {
  absl::Status status;
  std::string text;
  HETGPU_FIELDS(status, text)
};
// The handles of the blocks came before, in Handles messages.
struct MemoryReply {
  absl::Status status;
  std::vector<MemoryExport::Range> reserved, blocks, allocations;
  HETGPU_FIELDS(status, reserved, blocks, allocations)
};
struct SynchronizeReply {
  absl::Status status;
  LaunchError error;
  HETGPU_FIELDS(status, error)
};

// ----------------------------------------------------------------- to server
// With the session's socket; on the control socket.
struct NewSession {
  static constexpr Type kType = Type::kNewSession;
  uint32_t version = kVersion;
  HETGPU_FIELDS(version)
};
// Descriptors for the message that follows; in both directions.
struct Handles {
  static constexpr Type kType = Type::kHandles;
  uint32_t count = 0;
  HETGPU_FIELDS(count)
};
// The first message of a session. Handles of the blocks come before. `arena`:
// for a unified device, the addresses of the client, which the server takes for
// its own.
struct Open {
  static constexpr Type kType = Type::kOpen;
  using Reply = OpenReply;
  uint32_t version = kVersion;
  std::string backend;
  uint32_t ordinal = 0;
  std::vector<MemoryExport::Range> reserved, blocks, allocations;
  MemoryExport::Range arena;
  HETGPU_FIELDS(version, backend, ordinal, reserved, blocks, allocations, arena)
};
struct Allocate {
  static constexpr Type kType = Type::kAllocate;
  using Reply = NumberReply;
  uint64_t bytes = 0;
  HETGPU_FIELDS(bytes)
};
struct Free {
  static constexpr Type kType = Type::kFree;
  using Reply = StatusReply;
  uint64_t address = 0;
  HETGPU_FIELDS(address)
};
struct FreeMemory {
  static constexpr Type kType = Type::kFreeMemory;
  using Reply = NumberReply;
  bool unused = false;
  HETGPU_FIELDS(unused)
};
struct ExportMemory {
  static constexpr Type kType = Type::kExportMemory;
  using Reply = MemoryReply;
  bool unused = false;
  HETGPU_FIELDS(unused)
};
// Memory at addresses that the client chose.
struct Map {
  static constexpr Type kType = Type::kMap;
  using Reply = StatusReply;
  uint64_t address = 0, bytes = 0;
  HETGPU_FIELDS(address, bytes)
};
struct Unmap {
  static constexpr Type kType = Type::kUnmap;
  using Reply = StatusReply;
  uint64_t address = 0, bytes = 0;
  HETGPU_FIELDS(address, bytes)
};
struct SetLimit {
  static constexpr Type kType = Type::kSetLimit;
  using Reply = StatusReply;
  DeviceLimit limit = DeviceLimit::kStackBytes;
  uint64_t bytes = 0;
  HETGPU_FIELDS(limit, bytes)
};
struct GetLimit {
  static constexpr Type kType = Type::kGetLimit;
  using Reply = NumberReply;
  DeviceLimit limit = DeviceLimit::kStackBytes;
  HETGPU_FIELDS(limit)
};
// The number is what kernels take for the texture.
struct CreateTexture {
  static constexpr Type kType = Type::kCreateTexture;
  using Reply = NumberReply;
  uint64_t texture = 0;
  TextureDesc desc;
  HETGPU_FIELDS(texture, desc)
};
// All texels, rows without gaps.
struct WriteTexture {
  static constexpr Type kType = Type::kWriteTexture;
  using Reply = StatusReply;
  uint64_t texture = 0;
  std::string texels;
  HETGPU_FIELDS(texture, texels)
};
struct ReadTexture {
  static constexpr Type kType = Type::kReadTexture;
  using Reply = TextReply;
  uint64_t texture = 0;
  HETGPU_FIELDS(texture)
};
// What lies there now, up to kSlotBytes: no queue of the client's is waited
// for, and no host function is needed.
struct ReadMemory {
  static constexpr Type kType = Type::kReadMemory;
  using Reply = TextReply;
  uint64_t address = 0, bytes = 0;
  HETGPU_FIELDS(address, bytes)
};
// The number is 1 when the device took the source.
struct LoadModule {
  static constexpr Type kType = Type::kLoadModule;
  using Reply = NumberReply;
  uint64_t module = 0;
  ModuleInfo info;
  std::string source;
  HETGPU_FIELDS(module, info, source)
};
struct SymbolAddress {
  static constexpr Type kType = Type::kSymbolAddress;
  using Reply = NumberReply;
  uint64_t module = 0;
  SymbolInfo symbol;
  HETGPU_FIELDS(module, symbol)
};
// From a module, or from an image when `module` is 0. The text explains.
struct LoadKernel {
  static constexpr Type kType = Type::kLoadKernel;
  using Reply = TextReply;
  uint64_t kernel = 0, module = 0;
  KernelInfo info;
  std::string image;
  HETGPU_FIELDS(kernel, module, info, image)
};
// The number is how many such blocks run at the same time.
struct CooperativeLimit {
  static constexpr Type kType = Type::kCooperativeLimit;
  using Reply = NumberReply;
  uint64_t kernel = 0;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  HETGPU_FIELDS(kernel, grid, block, dynamic_shared_bytes)
};
struct Destroy {
  static constexpr Type kType = Type::kDestroy;
  enum class Kind : uint8_t { kModule, kKernel, kQueue, kEvent, kTexture };
  Kind kind = Kind::kModule;
  uint64_t object = 0;
  HETGPU_FIELDS(kind, object)
};
// With the descriptor of its ring.
struct CreateQueue {
  static constexpr Type kType = Type::kCreateQueue;
  using Reply = StatusReply;
  uint64_t queue = 0;
  HETGPU_FIELDS(queue)
};
struct Launch {
  static constexpr Type kType = Type::kLaunch;
  uint64_t queue = 0, kernel = 0;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::string params;
  uint64_t module_data = 0, timeout_ms = 0;
  bool cooperative = false;
  HETGPU_FIELDS(queue, kernel, grid, block, dynamic_shared_bytes, params,
                module_data, timeout_ms, cooperative)
};
struct Copy {
  static constexpr Type kType = Type::kCopy;
  uint64_t queue = 0, dst = 0, src = 0, bytes = 0;
  HETGPU_FIELDS(queue, dst, src, bytes)
};
// From the client: `data`, or, when that is empty, what Need asks for.
struct CopyIn {
  static constexpr Type kType = Type::kCopyIn;
  uint64_t queue = 0, copy = 0, dst = 0, bytes = 0;
  std::string data;
  HETGPU_FIELDS(queue, copy, dst, bytes, data)
};
// To the client, by Data messages.
struct CopyOut {
  static constexpr Type kType = Type::kCopyOut;
  uint64_t queue = 0, copy = 0, src = 0, bytes = 0;
  HETGPU_FIELDS(queue, copy, src, bytes)
};
struct Fill {
  static constexpr Type kType = Type::kFill;
  uint64_t queue = 0, dst = 0, pattern = 0;
  uint32_t pattern_bytes = 0;
  uint64_t count = 0;
  HETGPU_FIELDS(queue, dst, pattern, pattern_bytes, count)
};
struct HostFunction {
  static constexpr Type kType = Type::kHostFunction;
  uint64_t queue = 0, function = 0;
  HETGPU_FIELDS(queue, function)
};
struct Record {
  static constexpr Type kType = Type::kRecord;
  uint64_t queue = 0, event = 0;
  HETGPU_FIELDS(queue, event)
};
struct Wait {
  static constexpr Type kType = Type::kWait;
  uint64_t queue = 0, event = 0;
  HETGPU_FIELDS(queue, event)
};
// The number is when the event was reached, 0: not yet.
struct QueryEvent {
  static constexpr Type kType = Type::kQueryEvent;
  using Reply = NumberReply;
  uint64_t event = 0;
  HETGPU_FIELDS(event)
};
// The number is 1 when idle.
struct Idle {
  static constexpr Type kType = Type::kIdle;
  using Reply = NumberReply;
  uint64_t queue = 0;
  HETGPU_FIELDS(queue)
};
struct Synchronize {
  static constexpr Type kType = Type::kSynchronize;
  using Reply = SynchronizeReply;
  uint64_t queue = 0;
  HETGPU_FIELDS(queue)
};
struct Cancel {
  static constexpr Type kType = Type::kCancel;
  using Reply = StatusReply;
  uint64_t queue = 0;
  HETGPU_FIELDS(queue)
};
// The buffer that was asked for holds its bytes.
struct Filled {
  static constexpr Type kType = Type::kFilled;
  uint64_t queue = 0, use = 0;
  HETGPU_FIELDS(queue, use)
};
// The client has taken the buffer's bytes.
struct Taken {
  static constexpr Type kType = Type::kTaken;
  uint64_t queue = 0, use = 0;
  HETGPU_FIELDS(queue, use)
};
struct HostFunctionDone {
  static constexpr Type kType = Type::kHostFunctionDone;
  uint64_t queue = 0, function = 0;
  HETGPU_FIELDS(queue, function)
};

// ----------------------------------------------------------------- to client
struct EventReached {
  static constexpr Type kType = Type::kEventReached;
  uint64_t event = 0, timestamp_ns = 0;
  HETGPU_FIELDS(event, timestamp_ns)
};
struct CallHost {
  static constexpr Type kType = Type::kCallHost;
  uint64_t queue = 0, function = 0;
  HETGPU_FIELDS(queue, function)
};
// Asks for `bytes` bytes of a copy from `offset` in the buffer of `use`: the
// ring's buffers are used by turns.
struct Need {
  static constexpr Type kType = Type::kNeed;
  uint64_t queue = 0, copy = 0, offset = 0, bytes = 0, use = 0;
  HETGPU_FIELDS(queue, copy, offset, bytes, use)
};
struct Data {
  static constexpr Type kType = Type::kData;
  uint64_t queue = 0, copy = 0, offset = 0, bytes = 0, use = 0;
  HETGPU_FIELDS(queue, copy, offset, bytes, use)
};
struct Printed {
  static constexpr Type kType = Type::kPrinted;
  std::string text;
  HETGPU_FIELDS(text)
};
// The device of the session is lost.
struct Lost {
  static constexpr Type kType = Type::kLost;
  absl::Status status;
  HETGPU_FIELDS(status)
};

}  // namespace remote
}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_REMOTE_PROTOCOL_H_
