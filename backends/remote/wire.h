// Values as bytes and back: numbers as they lie in memory (both sides are on one
// machine), strings and vectors with their length before them, structures field
// by field as their Fields() lists them. The decoder checks every length: what
// does not fit makes it fail, never read or allocate beyond what is there.
#ifndef HETGPU_BACKENDS_REMOTE_WIRE_H_
#define HETGPU_BACKENDS_REMOTE_WIRE_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"

namespace hetgpu::remote {

template <typename T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class Encoder {
 public:
  std::string Take() { return std::move(bytes_); }

  template <Number T>
  void Put(const T& value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void Put(const std::string& value) {
    Put(static_cast<uint32_t>(value.size()));
    bytes_.append(value);
  }
  void Put(const absl::Status& value) {
    Put(static_cast<int32_t>(value.code()));
    Put(std::string(value.message()));
  }
  template <typename T>
  void Put(const std::vector<T>& values) {
    Put(static_cast<uint32_t>(values.size()));
    for (const T& value : values) Put(value);
  }
  template <typename T, size_t n>
  void Put(const T (&values)[n]) {
    for (const T& value : values) Put(value);
  }
  template <typename T>
    requires(!Number<T>)
  void Put(const T& value) {
    std::apply([&](auto&... fields) { (Put(std::as_const(fields)), ...); },
               Fields(const_cast<T&>(value)));
  }

 private:
  std::string bytes_;
};

class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : rest_(bytes) {}

  // That everything fitted and nothing is left.
  bool Done() const { return ok_ && rest_.empty(); }

  template <Number T>
  void Get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      Get(byte);
      if (byte > 1) ok_ = false;
      value = byte == 1;
    } else if (Check(sizeof(value))) {
      std::memcpy(&value, rest_.data(), sizeof(value));
      rest_.remove_prefix(sizeof(value));
    }
  }
  void Get(std::string& value) {
    const uint32_t size = Size();
    if (!Check(size)) return;
    value.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  void Get(absl::Status& value) {
    int32_t code = 0;
    std::string message;
    Get(code);
    Get(message);
    if (code < 0 || code > 16) ok_ = false;
    if (ok_) value = absl::Status(static_cast<absl::StatusCode>(code), message);
  }
  template <typename T>
  void Get(std::vector<T>& values) {
    const uint32_t size = Size();
    // Every element takes a byte at least.
    if (!Check(size)) return;
    for (uint32_t i = 0; i < size && ok_; ++i) Get(values.emplace_back());
  }
  template <typename T, size_t n>
  void Get(T (&values)[n]) {
    for (T& value : values) Get(value);
  }
  template <typename T>
    requires(!Number<T>)
  void Get(T& value) {
    std::apply([&](auto&... fields) { (Get(fields), ...); }, Fields(value));
  }

 private:
  bool Check(size_t bytes) {
    if (bytes > rest_.size()) ok_ = false;
    return ok_;
  }
  uint32_t Size() {
    uint32_t size = 0;
    Get(size);
    return size;
  }

  std::string_view rest_;
  bool ok_ = true;
};

template <typename Message>
std::string Encode(const Message& message) {
  Encoder encoder;
  encoder.Put(message);
  return encoder.Take();
}

// InvalidArgument when `bytes` are not exactly one Message.
template <typename Message>
absl::Status Decode(std::string_view bytes, Message& message) {
  Decoder decoder(bytes);
  decoder.Get(message);
  if (decoder.Done()) return absl::OkStatus();
  return absl::InvalidArgumentError("message is malformed");
}

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_WIRE_H_
