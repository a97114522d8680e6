// The text of a device printf, from a format string and an argument buffer in
// kernel memory. Neither can be trusted: reading them may fault, and then the
// caller's stack is dropped, so nothing here owns memory or holds a lock.
#ifndef HETGPU_BACKENDS_CPU_PRINT_FORMAT_H_
#define HETGPU_BACKENDS_CPU_PRINT_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hetgpu::cpu {

// Longest text of one printf or assertion.
inline constexpr size_t kMaxPrintBytes = 16 * 1024;

// Where in this process what a kernel's address names is found.
class AddressMap {
 public:
  virtual uint64_t ToHost(uint64_t address) const { return address; }

 protected:
  ~AddressMap() = default;
};

inline constexpr struct SameAddresses final : AddressMap {
} kSameAddresses;

// Text in a fixed buffer; what does not fit is cut, and the end says so.
class BoundedText {
 public:
  // Strings of kernels are read through `map`, which may end the kernel.
  BoundedText(char* buffer, size_t bytes,
              const AddressMap& map = kSameAddresses);

  void Append(char c);
  void AppendFormat(const char* format, ...)
      __attribute__((format(printf, 2, 3)));
  // A zero-terminated string of characters of `char_size` bytes (1, 2 or 4);
  // those beyond ASCII become '?' when wider than a byte. 0 gives "(null)".
  void AppendKernelString(uint64_t address, uint64_t char_size);

  std::string_view view() const { return {buffer_, used_}; }
  uint64_t ToHost(uint64_t address) const { return map_.ToHost(address); }
  size_t room() const { return capacity_ - used_; }
  // For snprintf into the text: where, and how much it wanted to write.
  char* end() { return buffer_ + used_; }
  void Advance(int wanted);

 private:
  void Cut();

  char* const buffer_;
  const size_t capacity_;
  const AddressMap& map_;
  size_t used_ = 0;
  bool cut_ = false;
};

// Appends what printf(format, …) prints; arguments lie one after another, each
// aligned to its size, as PTX's vprintf has them. Returns what CUDA's printf
// returns: the number of arguments, -1 for a null format.
int32_t FormatPrintf(uint64_t format, uint64_t arguments, BoundedText* out);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_PRINT_FORMAT_H_
