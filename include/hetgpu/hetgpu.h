/* The C API of hetGPU: one device interface for every vendor's GPU and for
 * CPUs. Programs arrive as PTX text or as `.hetir` containers.
 *
 * Conventions
 *   Names      hetgpuObjectVerb. Outputs are the last parameters; on failure
 *              they are left untouched.
 *   Results    every function that can fail returns hetgpuResult.
 *              hetgpuGetLastErrorDetail() then says what and where, per thread.
 *   Handles    opaque; a null, destroyed or foreign handle gives
 *              HETGPU_ERROR_INVALID_HANDLE, never a crash. Mixing objects of
 *              two contexts in one call gives HETGPU_ERROR_WRONG_CONTEXT.
 *   Ownership  whoever creates destroys. Destroying a context destroys all that
 *              was created from it. Devices and functions are borrowed: never
 *              destroyed by the caller.
 *   Strings    returned `const char*` are UTF-8, never null, and live as long
 *              as the object they were asked of, unless a comment says
 *              otherwise.
 *   Units      bytes, milliseconds (double), kilohertz; names carry the unit
 *              where it could be doubted.
 *   Threads    every function may be called from any thread at any time. Work
 *              on one stream runs in the order enqueued; streams are unordered
 *              among each other unless events say so.
 *   Start      nothing need be called first; the first call initialises.
 *   Structs    those with a `struct_size` field: the caller sets it to
 *              sizeof(the struct); fields past it are not touched, so that
 *              newer libraries serve older programs.
 */
#ifndef HETGPU_HETGPU_H_
#define HETGPU_HETGPU_H_

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define HETGPU_API __declspec(dllexport)
#else
#define HETGPU_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this header: 10000 * major + 100 * minor + patch. */
#define HETGPU_VERSION 100

/* ---------------------------------------------------------------- results */

typedef enum hetgpuResult {
  HETGPU_SUCCESS = 0,
  /* A null output, an unknown enumerator, a zero or overflowing size. */
  HETGPU_ERROR_INVALID_VALUE = 1,
  /* A null, destroyed or foreign handle, or one of another type. */
  HETGPU_ERROR_INVALID_HANDLE = 2,
  /* Objects of two contexts in one call. */
  HETGPU_ERROR_WRONG_CONTEXT = 3,
  /* A HETGPU_… environment variable holds a value that means nothing. */
  HETGPU_ERROR_INVALID_ENVIRONMENT = 4,
  /* The device has not enough free memory. */
  HETGPU_ERROR_OUT_OF_MEMORY = 5,
  /* No device of that name or number; the detail says why if known. */
  HETGPU_ERROR_NO_DEVICE = 6,
  /* Known, but this device or this version cannot do it; named. */
  HETGPU_ERROR_UNSUPPORTED = 7,
  /* No kernel, global or parameter of that name or index. */
  HETGPU_ERROR_NOT_FOUND = 8,
  /* Queried work has not completed. Not a failure. */
  HETGPU_ERROR_NOT_READY = 9,
  /* Should not happen: a defect in hetGPU or a vendor's driver. */
  HETGPU_ERROR_INTERNAL = 10,

  /* Memory. The address is in no allocation of the context, … */
  HETGPU_ERROR_INVALID_ADDRESS = 20,
  /* … was freed before and is freed again, … */
  HETGPU_ERROR_DOUBLE_FREE = 21,
  /* … points inside an allocation where its start is needed, … */
  HETGPU_ERROR_INTERIOR_POINTER = 22,
  /* … lies in an allocation that was freed, … */
  HETGPU_ERROR_USE_AFTER_FREE = 23,
  /* … or the range runs past the end of its allocation. */
  HETGPU_ERROR_OUT_OF_RANGE = 24,

  /* Modules. The file cannot be read. */
  HETGPU_ERROR_FILE_UNREADABLE = 30,
  /* Neither PTX nor a container, or damaged, or refused by the parser. */
  HETGPU_ERROR_INVALID_MODULE = 31,
  /* libhetgpu_compiler.so is missing or does not fit this library. */
  HETGPU_ERROR_COMPILER_UNAVAILABLE = 32,
  /* The compiler refused the kernel; the detail has its message. */
  HETGPU_ERROR_COMPILE_FAILED = 33,

  /* Launches refused before they start. Zero or oversized grid or block, or one
   * that contradicts the kernel's .maxntid or .reqntid. */
  HETGPU_ERROR_INVALID_CONFIGURATION = 40,
  /* More shared memory than the device has per block. */
  HETGPU_ERROR_OUT_OF_RESOURCES = 41,
  /* Wrong number or size of arguments. */
  HETGPU_ERROR_INVALID_ARGUMENTS = 42,
  /* In a unified context: the memory that a command may use does not fit on the
   * device at once, whatever else makes room. */
  HETGPU_ERROR_WORKING_SET_TOO_LARGE = 43,

  /* Launches that failed while running: reported by the next synchronising call
   * on the stream, once. The context stays usable: where the driver gives up the
   * process, the device is re-opened in a process of its own. Allocations then
   * keep their addresses and contents, and handles stay valid; work in flight on
   * other streams is lost and reported by each, events count as reached, and
   * variables of modules that the driver holds are initialised anew (ask for
   * their addresses again). The detail says what was kept and lost. Other
   * contexts of the process on such a device move likewise at their next use.
   * hetgpuGetLastLaunchError() names kernel, block, thread and line. */
  HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS = 60,
  HETGPU_ERROR_LAUNCH_MISALIGNED_ADDRESS = 61,
  HETGPU_ERROR_LAUNCH_TRAP = 62,
  HETGPU_ERROR_LAUNCH_ASSERT = 63,
  HETGPU_ERROR_LAUNCH_STACK_OVERFLOW = 64,
  HETGPU_ERROR_LAUNCH_DEADLOCK = 65,
  HETGPU_ERROR_LAUNCH_TIMEOUT = 66,
  HETGPU_ERROR_LAUNCH_CANCELLED = 67,
  HETGPU_ERROR_LAUNCH_INVALID_INSTRUCTION = 68,
  HETGPU_ERROR_LAUNCH_OUT_OF_MEMORY = 69,
  /* The driver reported a failure that none of the above describes. */
  HETGPU_ERROR_LAUNCH_FAILED = 70
} hetgpuResult;

/* "HETGPU_ERROR_INVALID_VALUE"; "HETGPU_ERROR_UNKNOWN" for other numbers.
 * Static storage. */
HETGPU_API const char* hetgpuResultName(hetgpuResult result);

/* One sentence in lower case without final period. Static storage. */
HETGPU_API const char* hetgpuResultString(hetgpuResult result);

/* What the last failing call of this thread found and what it expected; ""
 * before the first failure. Valid until the next failing call of this
 * thread; successful calls leave it alone. */
HETGPU_API const char* hetgpuGetLastErrorDetail(void);

/* --------------------------------------------------------- initialisation */

/* Finds the backends and checks the environment. Optional; may be repeated.
 * `flags` must be 0. */
HETGPU_API hetgpuResult hetgpuInit(uint32_t flags);

/* HETGPU_VERSION of the library in use. */
HETGPU_API hetgpuResult hetgpuGetVersion(uint32_t* version);

typedef struct hetgpuDim3 {
  uint32_t x, y, z;
} hetgpuDim3;

/* An address in device memory. Host code may dereference it only where the
 * device property host_addressable is 1. 0 is never a valid address. */
typedef uint64_t hetgpuDevicePtr;

typedef struct hetgpuDevice_s* hetgpuDevice;
typedef struct hetgpuContext_s* hetgpuContext;
typedef struct hetgpuModule_s* hetgpuModule;
typedef struct hetgpuFunction_s* hetgpuFunction;
typedef struct hetgpuStream_s* hetgpuStream;
typedef struct hetgpuEvent_s* hetgpuEvent;
typedef struct hetgpuTexture_s* hetgpuTexture;

/* --------------------------------------------------------------- backends */

/* A kind of device this library was built to drive, present here or not. */
typedef struct hetgpuBackendInfo {
  size_t struct_size;      /* in: sizeof(hetgpuBackendInfo) */
  const char* name;        /* "cpu", "cuda", …; static storage */
  uint32_t device_count;   /* devices found */
  uint32_t available;      /* 1 when device_count > 0 */
  const char* reason;      /* why it is absent; "" when available */
} hetgpuBackendInfo;

HETGPU_API hetgpuResult hetgpuBackendCount(uint32_t* count);
/* NOT_FOUND when index >= count. */
HETGPU_API hetgpuResult hetgpuBackendGetInfo(uint32_t index,
                                             hetgpuBackendInfo* info);

/* ---------------------------------------------------------------- devices */

typedef struct hetgpuDeviceProperties {
  size_t struct_size;            /* in: sizeof(hetgpuDeviceProperties) */
  const char* name;              /* as the vendor calls it */
  const char* backend;           /* "cpu" */
  const char* target;            /* what code is made for, in its words */
  uint32_t ordinal;              /* among all devices */
  uint32_t backend_ordinal;      /* among those of its backend: cpu:0 */
  uint64_t total_memory;         /* bytes */
  uint32_t compute_units;        /* cores or multiprocessors */
  uint32_t warp_size;            /* threads that run in step: 32 */
  uint32_t clock_khz;            /* 0 = unknown */
  uint32_t max_threads_per_block;
  hetgpuDim3 max_grid;           /* blocks */
  hetgpuDim3 max_block;          /* threads */
  uint32_t max_shared_per_block; /* bytes, static plus dynamic */
  uint32_t host_addressable;     /* 1: host may dereference device addresses */
} hetgpuDeviceProperties;

typedef enum hetgpuDeviceProperty {
  HETGPU_DEVICE_ORDINAL = 0,
  HETGPU_DEVICE_BACKEND_ORDINAL = 1,
  HETGPU_DEVICE_TOTAL_MEMORY = 2,
  HETGPU_DEVICE_COMPUTE_UNITS = 3,
  HETGPU_DEVICE_WARP_SIZE = 4,
  HETGPU_DEVICE_CLOCK_KHZ = 5,
  HETGPU_DEVICE_MAX_THREADS_PER_BLOCK = 6,
  HETGPU_DEVICE_MAX_GRID_X = 7,
  HETGPU_DEVICE_MAX_GRID_Y = 8,
  HETGPU_DEVICE_MAX_GRID_Z = 9,
  HETGPU_DEVICE_MAX_BLOCK_X = 10,
  HETGPU_DEVICE_MAX_BLOCK_Y = 11,
  HETGPU_DEVICE_MAX_BLOCK_Z = 12,
  HETGPU_DEVICE_MAX_SHARED_PER_BLOCK = 13,
  HETGPU_DEVICE_HOST_ADDRESSABLE = 14
} hetgpuDeviceProperty;

/* Devices present over all backends, numbered 0 … count - 1. 0 is no error. */
HETGPU_API hetgpuResult hetgpuDeviceCount(uint32_t* count);
/* NO_DEVICE when ordinal >= count. */
HETGPU_API hetgpuResult hetgpuDeviceGet(uint32_t ordinal,
                                        hetgpuDevice* device);
/* `name` is "cpu" (the first device of that backend) or "cpu:1". NO_DEVICE when
 * absent (the detail has the backend's reason) or no backend is called so. */
HETGPU_API hetgpuResult hetgpuDeviceGetByName(const char* name,
                                              hetgpuDevice* device);
HETGPU_API hetgpuResult
hetgpuDeviceGetProperties(hetgpuDevice device,
                          hetgpuDeviceProperties* properties);
HETGPU_API hetgpuResult hetgpuDeviceGetProperty(hetgpuDevice device,
                                                hetgpuDeviceProperty property,
                                                uint64_t* value);

/* --------------------------------------------------------------- contexts */

/* The context shares its memory with all contexts that have this flag, on
 * whatever devices: an allocation made through one is valid in all, at the same
 * address, and may be freed through any. Every launch, copy and fill finds what
 * was written by those enqueued before it in other contexts, and waits for them;
 * streams of one context are ordered by events, as always. More may be allocated
 * than a device holds: what was not used lately gives way. An allocation lives
 * until it is freed or the last such context is destroyed. Modules and their
 * variables belong to their context, and in-kernel malloc to its device; pointers
 * to either mean nothing elsewhere. Contexts on one device share one opening of
 * it: its hetgpuContextSetPrintf is for all of them. UNSUPPORTED where a device
 * cannot have memory at the addresses of the process. */
#define HETGPU_CONTEXT_UNIFIED 1u

/* A context owns memory, modules, streams and events on one device. There is no
 * current context: every call names its own. Addresses of one context mean
 * nothing in another, but for those of unified contexts. `flags` is 0 or
 * HETGPU_CONTEXT_UNIFIED. */
HETGPU_API hetgpuResult hetgpuContextCreate(hetgpuDevice device,
                                            uint32_t flags,
                                            hetgpuContext* context);
/* Waits for work in flight, then frees everything the context owns. Failures
 * not yet reported are dropped. A kernel that never ends must be cancelled
 * first. */
HETGPU_API hetgpuResult hetgpuContextDestroy(hetgpuContext context);
HETGPU_API hetgpuResult hetgpuContextGetDevice(hetgpuContext context,
                                               hetgpuDevice* device);
/* The stream that synchronous copies use and that a null stream stands for.
 * Owned by the context: INVALID_VALUE when destroyed by the caller. */
HETGPU_API hetgpuResult hetgpuContextGetDefaultStream(hetgpuContext context,
                                                      hetgpuStream* stream);
/* Waits for all streams. Returns the first failure not yet reported. */
HETGPU_API hetgpuResult hetgpuContextSynchronize(hetgpuContext context);

typedef enum hetgpuLimit {
  /* A launch that runs longer fails with LAUNCH_TIMEOUT; 0 = none (default).
   * Applies to launches enqueued afterwards. */
  HETGPU_LIMIT_LAUNCH_TIMEOUT_MS = 0,
  /* Bytes of call stack per thread. */
  HETGPU_LIMIT_STACK_BYTES = 1,
  /* Bytes that device-side malloc may hand out. */
  HETGPU_LIMIT_HEAP_BYTES = 2,
  /* Unified contexts: bytes of unified memory that their device holds at most,
   * for all contexts on it; 0 = what it has (default, or HETGPU_RESIDENT_LIMIT).
   * What is there already leaves when room is needed. */
  HETGPU_LIMIT_RESIDENT_BYTES = 3
} hetgpuLimit;

/* UNSUPPORTED where the device has no such limit. */
HETGPU_API hetgpuResult hetgpuContextSetLimit(hetgpuContext context,
                                              hetgpuLimit limit,
                                              uint64_t value);
HETGPU_API hetgpuResult hetgpuContextGetLimit(hetgpuContext context,
                                              hetgpuLimit limit,
                                              uint64_t* value);

/* Receives what kernels print, whole messages at a time, on any thread, one
 * call at a time. `text` is not terminated and valid during the call only. The
 * callback must not call into the same context. */
typedef void (*hetgpuPrintfCallback)(void* user, const char* text, size_t size);

/* UNSUPPORTED for a callback where the device prints to standard output by
 * itself. Null restores the default, standard output. Messages in flight may still go
 * to the previous callback until the context has been synchronised. */
HETGPU_API hetgpuResult hetgpuContextSetPrintf(hetgpuContext context,
                                               hetgpuPrintfCallback callback,
                                               void* user);

/* ----------------------------------------------------------------- memory */

/* `bytes` > 0, else INVALID_VALUE. Content is undefined. Addresses are aligned
 * to 256 bytes. */
HETGPU_API hetgpuResult hetgpuMemAlloc(hetgpuContext context, uint64_t bytes,
                                       hetgpuDevicePtr* address);
/* Waits for work in flight on the context (its failures stay to be reported by
 * their streams). Address 0 is accepted and does nothing. */
HETGPU_API hetgpuResult hetgpuMemFree(hetgpuContext context,
                                      hetgpuDevicePtr address);

/* Synchronous copies: run on the default stream, after what it holds, and
 * return when done; a failed launch on that stream is reported here. Device
 * ranges must lie in one allocation (or module global). 0 bytes does nothing.
 * DtoD ranges must not overlap (INVALID_VALUE). */
HETGPU_API hetgpuResult hetgpuMemCopyHtoD(hetgpuContext context,
                                          hetgpuDevicePtr dst, const void* src,
                                          uint64_t bytes);
HETGPU_API hetgpuResult hetgpuMemCopyDtoH(hetgpuContext context, void* dst,
                                          hetgpuDevicePtr src, uint64_t bytes);
HETGPU_API hetgpuResult hetgpuMemCopyDtoD(hetgpuContext context,
                                          hetgpuDevicePtr dst,
                                          hetgpuDevicePtr src, uint64_t bytes);

/* The same on a stream (not null), returning at once. Host memory must stay
 * valid and untouched until the stream has passed the copy. */
HETGPU_API hetgpuResult hetgpuMemCopyHtoDAsync(hetgpuDevicePtr dst,
                                               const void* src, uint64_t bytes,
                                               hetgpuStream stream);
HETGPU_API hetgpuResult hetgpuMemCopyDtoHAsync(void* dst, hetgpuDevicePtr src,
                                               uint64_t bytes,
                                               hetgpuStream stream);
HETGPU_API hetgpuResult hetgpuMemCopyDtoDAsync(hetgpuDevicePtr dst,
                                               hetgpuDevicePtr src,
                                               uint64_t bytes,
                                               hetgpuStream stream);

/* Writes `count` times the low `pattern_bytes` (1, 2, 4 or 8) of `pattern`,
 * little endian. `dst` must be aligned to pattern_bytes. */
HETGPU_API hetgpuResult hetgpuMemFill(hetgpuContext context,
                                      hetgpuDevicePtr dst, uint64_t pattern,
                                      uint32_t pattern_bytes, uint64_t count);
HETGPU_API hetgpuResult hetgpuMemFillAsync(hetgpuDevicePtr dst,
                                           uint64_t pattern,
                                           uint32_t pattern_bytes,
                                           uint64_t count,
                                           hetgpuStream stream);

/* Host memory that copies reach at the full rate, aligned to 4096 bytes; `bytes`
 * > 0. It belongs to the context, which frees it at last. */
HETGPU_API hetgpuResult hetgpuHostAlloc(hetgpuContext context, uint64_t bytes,
                                        void** memory);
/* Waits for work in flight on the context. Null does nothing; INVALID_ADDRESS
 * for anything else that hetgpuHostAlloc has not given. */
HETGPU_API hetgpuResult hetgpuHostFree(hetgpuContext context, void* memory);
/* Makes the same of memory that the caller has, until it is unregistered or the
 * context destroyed, before which it must not be freed. INVALID_VALUE when it
 * overlaps what the context has registered or allocated. Takes about 50
 * milliseconds per gigabyte: worth it for memory that is copied often. */
HETGPU_API hetgpuResult hetgpuHostRegister(hetgpuContext context, void* memory,
                                           uint64_t bytes);
/* Waits like hetgpuHostFree. INVALID_ADDRESS when `memory` is not the start of
 * registered memory. */
HETGPU_API hetgpuResult hetgpuHostUnregister(hetgpuContext context,
                                             void* memory);

/* Hints about whole allocations; they never change results, but for two promises
 * in unified contexts. READ_ONLY: kernels that were not given the address as an
 * argument, but find it in memory, do not write there. WRITE_FIRST: a launch
 * that may write there writes all of it before reading any, so its old content
 * is not brought to the device. PREFER_DEVICE and PREFER_HOST: gives way later
 * or sooner when a device is full. */
typedef enum hetgpuMemAdvice {
  HETGPU_MEM_ADVICE_NONE = 0,             /* forget earlier advice */
  HETGPU_MEM_ADVICE_READ_ONLY = 1,        /* kernels only read it */
  HETGPU_MEM_ADVICE_WRITE_FIRST = 2,      /* written before it is read */
  HETGPU_MEM_ADVICE_PREFER_DEVICE = 3,
  HETGPU_MEM_ADVICE_PREFER_HOST = 4
} hetgpuMemAdvice;

/* `address` is the start of an allocation, or inside one. */
HETGPU_API hetgpuResult hetgpuMemAdvise(hetgpuContext context,
                                        hetgpuDevicePtr address,
                                        hetgpuMemAdvice advice);

typedef struct hetgpuMemAttributes {
  size_t struct_size;      /* in: sizeof(hetgpuMemAttributes) */
  hetgpuDevicePtr base;    /* start of the allocation */
  uint64_t size;           /* bytes asked for */
  hetgpuDevice device;
  hetgpuMemAdvice advice;
  uint32_t is_module_data; /* 1: a module's global data, not freeable */
  uint32_t is_unified;     /* 1: shared by all unified contexts */
  uint64_t resident_bytes; /* whose newest content is on the context's device */
} hetgpuMemAttributes;

/* Of the allocation that holds `address`. */
HETGPU_API hetgpuResult hetgpuMemGetAttributes(hetgpuContext context,
                                               hetgpuDevicePtr address,
                                               hetgpuMemAttributes* attributes);
/* Brings the range to the context's device (asynchronous: that of `stream`, in
 * its order), so that later commands need not wait for it. Does nothing outside
 * of unified contexts, where memory is always there. */
HETGPU_API hetgpuResult hetgpuMemPrefetch(hetgpuContext context,
                                          hetgpuDevicePtr address,
                                          uint64_t bytes);
HETGPU_API hetgpuResult hetgpuMemPrefetchAsync(hetgpuDevicePtr address,
                                               uint64_t bytes,
                                               hetgpuStream stream);
/* Bytes on the context's device, now. */
HETGPU_API hetgpuResult hetgpuMemGetInfo(hetgpuContext context,
                                         uint64_t* free_bytes,
                                         uint64_t* total_bytes);

/* ---------------------------------------------------------------- modules */

/* Reads PTX text (need not be terminated) or a `.hetir` container; which one is
 * seen from the bytes. `name` (null = "<memory>") appears in messages. The
 * bytes are copied. Module data is allocated and initialised; kernels compile
 * when first launched or prepared. Kernels that use something unsupported are
 * refused one by one: the others run. */
HETGPU_API hetgpuResult hetgpuModuleLoadData(hetgpuContext context,
                                             const void* data, size_t size,
                                             const char* name,
                                             hetgpuModule* module);
HETGPU_API hetgpuResult hetgpuModuleLoadFile(hetgpuContext context,
                                             const char* path,
                                             hetgpuModule* module);
/* Waits for work in flight on the context; its functions become invalid. */
HETGPU_API hetgpuResult hetgpuModuleUnload(hetgpuModule module);

/* Kernels in order of definition. */
HETGPU_API hetgpuResult hetgpuModuleGetKernelCount(hetgpuModule module,
                                                   uint32_t* count);
HETGPU_API hetgpuResult hetgpuModuleGetKernelName(hetgpuModule module,
                                                  uint32_t index,
                                                  const char** name);
/* The same handle for every call with the same name. NOT_FOUND lists the names
 * there are. Succeeds for refused kernels too: see
 * HETGPU_FUNCTION_TEXT_REFUSAL. */
HETGPU_API hetgpuResult hetgpuModuleGetFunction(hetgpuModule module,
                                                const char* name,
                                                hetgpuFunction* function);
/* Compiles all kernels at the same time and loads them together, which takes
 * less than hetgpuFunctionPrepare for one after the other. Refused kernels are
 * left out. COMPILE_FAILED names the first kernel that does not compile; the
 * others are prepared, unless the device cannot load them. */
HETGPU_API hetgpuResult hetgpuModulePrepare(hetgpuModule module);

/* Element types as declared. */
typedef enum hetgpuType {
  HETGPU_TYPE_B8 = 0,
  HETGPU_TYPE_B16 = 1,
  HETGPU_TYPE_B32 = 2,
  HETGPU_TYPE_B64 = 3,
  HETGPU_TYPE_B128 = 4,
  HETGPU_TYPE_U8 = 5,
  HETGPU_TYPE_U16 = 6,
  HETGPU_TYPE_U32 = 7,
  HETGPU_TYPE_U64 = 8,
  HETGPU_TYPE_S8 = 9,
  HETGPU_TYPE_S16 = 10,
  HETGPU_TYPE_S32 = 11,
  HETGPU_TYPE_S64 = 12,
  HETGPU_TYPE_F16 = 13,
  HETGPU_TYPE_BF16 = 14,
  HETGPU_TYPE_F32 = 15,
  HETGPU_TYPE_F64 = 16
} hetgpuType;

/* "u32", "f64", …; "?" for other numbers. Static storage. */
HETGPU_API const char* hetgpuTypeName(hetgpuType type);
/* Bytes; 0 for other numbers. */
HETGPU_API uint32_t hetgpuTypeSize(hetgpuType type);

/* A module-scope variable: `.global` or `.const`. */
typedef struct hetgpuGlobalInfo {
  size_t struct_size;      /* in: sizeof(hetgpuGlobalInfo) */
  const char* name;
  hetgpuDevicePtr address;
  uint64_t size;           /* bytes */
  uint32_t align;          /* bytes */
  hetgpuType type;         /* of one element */
  uint32_t is_const;       /* 1: `.const` */
} hetgpuGlobalInfo;

/* Either output may be null. */
HETGPU_API hetgpuResult hetgpuModuleGetGlobal(hetgpuModule module,
                                              const char* name,
                                              hetgpuDevicePtr* address,
                                              uint64_t* size);
/* Globals in order of declaration. */
HETGPU_API hetgpuResult hetgpuModuleGetGlobalCount(hetgpuModule module,
                                                   uint32_t* count);
HETGPU_API hetgpuResult hetgpuModuleGetGlobalInfo(hetgpuModule module,
                                                  uint32_t index,
                                                  hetgpuGlobalInfo* info);

/* -------------------------------------------------------------- functions */

typedef struct hetgpuParameterInfo {
  size_t struct_size;    /* in: sizeof(hetgpuParameterInfo) */
  const char* name;      /* as in the source */
  uint32_t offset;       /* bytes from the start of the parameter block */
  uint32_t size;         /* bytes */
  uint32_t align;        /* bytes, a power of two */
  hetgpuType type;       /* of one element */
  uint32_t is_array;     /* 1: a struct or array by value */
  uint32_t is_pointer;   /* 1: declared a pointer, or a 64-bit integer that may
                            hold an address */
} hetgpuParameterInfo;

HETGPU_API hetgpuResult hetgpuFunctionGetParameterCount(hetgpuFunction function,
                                                        uint32_t* count);
HETGPU_API hetgpuResult
hetgpuFunctionGetParameter(hetgpuFunction function, uint32_t index,
                           hetgpuParameterInfo* info);

typedef enum hetgpuFunctionAttribute {
  HETGPU_FUNCTION_PARAM_BYTES = 0,          /* size of the parameter block */
  HETGPU_FUNCTION_STATIC_SHARED_BYTES = 1,
  HETGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 2, /* on this device */
  HETGPU_FUNCTION_USES_DYNAMIC_SHARED = 3,  /* 1: has `extern .shared` */
  HETGPU_FUNCTION_LOCAL_BYTES = 4,          /* per thread, declared */
  HETGPU_FUNCTION_MAX_THREADS_PER_BLOCK = 5,
  HETGPU_FUNCTION_REQUIRED_BLOCK_X = 6,     /* .reqntid, 0 = not given */
  HETGPU_FUNCTION_REQUIRED_BLOCK_Y = 7,
  HETGPU_FUNCTION_REQUIRED_BLOCK_Z = 8,
  HETGPU_FUNCTION_SOURCE_LINE = 9,          /* of the definition, 0 = unknown */
  HETGPU_FUNCTION_IS_PREPARED = 10,         /* 1: compiled and loaded */
  HETGPU_FUNCTION_IMAGE_BYTES = 11          /* machine code; 0 = not prepared */
} hetgpuFunctionAttribute;

HETGPU_API hetgpuResult
hetgpuFunctionGetAttribute(hetgpuFunction function,
                           hetgpuFunctionAttribute attribute, uint64_t* value);

typedef enum hetgpuFunctionText {
  HETGPU_FUNCTION_TEXT_NAME = 0,
  /* Why the kernel cannot run, with line and column; "" when it can. */
  HETGPU_FUNCTION_TEXT_REFUSAL = 1,
  /* How it will run on this device and why; prepares the function. */
  HETGPU_FUNCTION_TEXT_EXPLANATION = 2
} hetgpuFunctionText;

HETGPU_API hetgpuResult hetgpuFunctionGetText(hetgpuFunction function,
                                              hetgpuFunctionText which,
                                              const char** text);

/* Compiles (or takes from the cache) and loads now instead of at the first
 * launch. Threads that ask at once share one compilation. */
HETGPU_API hetgpuResult hetgpuFunctionPrepare(hetgpuFunction function);

/* ---------------------------------------------------------------- launches */

/* Enqueues a kernel and returns at once (after compiling it, the first time).
 * `grid` counts blocks, `block` threads, `shared_bytes` is dynamic shared
 * memory. `stream` null is the default stream of the function's context. `args`
 * has one pointer per parameter, each to a value of that parameter's size; they
 * are read before the call returns. May be null when there are no parameters.
 */
HETGPU_API hetgpuResult hetgpuLaunchKernel(hetgpuFunction function,
                                           hetgpuDim3 grid, hetgpuDim3 block,
                                           uint32_t shared_bytes,
                                           hetgpuStream stream, void** args);

/* The same with all blocks running at the same time, so that they may wait for
 * each other. OUT_OF_RESOURCES when the device cannot run that many at once,
 * UNSUPPORTED where it has no such launches. */
HETGPU_API hetgpuResult hetgpuLaunchCooperativeKernel(
    hetgpuFunction function, hetgpuDim3 grid, hetgpuDim3 block,
    uint32_t shared_bytes, hetgpuStream stream, void** args);
/* How many blocks of this shape the device can run at once; prepares the
 * function. */
HETGPU_API hetgpuResult hetgpuFunctionGetMaxCooperativeBlocks(
    hetgpuFunction function, hetgpuDim3 block, uint32_t shared_bytes,
    uint64_t* blocks);

/* Of hetgpuLaunchKernel with the parameter block itself: `bytes` must be
 * HETGPU_FUNCTION_PARAM_BYTES and parameters lie at their offsets. Read before
 * the call returns. */
HETGPU_API hetgpuResult hetgpuLaunchKernelPacked(hetgpuFunction function,
                                                 hetgpuDim3 grid,
                                                 hetgpuDim3 block,
                                                 uint32_t shared_bytes,
                                                 hetgpuStream stream,
                                                 const void* params,
                                                 size_t bytes);

/* Where and why a launch failed. */
typedef struct hetgpuLaunchErrorInfo {
  size_t struct_size;     /* in: sizeof(hetgpuLaunchErrorInfo) */
  hetgpuResult kind;      /* HETGPU_ERROR_LAUNCH_…; SUCCESS when none */
  uint32_t has_thread;    /* 1: block and thread are known */
  hetgpuDim3 block;
  hetgpuDim3 thread;
  uint32_t line;          /* of the PTX source, 0 = unknown */
  hetgpuDevicePtr address; /* of the failing access, 0 = none or unknown */
  const char* kernel;     /* "" when unknown */
  const char* text;       /* the whole story in one line */
} hetgpuLaunchErrorInfo;

/* The launch failure most recently reported to this thread (by the call that
 * returned HETGPU_ERROR_LAUNCH_…). Its strings live until the next one. */
HETGPU_API hetgpuResult hetgpuGetLastLaunchError(hetgpuLaunchErrorInfo* info);

/* ---------------------------------------------------------------- streams */

/* An in-order queue. `flags` must be 0. */
HETGPU_API hetgpuResult hetgpuStreamCreate(hetgpuContext context,
                                           uint32_t flags,
                                           hetgpuStream* stream);
/* Waits for work in flight; failures not yet reported are dropped. */
HETGPU_API hetgpuResult hetgpuStreamDestroy(hetgpuStream stream);
/* Waits. After a failed launch everything behind it was skipped; the failure is
 * returned once and the stream is usable again. */
HETGPU_API hetgpuResult hetgpuStreamSynchronize(hetgpuStream stream);
/* SUCCESS when all is done, NOT_READY while not, or the failure. */
HETGPU_API hetgpuResult hetgpuStreamQuery(hetgpuStream stream);
/* Stops the running launch and drops what is queued; the next synchronising
 * call returns LAUNCH_CANCELLED if a launch was among it. Does not wait. */
HETGPU_API hetgpuResult hetgpuStreamCancel(hetgpuStream stream);
/* Later work on `stream` waits until `event`, as last recorded, is reached. An
 * event never recorded does not hold anything up. */
HETGPU_API hetgpuResult hetgpuStreamWaitEvent(hetgpuStream stream,
                                              hetgpuEvent event);
/* `function(user)` runs on a thread of the library once earlier work is done,
 * before later work starts. It must not call what waits for this stream, such
 * as hetgpuMemFree on its context. */
typedef void (*hetgpuHostFunction)(void* user);
HETGPU_API hetgpuResult hetgpuStreamHostFunction(hetgpuStream stream,
                                                 hetgpuHostFunction function,
                                                 void* user);
HETGPU_API hetgpuResult hetgpuStreamGetContext(hetgpuStream stream,
                                               hetgpuContext* context);

/* ----------------------------------------------------------------- events */

/* `flags` must be 0. */
HETGPU_API hetgpuResult hetgpuEventCreate(hetgpuContext context,
                                          uint32_t flags, hetgpuEvent* event);
HETGPU_API hetgpuResult hetgpuEventDestroy(hetgpuEvent event);
/* Reached when all work enqueued so far on `stream` (null: the default stream)
 * is done. Recording again forgets the earlier point. */
HETGPU_API hetgpuResult hetgpuEventRecord(hetgpuEvent event,
                                          hetgpuStream stream);
/* Returns at once when never recorded. Does not report launch failures. */
HETGPU_API hetgpuResult hetgpuEventSynchronize(hetgpuEvent event);
/* SUCCESS when reached or never recorded, NOT_READY while not. */
HETGPU_API hetgpuResult hetgpuEventQuery(hetgpuEvent event);
/* Milliseconds from `start` to `end`, resolution of a nanosecond clock.
 * INVALID_VALUE when one was never recorded, NOT_READY when not reached. */
HETGPU_API hetgpuResult hetgpuEventElapsedMs(hetgpuEvent start, hetgpuEvent end,
                                             double* milliseconds);

/* --------------------------------------------------------------- textures */

/* Texels that kernels sample by the device's hardware. UNSUPPORTED where the
 * device has none. */
typedef enum hetgpuTextureAddressMode {
  HETGPU_TEXTURE_ADDRESS_WRAP = 0,
  HETGPU_TEXTURE_ADDRESS_CLAMP = 1,
  HETGPU_TEXTURE_ADDRESS_MIRROR = 2,
  HETGPU_TEXTURE_ADDRESS_BORDER = 3
} hetgpuTextureAddressMode;

typedef enum hetgpuTextureFilter {
  HETGPU_TEXTURE_FILTER_POINT = 0,
  HETGPU_TEXTURE_FILTER_LINEAR = 1
} hetgpuTextureFilter;

/* Unused fields are 0. */
typedef struct hetgpuTextureDesc {
  size_t struct_size;       /* in: sizeof(hetgpuTextureDesc) */
  hetgpuType type;          /* of a channel: U8, U16, U32, S8, S16, S32, F16,
                               F32 */
  uint32_t channels;        /* of a texel: 1, 2 or 4 */
  uint32_t dimensions;      /* 1 to 3 */
  uint64_t width, height, depth; /* texels; 0 beyond `dimensions` */
  /* 0: the texture has storage of its own. Else the texels' address in an
   * allocation of the context, aligned to 512 bytes, for 1 dimension (fetched by
   * number, not filtered) or 2; it must stay allocated while kernels use the
   * texture. */
  hetgpuDevicePtr memory;
  uint64_t pitch;           /* 2 dimensions with `memory`: bytes from row to row,
                               a multiple of 32 */
  hetgpuTextureAddressMode address_mode[3]; /* per dimension */
  hetgpuTextureFilter filter; /* LINEAR: for what is read as a float */
  uint32_t normalized_coordinates; /* 1: from 0 to 1 instead of texels */
  uint32_t normalized_values; /* 1: 8 and 16 bit integers are read as floats
                                 from 0 or -1 to 1 */
  float border[4];          /* what ADDRESS_BORDER gives outside */
} hetgpuTextureDesc;

/* Texels are undefined until written. INVALID_VALUE names the field that is
 * wrong. */
HETGPU_API hetgpuResult hetgpuTextureCreate(hetgpuContext context,
                                            const hetgpuTextureDesc* desc,
                                            hetgpuTexture* texture);
/* No kernel that uses the texture may be in flight. */
HETGPU_API hetgpuResult hetgpuTextureDestroy(hetgpuTexture texture);
/* The value that a kernel takes for the texture: a 64-bit argument. */
HETGPU_API hetgpuResult hetgpuTextureGetHandle(hetgpuTexture texture,
                                               uint64_t* handle);
/* Copy all texels, rows without gaps; `bytes` must be width * height * depth
 * texels (INVALID_VALUE). They wait for work in flight on the context (its
 * failures stay to be reported by their streams). For textures with storage of
 * their own: INVALID_VALUE for others. */
HETGPU_API hetgpuResult hetgpuTextureWrite(hetgpuTexture texture,
                                           const void* texels, uint64_t bytes);
HETGPU_API hetgpuResult hetgpuTextureRead(hetgpuTexture texture, void* texels,
                                          uint64_t bytes);

/* --------------------------------------------------------------- counters */

/* Of the whole process since start. */
typedef enum hetgpuCounter {
  HETGPU_COUNTER_COMPILES = 0,        /* kernels compiled */
  HETGPU_COUNTER_CACHE_DISK_HITS = 1, /* kernels taken from disk */
  HETGPU_COUNTER_CACHE_MEMORY_HITS = 2,
  HETGPU_COUNTER_CACHE_DISCARDED = 3, /* damaged entries thrown away */
  HETGPU_COUNTER_LAUNCHES = 4,
  HETGPU_COUNTER_BYTES_TO_DEVICE = 5,
  HETGPU_COUNTER_BYTES_FROM_DEVICE = 6,
  HETGPU_COUNTER_BYTES_ON_DEVICE = 7, /* copied within devices */
  HETGPU_COUNTER_ALLOCATIONS = 8,
  HETGPU_COUNTER_COMPILE_NS = 9,      /* nanoseconds spent compiling */
  HETGPU_COUNTER_BYTES_MOVED = 10,    /* of unified memory, between places */
  HETGPU_COUNTER_BYTES_LOST = 11,     /* of unified memory, with a device */
  HETGPU_COUNTER_COUNT = 12           /* how many there are */
} hetgpuCounter;

HETGPU_API hetgpuResult hetgpuGetCounter(hetgpuCounter counter,
                                         uint64_t* value);
/* "compiles", "cache_disk_hits", …; "?" for other numbers. */
HETGPU_API const char* hetgpuCounterName(hetgpuCounter counter);

/* -------------------------------------------------------------- JIT cache */

/* The disk cache of compiled kernels, shared by all processes of a user. */
typedef struct hetgpuCacheInfo {
  size_t struct_size;      /* in: sizeof(hetgpuCacheInfo) */
  const char* directory;   /* "" when none is known; static storage */
  const char* problem;     /* why it is not used; "" when it is */
  uint64_t entry_count;
  uint64_t bytes;          /* held now */
  uint64_t max_bytes;      /* beyond which the least recently used go */
} hetgpuCacheInfo;

HETGPU_API hetgpuResult hetgpuCacheGetInfo(hetgpuCacheInfo* info);

#ifdef __cplusplus
}  /* extern "C" */
#endif

#endif  /* HETGPU_HETGPU_H_ */
