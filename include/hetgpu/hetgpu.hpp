// C++ wrapper of hetgpu.h: header only, C++17, RAII, no exceptions.
//
// Every call that can fail returns Status or Result<T>; both are [[nodiscard]],
// convert to bool and carry the library's detail text. Result<T>::value() of a
// failure ends the program with that text, for programs that have nothing
// better to do:
//
//   auto context = hetgpu::Context::Create("cpu").value();
//   auto x = hetgpu::Buffer<float>::FromHost(context, host).value();
//   auto module = hetgpu::Module::FromFile(context, "saxpy.ptx").value();
//   auto saxpy = module.GetFunction("saxpy").value();
//   saxpy.Launch({grid}, {block}, n, 2.0f, x, y).Check();
//
// Objects are movable, not copyable, and destroy what they own; destroying
// waits for work in flight. An object must not outlive its Context. Threads: as
// in hetgpu.h; one wrapper object must not be moved or destroyed while another
// thread uses it.
#ifndef HETGPU_HETGPU_HPP_
#define HETGPU_HETGPU_HPP_

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hetgpu/hetgpu.h"

namespace hetgpu {
// Apart from the library's own classes of the same names.
inline namespace api {

// A result code and, for failures, what was found and what was expected.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // Takes the detail of this thread's last failure when `result` is one.
  explicit Status(hetgpuResult result) : result_(result) {
    if (result == HETGPU_SUCCESS) return;
    detail_ = result == HETGPU_ERROR_NOT_READY ? hetgpuResultString(result)
                                               : hetgpuGetLastErrorDetail();
  }

  Status(hetgpuResult result, std::string detail)
      : result_(result), detail_(std::move(detail)) {}

  bool ok() const { return result_ == HETGPU_SUCCESS; }
  explicit operator bool() const { return ok(); }
  hetgpuResult code() const { return result_; }
  const std::string& detail() const { return detail_; }
  std::string ToString() const {
    return ok() ? "success"
                : std::string(hetgpuResultName(result_)) + ": " + detail_;
  }

  // Prints a failure to stderr and exits with status 1.
  void Check() const {
    if (ok()) return;
    std::fprintf(stderr, "hetgpu: %s\n", ToString().c_str());
    std::exit(1);
  }

 private:
  hetgpuResult result_ = HETGPU_SUCCESS;
  std::string detail_;
};

// A value or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(Status status) : status_(std::move(status)) {}

  bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status& status() const { return status_; }

  // The value; prints and exits like Status::Check() when there is none.
  T& value() & { return Checked(), *value_; }
  T&& value() && { return Checked(), std::move(*value_); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }

 private:
  void Checked() const {
    if (!ok()) status_.Check();
  }

  std::optional<T> value_;
  Status status_;
};

struct Dim3 : hetgpuDim3 {
  constexpr Dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1)
      : hetgpuDim3{x, y, z} {}
};

namespace detail {

// An owned handle.
template <typename Handle, hetgpuResult (*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      reset();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Owned() { reset(); }

  void reset() {
    if (handle_ != nullptr) (void)Destroy(std::exchange(handle_, nullptr));
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

// `value` when `result` is success.
template <typename T, typename... Args>
Result<T> Wrap(hetgpuResult result, Args&&... args) {
  if (result != HETGPU_SUCCESS) return Status(result);
  return T(std::forward<Args>(args)...);
}

}  // namespace detail

// A device that is present. Copyable; never destroyed.
class Device {
 public:
  explicit Device(hetgpuDevice handle) : handle_(handle) {}

  static Result<uint32_t> Count() {
    uint32_t count = 0;
    const hetgpuResult result = hetgpuDeviceCount(&count);
    return detail::Wrap<uint32_t>(result, count);
  }
  static Result<Device> Get(uint32_t ordinal) {
    hetgpuDevice handle = nullptr;
    const hetgpuResult result = hetgpuDeviceGet(ordinal, &handle);
    return detail::Wrap<Device>(result, handle);
  }
  // "cpu" or "cpu:0".
  static Result<Device> Get(const std::string& name) {
    hetgpuDevice handle = nullptr;
    const hetgpuResult result = hetgpuDeviceGetByName(name.c_str(), &handle);
    return detail::Wrap<Device>(result, handle);
  }

  Result<hetgpuDeviceProperties> Properties() const {
    hetgpuDeviceProperties properties = {};
    properties.struct_size = sizeof(properties);
    const hetgpuResult result = hetgpuDeviceGetProperties(handle_, &properties);
    return detail::Wrap<hetgpuDeviceProperties>(result, properties);
  }

  hetgpuDevice handle() const { return handle_; }

 private:
  hetgpuDevice handle_;
};

class Context {
 public:
  explicit Context(hetgpuContext handle) : owned_(handle) {}

  // `flags`: 0 or HETGPU_CONTEXT_UNIFIED.
  static Result<Context> Create(const Device& device, uint32_t flags = 0) {
    hetgpuContext handle = nullptr;
    const hetgpuResult result =
        hetgpuContextCreate(device.handle(), flags, &handle);
    return detail::Wrap<Context>(result, handle);
  }
  static Result<Context> Create(const std::string& device,
                                uint32_t flags = 0) {
    auto found = Device::Get(device);
    if (!found) return found.status();
    return Create(*found, flags);
  }

  Status Synchronize() const {
    return Status(hetgpuContextSynchronize(handle()));
  }
  // 0 = none.
  Status SetLaunchTimeoutMs(uint64_t milliseconds) const {
    return Status(hetgpuContextSetLimit(
        handle(), HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, milliseconds));
  }

  // Of unified memory on the context's device; 0 = what it has.
  Status SetResidentLimit(uint64_t bytes) const {
    return Status(hetgpuContextSetLimit(handle(), HETGPU_LIMIT_RESIDENT_BYTES,
                                        bytes));
  }
  // Brings a range of unified memory to the context's device.
  Status Prefetch(hetgpuDevicePtr address, uint64_t bytes) const {
    return Status(hetgpuMemPrefetch(handle(), address, bytes));
  }

  hetgpuContext handle() const { return owned_.get(); }

 private:
  detail::Owned<hetgpuContext, hetgpuContextDestroy> owned_;
};

// Host memory that copies reach at the full rate; of trivial elements,
// uninitialised. The context must outlive it.
template <typename T>
class HostBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static Result<HostBuffer> Create(const Context& context, size_t count) {
    void* memory = nullptr;
    const hetgpuResult result =
        hetgpuHostAlloc(context.handle(), count * sizeof(T), &memory);
    if (result != HETGPU_SUCCESS) return Status(result);
    return HostBuffer(context.handle(), static_cast<T*>(memory), count);
  }
  HostBuffer(HostBuffer&& other) noexcept
      : context_(other.context_),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~HostBuffer() {
    if (data_ != nullptr) hetgpuHostFree(context_, data_);
  }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](size_t index) const { return data_[index]; }

 private:
  HostBuffer(hetgpuContext context, T* data, size_t size)
      : context_(context), data_(data), size_(size) {}

  hetgpuContext context_ = nullptr;
  T* data_ = nullptr;
  size_t size_ = 0;
};

class Event {
 public:
  explicit Event(hetgpuEvent handle) : owned_(handle) {}

  static Result<Event> Create(const Context& context) {
    hetgpuEvent handle = nullptr;
    const hetgpuResult result = hetgpuEventCreate(context.handle(), 0, &handle);
    return detail::Wrap<Event>(result, handle);
  }

  // Null: the default stream.
  Status Record(hetgpuStream stream = nullptr) const {
    return Status(hetgpuEventRecord(handle(), stream));
  }
  Status Synchronize() const {
    return Status(hetgpuEventSynchronize(handle()));
  }
  Status Query() const { return Status(hetgpuEventQuery(handle())); }
  // Milliseconds from this event to `end`.
  Result<double> ElapsedMs(const Event& end) const {
    double milliseconds = 0;
    const hetgpuResult result =
        hetgpuEventElapsedMs(handle(), end.handle(), &milliseconds);
    return detail::Wrap<double>(result, milliseconds);
  }

  hetgpuEvent handle() const { return owned_.get(); }

 private:
  detail::Owned<hetgpuEvent, hetgpuEventDestroy> owned_;
};

class Texture {
 public:
  explicit Texture(hetgpuTexture handle) : owned_(handle) {}

  // Sets desc.struct_size itself.
  static Result<Texture> Create(const Context& context,
                                hetgpuTextureDesc desc) {
    desc.struct_size = sizeof(desc);
    hetgpuTexture handle = nullptr;
    const hetgpuResult result =
        hetgpuTextureCreate(context.handle(), &desc, &handle);
    return detail::Wrap<Texture>(result, handle);
  }

  Status Write(const void* texels, uint64_t bytes) const {
    return Status(hetgpuTextureWrite(handle(), texels, bytes));
  }
  Status Read(void* texels, uint64_t bytes) const {
    return Status(hetgpuTextureRead(handle(), texels, bytes));
  }
  // What kernels take as an argument.
  Result<uint64_t> KernelHandle() const {
    uint64_t value = 0;
    const hetgpuResult result = hetgpuTextureGetHandle(handle(), &value);
    return detail::Wrap<uint64_t>(result, value);
  }

  hetgpuTexture handle() const { return owned_.get(); }

 private:
  detail::Owned<hetgpuTexture, hetgpuTextureDestroy> owned_;
};

class Stream {
 public:
  explicit Stream(hetgpuStream handle) : owned_(handle) {}

  static Result<Stream> Create(const Context& context) {
    hetgpuStream handle = nullptr;
    const hetgpuResult result =
        hetgpuStreamCreate(context.handle(), 0, &handle);
    return detail::Wrap<Stream>(result, handle);
  }

  Status Synchronize() const {
    return Status(hetgpuStreamSynchronize(handle()));
  }
  Status Query() const { return Status(hetgpuStreamQuery(handle())); }
  Status Cancel() const { return Status(hetgpuStreamCancel(handle())); }
  Status Record(const Event& event) const { return event.Record(handle()); }
  Status Wait(const Event& event) const {
    return Status(hetgpuStreamWaitEvent(handle(), event.handle()));
  }

  hetgpuStream handle() const { return owned_.get(); }

 private:
  detail::Owned<hetgpuStream, hetgpuStreamDestroy> owned_;
};

// `size()` elements of T in device memory.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "device memory holds plain data");

 public:
  Buffer(hetgpuContext context, hetgpuDevicePtr address, uint64_t size)
      : context_(context), address_(address), size_(size) {}
  Buffer(Buffer&& other) noexcept
      : context_(other.context_),
        address_(std::exchange(other.address_, 0)),
        size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      Free();
      context_ = other.context_;
      address_ = std::exchange(other.address_, 0);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~Buffer() { Free(); }

  static Result<Buffer> Create(const Context& context, uint64_t size) {
    if (size > UINT64_MAX / sizeof(T)) {
      return Status(HETGPU_ERROR_OUT_OF_MEMORY,
                    "a buffer of " + std::to_string(size) + " elements of " +
                        std::to_string(sizeof(T)) + " bytes overflows");
    }
    hetgpuDevicePtr address = 0;
    const hetgpuResult result =
        hetgpuMemAlloc(context.handle(), size * sizeof(T), &address);
    return detail::Wrap<Buffer>(result, context.handle(), address, size);
  }
  static Result<Buffer> FromHost(const Context& context,
                                 const std::vector<T>& host) {
    auto buffer = Create(context, host.size());
    if (!buffer) return buffer;
    if (Status status = buffer->CopyFrom(host.data()); !status) return status;
    return buffer;
  }

  uint64_t size() const { return size_; }
  uint64_t bytes() const { return size_ * sizeof(T); }
  hetgpuDevicePtr address() const { return address_; }

  // size() elements from or to `host`, now.
  Status CopyFrom(const T* host) const {
    return Status(hetgpuMemCopyHtoD(context_, address_, host, bytes()));
  }
  Status CopyTo(T* host) const {
    return Status(hetgpuMemCopyDtoH(context_, host, address_, bytes()));
  }
  // On a stream; `host` must stay until the stream has passed the copy.
  Status CopyFrom(const T* host, const Stream& stream) const {
    return Status(
        hetgpuMemCopyHtoDAsync(address_, host, bytes(), stream.handle()));
  }
  Status CopyTo(T* host, const Stream& stream) const {
    return Status(
        hetgpuMemCopyDtoHAsync(host, address_, bytes(), stream.handle()));
  }
  Result<std::vector<T>> ToHost() const {
    std::vector<T> host(size_);
    if (Status status = CopyTo(host.data()); !status) return status;
    return host;
  }
  // Sets every element; T has 1, 2, 4 or 8 bytes.
  Status Fill(const T& value) const {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 ||
                  sizeof(T) == 8);
    uint64_t pattern = 0;
    std::memcpy(&pattern, &value, sizeof(T));
    return Status(hetgpuMemFill(context_, address_, pattern, sizeof(T), size_));
  }

 private:
  void Free() {
    if (address_ != 0) {
      (void)hetgpuMemFree(context_, std::exchange(address_, 0));
    }
  }

  hetgpuContext context_;
  hetgpuDevicePtr address_;
  uint64_t size_;
};

namespace detail {

// What a kernel sees of an argument: a buffer is its address.
template <typename T>
hetgpuDevicePtr ToArgument(const Buffer<T>& buffer) {
  return buffer.address();
}
template <typename T>
T ToArgument(const T& value) {
  static_assert(std::is_trivially_copyable_v<T>,
                "kernel arguments are plain data");
  return value;
}

}  // namespace detail

// A kernel. Copyable; lives as long as its Module.
class Function {
 public:
  explicit Function(hetgpuFunction handle) : handle_(handle) {}

  Status Prepare() const { return Status(hetgpuFunctionPrepare(handle_)); }
  Result<uint64_t> Attribute(hetgpuFunctionAttribute attribute) const {
    uint64_t value = 0;
    const hetgpuResult result =
        hetgpuFunctionGetAttribute(handle_, attribute, &value);
    return detail::Wrap<uint64_t>(result, value);
  }
  Result<std::string> Explain() const {
    const char* text = "";
    const hetgpuResult result =
        hetgpuFunctionGetText(handle_, HETGPU_FUNCTION_TEXT_EXPLANATION, &text);
    return detail::Wrap<std::string>(result, text);
  }

  // On the default stream. Arguments must have the types of the parameters;
  // their number and sizes are checked.
  template <typename... Args>
  Status Launch(Dim3 grid, Dim3 block, const Args&... args) const {
    return LaunchOn(nullptr, grid, block, 0, args...);
  }
  template <typename... Args>
  Status LaunchOn(hetgpuStream stream, Dim3 grid, Dim3 block,
                  uint32_t shared_bytes, const Args&... args) const {
    const std::array<uint32_t, sizeof...(Args)> sizes = {
        static_cast<uint32_t>(sizeof(detail::ToArgument(args)))...};
    if (Status status = CheckSizes(sizes.data(), sizes.size()); !status) {
      return status;
    }
    return LaunchValues(stream, grid, block, shared_bytes,
                        detail::ToArgument(args)...);
  }

  hetgpuFunction handle() const { return handle_; }

 private:
  template <typename... Values>
  Status LaunchValues(hetgpuStream stream, Dim3 grid, Dim3 block,
                      uint32_t shared_bytes, Values... values) const {
    void* pointers[] = {&values..., nullptr};
    return Status(hetgpuLaunchKernel(handle_, grid, block, shared_bytes, stream,
                                     pointers));
  }

  Status CheckSizes(const uint32_t* sizes, size_t count) const {
    uint32_t expected = 0;
    hetgpuResult result = hetgpuFunctionGetParameterCount(handle_, &expected);
    if (result != HETGPU_SUCCESS) return Status(result);
    if (count != expected) {
      return Status(HETGPU_ERROR_INVALID_ARGUMENTS,
                    std::to_string(count) + " arguments, expected " +
                        std::to_string(expected));
    }
    for (uint32_t i = 0; i < expected; ++i) {
      hetgpuParameterInfo info = {};
      info.struct_size = sizeof(info);
      result = hetgpuFunctionGetParameter(handle_, i, &info);
      if (result != HETGPU_SUCCESS) return Status(result);
      if (info.size != sizes[i]) return WrongSize(info, i, sizes[i]);
    }
    return Status();
  }
  static Status WrongSize(const hetgpuParameterInfo& info, uint32_t index,
                          uint32_t size) {
    return Status(HETGPU_ERROR_INVALID_ARGUMENTS,
                  "argument " + std::to_string(index) + " (" + info.name +
                      ") has " + std::to_string(size) + " bytes, expected " +
                      std::to_string(info.size));
  }

  hetgpuFunction handle_;
};

class Module {
 public:
  explicit Module(hetgpuModule handle) : owned_(handle) {}

  static Result<Module> FromFile(const Context& context,
                                 const std::string& path) {
    hetgpuModule handle = nullptr;
    const hetgpuResult result =
        hetgpuModuleLoadFile(context.handle(), path.c_str(), &handle);
    return detail::Wrap<Module>(result, handle);
  }
  static Result<Module> FromText(const Context& context, std::string_view text,
                                 const std::string& name = "<memory>") {
    hetgpuModule handle = nullptr;
    const hetgpuResult result = hetgpuModuleLoadData(
        context.handle(), text.data(), text.size(), name.c_str(), &handle);
    return detail::Wrap<Module>(result, handle);
  }

  Result<std::vector<std::string>> Kernels() const {
    uint32_t count = 0;
    hetgpuResult result = hetgpuModuleGetKernelCount(handle(), &count);
    std::vector<std::string> names;
    for (uint32_t i = 0; result == HETGPU_SUCCESS && i < count; ++i) {
      const char* name = "";
      result = hetgpuModuleGetKernelName(handle(), i, &name);
      names.emplace_back(name);
    }
    if (result != HETGPU_SUCCESS) return Status(result);
    return names;
  }
  Result<Function> GetFunction(const std::string& name) const {
    hetgpuFunction function = nullptr;
    const hetgpuResult result =
        hetgpuModuleGetFunction(handle(), name.c_str(), &function);
    return detail::Wrap<Function>(result, function);
  }
  // All kernels together.
  Status Prepare() const { return Status(hetgpuModulePrepare(handle())); }
  struct Global {
    hetgpuDevicePtr address = 0;
    uint64_t size = 0;  // bytes
  };
  Result<Global> GetGlobal(const std::string& name) const {
    Global global;
    const hetgpuResult result = hetgpuModuleGetGlobal(
        handle(), name.c_str(), &global.address, &global.size);
    return detail::Wrap<Global>(result, global);
  }

  hetgpuModule handle() const { return owned_.get(); }

 private:
  detail::Owned<hetgpuModule, hetgpuModuleUnload> owned_;
};

}  // namespace api
}  // namespace hetgpu

#endif  // HETGPU_HETGPU_HPP_
