// The part of the CUDA driver's binary interface that this backend uses,
// declared here so that building needs no toolkit. Names and values are those of
// the driver's documentation.
#ifndef HETGPU_BACKENDS_CUDA_TYPES_H_
#define HETGPU_BACKENDS_CUDA_TYPES_H_

#include <cstddef>
#include <cstdint>

namespace hetgpu::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUarray = struct CUarray_st*;
using CUtexObject = unsigned long long;
using CUhostFn = void (*)(void*);
using CUmemGenericAllocationHandle = unsigned long long;

enum Result : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_ERROR_LAUNCH_TIMEOUT = 702,
  CUDA_ERROR_ASSERT = 710,
  CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712,
  CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713,
  CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
  CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
  CUDA_ERROR_MISALIGNED_ADDRESS = 716,
  CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
  CUDA_ERROR_INVALID_PC = 718,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
  CUDA_ERROR_NOT_SUPPORTED = 801,
};

enum DeviceAttribute : int {
  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
  CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
  CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
  CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
  CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
};

enum Limit : int {
  CU_LIMIT_STACK_SIZE = 0,
  CU_LIMIT_MALLOC_HEAP_SIZE = 2,
};

enum FunctionAttribute : int {
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

// Settings of GPU core dumps.
enum CoredumpSetting : int {
  CU_COREDUMP_ENABLE_ON_EXCEPTION = 1,  // bool
  CU_COREDUMP_FILE = 5,                 // text with its zero
  CU_COREDUMP_GENERATION_FLAGS = 7,     // unsigned
};
// No memory and no images but relocated ones; the process goes on.
inline constexpr unsigned kCoredumpLightweight = 0x2f;
inline constexpr unsigned kCoredumpSkipAbort = 1 << 4;

enum JitOption : int {
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_GENERATE_LINE_INFO = 13,
};

// cuMemCreate, cuMemSetAccess: memory of one device, pinned there.
struct CUmemLocation {
  int type;  // 1 = device
  int id;
};
struct CUmemAllocationProp {
  int type;  // 1 = pinned
  int requested_handle_types;
  CUmemLocation location;
  void* win32_handle_meta_data;
  struct {
    unsigned char compression_type;
    unsigned char gpu_direct_rdma_capable;
    unsigned short usage;
    unsigned char reserved[4];
  } flags;
};
struct CUmemAccessDesc {
  CUmemLocation location;
  int flags;  // 3 = read and write
};

// Textures.
enum ArrayFormat : int {
  CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
  CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
  CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
  CU_AD_FORMAT_SIGNED_INT8 = 0x08,
  CU_AD_FORMAT_SIGNED_INT16 = 0x09,
  CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
  CU_AD_FORMAT_HALF = 0x10,
  CU_AD_FORMAT_FLOAT = 0x20,
};
struct CUDA_ARRAY3D_DESCRIPTOR {
  size_t width, height, depth;  // 0 beyond the dimensions
  int format;
  unsigned channels;
  unsigned flags;
};
struct CUmemcpy3DEnd {
  size_t x_bytes, y, z, lod;
  int memory_type;  // 1 = host, 3 = array
  const void* host;
  CUdeviceptr device;
  CUarray array;
  void* reserved;
  size_t pitch, height;
};
struct CUDA_MEMCPY3D {
  CUmemcpy3DEnd src, dst;
  size_t width_bytes, height, depth;
};
struct CUDA_RESOURCE_DESC {
  int type;  // 0 = array, 2 = linear memory, 3 = memory with a pitch
  union {
    CUarray array;
    struct {
      CUdeviceptr address;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      CUdeviceptr address;
      int format;
      unsigned channels;
      size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};
struct CUDA_TEXTURE_DESC {
  int address_mode[3];  // 0 = wrap, 1 = clamp, 2 = mirror, 3 = border
  int filter_mode;      // 0 = point, 1 = linear
  unsigned flags;
  unsigned max_anisotropy;
  int mipmap_filter_mode;
  float mipmap_level_bias, min_mipmap_level, max_mipmap_level;
  float border[4];
  int reserved[12];
};
static_assert(sizeof(CUDA_ARRAY3D_DESCRIPTOR) == 40);
static_assert(sizeof(CUDA_MEMCPY3D) == 200);
static_assert(sizeof(CUDA_RESOURCE_DESC) == 144);
static_assert(sizeof(CUDA_TEXTURE_DESC) == 104);

inline constexpr int kMemoryHost = 1;
inline constexpr int kMemoryArray = 3;
inline constexpr int kResourceArray = 0;
inline constexpr int kResourceLinear = 2;
inline constexpr int kResourcePitched = 3;
inline constexpr unsigned kTextureReadAsInteger = 1;
inline constexpr unsigned kTextureNormalizedCoordinates = 2;

// cuMemHostAlloc, cuMemHostRegister: pinned for every context.
inline constexpr unsigned kHostPortable = 1;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kStreamWaitValueGeq = 0;  // cyclic
inline constexpr unsigned kEventDisableTiming = 2;
// Keys of the list that hands cuLaunchKernel a packed parameter block.
inline void* const kLaunchParamEnd = nullptr;
inline void* const kLaunchParamBuffer = reinterpret_cast<void*>(1);
inline void* const kLaunchParamBufferSize = reinterpret_cast<void*>(2);
inline constexpr int kLocationDevice = 1;
inline constexpr int kAllocationPinned = 1;
inline constexpr int kHandleFileDescriptor = 1;
inline constexpr int kAccessRead = 1;
inline constexpr int kAccessReadWrite = 3;

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_TYPES_H_
