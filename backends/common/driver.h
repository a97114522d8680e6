// The run side of a backend: Driver → Device → {memory, Kernel, Queue, Event}.
// Each backend folder implements these five; nothing above backends/ names a
// vendor. Arguments are validated once, above (runtime/): implementations may
// assume non-null handles of their own device, non-zero sizes and address
// ranges that lie in one live allocation, unless a comment says otherwise.
//
// Threads: every method may be called from any thread at any time.
// Errors: absl::Status. Unavailable = library or device absent (with the
// reason); ResourceExhausted = out of memory; a kernel that failed while
// running is reported through LaunchError below.
#ifndef HETGPU_BACKENDS_COMMON_DRIVER_H_
#define HETGPU_BACKENDS_COMMON_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/texture.h"
#include "backends/common/unique_fd.h"
#include "hetir/module_info.h"

namespace hetgpu {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  bool operator==(const Dim3&) const = default;
};

// What a device is and can do; data, not behaviour.
struct DeviceInfo {
  std::string backend;   // "cpu", "cuda", …
  std::string name;      // "AMD EPYC …"
  std::string target;    // what the compile side needs to make code for it; also
                         // part of the JIT cache key, e.g. "x86_64/znver4/+avx2,…"
  uint64_t total_memory = 0;        // bytes
  uint32_t compute_units = 0;       // cores or multiprocessors
  uint32_t warp_size = 32;          // as hetIR sees it
  uint32_t clock_khz = 0;
  Dim3 max_grid = {2147483647u, 65535u, 65535u};
  Dim3 max_block = {1024, 1024, 64};
  uint32_t max_threads_per_block = 1024;
  uint32_t max_shared_per_block = 232448;  // 227 KiB
  bool host_addressable = false;  // host code may dereference device addresses
  bool has_host_pointers = false;  // Device::HostPointer() gives them
  // A host function of a queue may wait for the work of other devices.
  bool host_functions_may_wait = false;
  // Devices with the same number other than 0 share one space of addresses: an
  // address holds the memory of one of them at a time.
  uint32_t address_domain = 0;
};

// Where and why a launch failed.
struct LaunchError {
  enum class Kind : uint8_t {
    kNone,
    kIllegalAddress,
    kMisalignedAddress,
    kTrap,
    kAssert,
    kStackOverflow,
    kDeadlock,
    kTimeout,
    kCancelled,
    kInvalidInstruction,
    kOutOfMemory,
  } kind = Kind::kNone;
  std::string kernel;
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  bool has_thread = false;  // block and thread are known
  uint32_t line = 0;        // of the PTX source, 0 = unknown
  bool has_address = false;  // the address of the failing access is known
  uint64_t address = 0;      // 0 unless it is
  std::string detail;       // assert text and the like
};

// One line for people: "vecadd: illegal address 0x10 at block (0,0,0) thread
// (3,0,0), PTX line 41".
std::string Describe(const LaunchError& error);

// A kernel loaded on a device. Its code stays until destroyed.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // How it will run and why, for --debug-kernel ("fiber: has barriers").
  virtual std::string Explain() const = 0;
};

// What the compile side made of a kernel.
struct KernelImage {
  const KernelInfo* info = nullptr;
  std::string_view bytes;
};

// A module that the device holds as a whole, made from its source by the
// device's own compiler. Its kernels may outlive it.
class DeviceModule {
 public:
  virtual ~DeviceModule() = default;
  // Device address of a variable; NotFound when the compiler left it out. Stays
  // the same for life.
  virtual absl::StatusOr<uint64_t> SymbolAddress(const SymbolInfo& symbol) = 0;
  virtual absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info) = 0;
};

struct LaunchDesc {
  Kernel* kernel = nullptr;   // kept alive by the caller until completion
  const KernelInfo* info = nullptr;  // ditto
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::string params;         // the parameter block, info->param_bytes long
  uint64_t module_data = 0;   // device address of the module's data segment;
                              // 0 for kernels of a DeviceModule
  uint64_t timeout_ms = 0;    // 0 = none
  bool cooperative = false;   // all blocks run at the same time
  // What the kernel may access, for the runtime's unified memory; null: as in
  // `info`.
  const AccessSummary* access = nullptr;
};

// Recorded at most once; the runtime makes a new one for each record. Destroyed
// only after every queue that was given it has passed it.
class Event {
 public:
  virtual ~Event() = default;
  virtual bool Done() const = 0;
  virtual absl::Status Wait() = 0;
  // Nanoseconds of the steady clock at which the event was reached, whether or
  // not Done() was asked. 0: it was not yet, or never recorded.
  virtual uint64_t TimestampNs() const = 0;
};

class Device;

// An in-order queue. Enqueue calls return at once; a failed command makes the
// queue skip every later command until Synchronize() has reported the failure,
// once. Record() is never skipped or dropped: its event is reached all the same
// (also after Cancel()), so that nobody waits forever.
class Queue {
 public:
  virtual ~Queue() = default;  // waits for queued work
  virtual absl::Status Launch(const LaunchDesc& desc) = 0;
  virtual absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) = 0;
  virtual absl::Status CopyToDevice(uint64_t dst, const void* src,
                                    uint64_t bytes) = 0;
  virtual absl::Status CopyFromDevice(void* dst, uint64_t src,
                                      uint64_t bytes) = 0;
  // The same, but may be done in the calling thread, which can be faster: for
  // callers that wait at once.
  virtual absl::Status CopyToDeviceNow(uint64_t dst, const void* src,
                                       uint64_t bytes) {
    return CopyToDevice(dst, src, bytes);
  }
  virtual absl::Status CopyFromDeviceNow(void* dst, uint64_t src,
                                         uint64_t bytes) {
    return CopyFromDevice(dst, src, bytes);
  }
  // Copies from memory of `source`, for which CanAccessPeer() is true. Ordered
  // on this queue alone; `source` lives until the queue has passed it.
  virtual absl::Status CopyPeer(uint64_t dst, Device& source, uint64_t src,
                                uint64_t bytes) {
    return absl::UnimplementedError("this device copies from no other device");
  }
  // Repeats the low `pattern_bytes` (1, 2, 4 or 8) of `pattern`.
  virtual absl::Status Fill(uint64_t dst, uint64_t pattern,
                            uint32_t pattern_bytes, uint64_t count) = 0;
  virtual absl::Status HostFunction(std::function<void()> function) = 0;
  virtual absl::Status Record(Event* event) = 0;
  virtual absl::Status Wait(Event* event) = 0;
  virtual bool Idle() const = 0;
  // Waits for all queued work. On a failed launch: Aborted status whose text is
  // Describe(error), and *error filled when not null.
  virtual absl::Status Synchronize(LaunchError* error) = 0;
  // Stops the running launch and drops queued commands; error kCancelled when a
  // launch was among them.
  virtual void Cancel() = 0;
};

// Device memory in a form that another process can take over.
struct MemoryExport {
  struct Range {
    uint64_t address = 0;
    uint64_t bytes = 0;
  };
  // Stretches of mapped addresses, each with a handle on what is there.
  struct Block {
    Range range;
    UniqueFd handle;
  };
  std::vector<Range> reserved;     // addresses kept free for the device
  std::vector<Block> blocks;       // by address
  std::vector<Range> allocations;  // as given out, each in one block
  bool unified = false;            // as in OpenOptions
};

// A device is lost when nothing can be done with it any more in this process
// because a kernel failed. Its queues then hold no running work: those that had
// some fail once, all of them skip or refuse commands. Its events count as
// reached. Everything else returns Lost().
enum class DeviceLimit {
  kStackBytes,  // of each thread
  kHeapBytes,   // that kernels can allocate
};

class Device {
 public:
  virtual ~Device() = default;
  // OK unless the device is lost; then Unavailable with the reason, for good.
  virtual absl::Status Lost() const { return absl::OkStatus(); }
  // All memory, of a lost device too. Unimplemented where it cannot be.
  virtual absl::StatusOr<MemoryExport> ExportMemory() {
    return absl::UnimplementedError("this device's memory cannot be exported");
  }
  // Of a lost device: ends what may still run there and gives its memory back;
  // what was exported lives on by its handles. Nothing is called afterwards but
  // what reports failures, and destructors.
  virtual void ReleaseLost() {}
  virtual const DeviceInfo& info() const = 0;
  virtual absl::StatusOr<uint64_t> Allocate(uint64_t bytes) = 0;
  virtual absl::Status Free(uint64_t address) = 0;  // start of an allocation
  virtual uint64_t FreeMemory() const = 0;
  // Whether queues of this device copy directly from memory of `other`, a device
  // of any backend.
  virtual bool CanAccessPeer(const Device& other) const { return false; }

  // Memory at an address that the caller took from memory::Arena. All openings
  // of one device in a process see the same memory there.
  //
  // Addresses and sizes are multiples of this; 0: the device, opened as it was,
  // cannot, and the three below are not called.
  virtual uint64_t MapGranularity() const { return 0; }
  // Puts memory of undefined content there. ResourceExhausted when the device
  // has not enough.
  virtual absl::Status Map(uint64_t address, uint64_t bytes) {
    return absl::UnimplementedError("this device maps no chosen addresses");
  }
  // Takes back a whole earlier Map(); nothing may be using it.
  virtual absl::Status Unmap(uint64_t address, uint64_t bytes) {
    return absl::UnimplementedError("this device maps no chosen addresses");
  }
  // Moves a whole mapping with its contents here from a device of the same
  // address domain; nothing may be using it. ResourceExhausted as for Map();
  // after any failure it is still where it was.
  virtual absl::Status TakeMapping(Device& from, uint64_t address,
                                   uint64_t bytes) {
    return absl::UnimplementedError("this device takes no mappings over");
  }
  // Where host code finds what the device has at `address`; null when it cannot.
  virtual void* HostPointer(uint64_t address) const { return nullptr; }
  // Grows whenever the device lost the contents of all its memory.
  virtual uint64_t ContentLosses() const { return 0; }
  // Grows whenever the device lost work in flight, but not its memory: before
  // events of that work count as reached, and queues that had some fail.
  virtual uint64_t WorkLosses() const { return 0; }

  // Lets copies reach this host memory at the full rate, where that takes
  // anything, until it is unregistered or the device is lost.
  virtual absl::Status RegisterHost(void* memory, uint64_t bytes) {
    return absl::OkStatus();
  }
  virtual void UnregisterHost(void* memory) {}
  // The native route: gives the device the module's source. Null where it takes
  // none, or not now; then the runtime holds the data segment
  // and Load() gets an image for each kernel. InvalidArgument, with the device's own messages, or
  // Unimplemented: this source is not taken.
  virtual absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      const ModuleInfo& info, std::string_view source) {
    return nullptr;
  }
  // A kernel from what the compile side made.
  virtual absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info, std::string_view image) = 0;
  // Load() of each, in order. A device with a compiler of its own runs it once
  // for all of them.
  virtual absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> LoadTogether(
      const std::vector<KernelImage>& images) {
    std::vector<std::unique_ptr<Kernel>> kernels;
    for (const KernelImage& image : images) {
      auto kernel = Load(*image.info, image.bytes);
      if (!kernel.ok()) return kernel.status();
      kernels.push_back(*std::move(kernel));
    }
    return kernels;
  }
  virtual absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() = 0;
  virtual absl::StatusOr<std::unique_ptr<Event>> CreateEvent() = 0;
  virtual absl::StatusOr<std::unique_ptr<Texture>> CreateTexture(
      const TextureDesc& desc) {
    return absl::UnimplementedError(info().backend +
                                    ": this device has no textures");
  }
  // How many blocks of such a launch can run at the same time.
  virtual absl::StatusOr<uint64_t> CooperativeLimit(const LaunchDesc& desc) {
    return absl::UnimplementedError(info().backend +
                                    ": this device has no cooperative launches");
  }
  // Unimplemented where the device sizes these by itself.
  virtual absl::Status SetLimit(DeviceLimit limit, uint64_t bytes) {
    return absl::UnimplementedError(info().backend +
                                    ": the device sizes it by itself");
  }
  virtual absl::StatusOr<uint64_t> GetLimit(DeviceLimit limit) {
    return absl::UnimplementedError(info().backend +
                                    ": the device sizes it by itself");
  }
  // Unimplemented where SetPrintf() cannot take what kernels print away from
  // stdout.
  virtual absl::Status CanRedirectPrintf() const { return absl::OkStatus(); }
  // Text that kernels printed goes here, whole messages at a time; default
  // stdout.
  virtual void SetPrintf(std::function<void(std::string_view)> sink) = 0;
};

struct OpenOptions {
  // What the device holds from the start, at the same addresses.
  MemoryExport memory;
  // The process can be ended at any time: what cannot be stopped otherwise makes
  // the device lost, instead of going on beside it.
  bool disposable_process = false;
  // What queues, textures and kernels are given may be addresses of the arena
  // at which Map() put memory, also when those of the device itself lie at a
  // distance: then DeviceInfo::target tells the compile side. Unimplemented
  // where that is not possible.
  bool unified = false;
};

// What took the place of a lost device.
struct Reopened {
  std::unique_ptr<Device> device;
  std::string how;          // "re-opened in a process of its own"
  uint64_t bytes_kept = 0;  // of allocations, with addresses and contents
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual std::string_view name() const = 0;
  // Devices present; Unavailable with the reason when there is none,
  // InvalidArgument alone for an environment variable that means nothing, whose
  // name it says.
  virtual absl::StatusOr<std::vector<DeviceInfo>> Enumerate() = 0;
  virtual absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) = 0;
  // Open() with options; Unimplemented where memory cannot be taken over.
  virtual absl::StatusOr<std::unique_ptr<Device>> OpenWith(
      uint32_t ordinal, OpenOptions options) {
    if (options.memory.blocks.empty()) return Open(ordinal);
    return absl::UnimplementedError("this device takes no memory over");
  }
  // A device with the allocations of `lost`, at their addresses and with their
  // contents; modules, kernels, queues and events must be made again. `lost`
  // then holds no memory. Unavailable when nothing can take its place.
  virtual absl::StatusOr<Reopened> Reopen(uint32_t ordinal, Device& lost) {
    return absl::UnavailableError("this backend opens no lost device again");
  }
};

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_DRIVER_H_
