// Little-endian bytes, written and read back by position. Readers never go
// outside of what they were given; the first impossible read is sticky.
#ifndef HETGPU_HETIR_CONTAINER_BYTES_H_
#define HETGPU_HETIR_CONTAINER_BYTES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace hetgpu {

class ByteWriter {
 public:
  void U8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void U16(uint16_t value) { Integer(value, 2); }
  void U32(uint32_t value) { Integer(value, 4); }
  void U64(uint64_t value) { Integer(value, 8); }
  void Bytes(std::string_view bytes) { bytes_ += bytes; }
  void String(std::string_view text) {
    U32(static_cast<uint32_t>(text.size()));
    Bytes(text);
  }
  // A record: its length, then what `fill` writes. Newer versions may append
  // fields; older readers skip them.
  template <typename Fill>
  void Record(Fill fill) {
    ByteWriter inner;
    fill(inner);
    String(inner.bytes_);
  }

  std::string Take() { return std::move(bytes_); }
  size_t size() const { return bytes_.size(); }

 private:
  void Integer(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) U8(static_cast<uint8_t>(value >> (8 * i)));
  }
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  // Fields that a shorter, older record does not have read as zero.
  uint8_t U8() { return static_cast<uint8_t>(Integer(1)); }
  uint16_t U16() { return static_cast<uint16_t>(Integer(2)); }
  uint32_t U32() { return static_cast<uint32_t>(Integer(4)); }
  uint64_t U64() { return Integer(8); }
  std::string_view Bytes(uint64_t size) {
    if (size > bytes_.size()) {
      ok_ = false;
      bytes_ = {};
      return {};
    }
    std::string_view result = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return result;
  }
  std::string_view String() { return Bytes(U32()); }
  ByteReader Record() { return ByteReader(String()); }
  // A number of items that each take at least `item_size` bytes.
  uint32_t Count(uint32_t item_size) {
    uint32_t count = U32();
    if (count <= bytes_.size() / item_size) return count;
    ok_ = false;
    return 0;
  }

  bool ok() const { return ok_; }
  size_t remaining() const { return bytes_.size(); }

 private:
  uint64_t Integer(uint64_t size) {
    if (bytes_.empty()) return 0;
    uint64_t value = 0;
    std::string_view bytes = Bytes(size);
    for (size_t i = 0; i < bytes.size(); ++i) {
      value |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
    }
    return value;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace hetgpu

#endif  // HETGPU_HETIR_CONTAINER_BYTES_H_
