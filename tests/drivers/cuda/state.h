// The test driver's objects. One mutex guards them all.
#ifndef HETGPU_TESTS_DRIVERS_CUDA_STATE_H_
#define HETGPU_TESTS_DRIVERS_CUDA_STATE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/common/driver.h"
#include "backends/cuda/types.h"
#include "tests/drivers/cuda/loaded_module.h"

namespace hetgpu::cuda {

struct CUctx_st {
  CUdevice device = 0;
  std::map<int, size_t> limits = {{CU_LIMIT_STACK_SIZE, 1024},
                                  {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20}};
};
struct CUstream_st {
  CUcontext context = nullptr;
  std::deque<std::function<CUresult()>> commands;
  bool busy = false;
  bool ending = false;
  std::thread thread;
  std::unique_ptr<Queue> launches;  // used by thread alone
};
struct CUevent_st {
  CUcontext context = nullptr;
  bool timing = true;
  uint64_t last = 0;             // number of the last record, from 1
  std::set<uint64_t> not_reached;  // records; streams reach them in any order
  uint64_t time_ns = 0;          // of the last record, once reached
  bool IsReached() const { return not_reached.count(last) == 0; }
};
struct CUmod_st {
  CUcontext context = nullptr;
  // Launches keep it, so it outlives its handle while kernels run.
  std::shared_ptr<const fake::LoadedModule> loaded;
  bool line_info = false;  // core dumps have the lines of its PTX
  std::map<std::string, CUfunction> functions;
};
struct CUfunc_st {
  CUmodule module = nullptr;
  const KernelInfo* info = nullptr;  // of the module
  std::shared_ptr<Kernel> kernel;
  uint32_t max_dynamic_shared = 48 << 10;
};

namespace fake {

// Every function of the driver, under its exported name: a definition that
// differs from the backend's declaration is another function.
#define SYMBOL(name, exported, params) \
  CUresult name params __asm__(exported) __attribute__((visibility("default")));
#include "backends/cuda/symbols.def"
#undef SYMBOL

struct Mapping {
  uint64_t bytes = 0;
  CUmemGenericAllocationHandle physical = 0;
  std::map<CUdevice, int> access;  // flags
};

struct Physical {
  CUdevice device = 0;
  uint64_t bytes = 0;
  int file = -1;
  bool exportable = false;
  bool released = false;  // lives on while mapped
  int mappings = 0;
};

struct HostRange {
  uint64_t bytes = 0;
  CUcontext context = nullptr;
  bool allocated = false;  // by this driver; else registered
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  bool initialised = false;
  CUresult sticky = CUDA_SUCCESS;
  std::map<std::string, std::pair<int, int>> injected;  // name → result, after
  // Contexts and events are kept when they are destroyed: their handles stay
  // stale, and commands of streams may look at them.
  std::deque<CUctx_st> made_contexts;
  std::deque<CUevent_st> made_events;
  std::set<CUcontext> contexts;
  std::set<CUstream> streams;
  std::set<CUevent> events;
  std::set<CUmodule> modules;
  std::set<CUfunction> functions;
  std::map<uint64_t, uint64_t> reservations;
  std::map<uint64_t, Mapping> mappings;
  std::map<CUmemGenericAllocationHandle, Physical> physical;
  uint64_t next_physical = 1;
  std::map<uint64_t, HostRange> pinned;  // host memory, by start
  std::string dump_path;  // of core dumps
  bool dumps = false;     // they are written
  uint64_t misuses = 0;
  uint64_t launches = 0;
};

inline constexpr uint64_t kGranularity = 2 << 20;
inline constexpr uint32_t kMaxShared = 227 << 10;  // per block
inline constexpr int kMultiprocessors = 4;

int DeviceCount();
uint64_t MemoryBytes();  // of each device
bool CanAccessPeer(CUdevice device, CUdevice peer);

// Where a device's memory lies in this process.
void* HostPointer(CUdevice device, uint64_t address);

State& Get();
std::vector<CUcontext>& ContextStack();  // of this thread

// A call that no correct program makes.
CUresult Misuse(const char* function);
// What an injection or a fault before makes of the call; needs the mutex.
CUresult Enter(const char* function, bool needs_context);
CUcontext CurrentContext();
// Texture objects and arrays; needs the mutex.
uint64_t TextureCount();

// That the device may touch these bytes: of mappings or of the variables of its
// modules; needs the mutex.
bool IsAccessible(CUdevice device, uint64_t address, uint64_t bytes);

// Forgets it and its functions; needs the mutex.
void DropModule(CUmodule module);

// Frees or unpins what the context pinned; needs the mutex.
void DropHostMemory(CUcontext context);

CUresult Push(const char* function, CUstream stream,
              std::function<CUresult()> command);
// The same without looking at the stream.
void Append(CUstream stream, std::function<CUresult()> command);
void EndStream(CUstream stream, std::unique_lock<std::mutex>& lock);

}  // namespace fake
}  // namespace hetgpu::cuda

// Takes the lock and returns from the enclosing function if the call fails.
#define FAKE_ENTER(function, needs_context)                              \
  std::unique_lock<std::mutex> lock(Get().mutex);                        \
  if (const CUresult entered = Enter(function, needs_context);           \
      entered != CUDA_SUCCESS) {                                         \
    return entered;                                                      \
  }

#endif  // HETGPU_TESTS_DRIVERS_CUDA_STATE_H_
