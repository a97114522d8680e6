#include "backends/cpu/print_format.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace hetgpu::cpu {
namespace {

constexpr std::string_view kCutMark = "[cut]\n";
constexpr int kMaxWidth = 8192;

// Reads the argument buffer in order.
class Arguments {
 public:
  explicit Arguments(uint64_t address) : next_(address) {}

  template <typename T>
  T Take() {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, reinterpret_cast<const void*>(next_), sizeof(T));
    next_ += sizeof(T);
    ++count_;
    return value;
  }
  int32_t count() const { return count_; }

 private:
  uint64_t next_;
  int32_t count_ = 0;
};

// One conversion: %[flags][width][.precision][length]type.
struct Conversion {
  char flags[8] = {};
  int width = 0;
  int precision = -1;
  bool wide = false;  // 8-byte integer
  char type = 0;
};

int ReadNumber(const char** at, Arguments* arguments) {
  if (**at == '*') {
    ++*at;
    return std::clamp(arguments->Take<int32_t>(), -kMaxWidth, kMaxWidth);
  }
  int number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at) {
    number = std::min(number * 10 + (**at - '0'), kMaxWidth);
  }
  return number;
}

void AddFlag(Conversion* conversion, char flag) {
  if (std::strchr(conversion->flags, flag) != nullptr) return;
  conversion->flags[std::strlen(conversion->flags)] = flag;
}

// Reads what follows '%' and leaves `*at` behind the type.
Conversion ReadConversion(const char** at, Arguments* arguments) {
  Conversion conversion;
  while (**at != '\0' && std::strchr("-+ #0", **at) != nullptr) {
    AddFlag(&conversion, *(*at)++);
  }
  conversion.width = ReadNumber(at, arguments);
  if (conversion.width < 0) {
    AddFlag(&conversion, '-');
    conversion.width = -conversion.width;
  }
  if (**at == '.') {
    ++*at;
    conversion.precision = ReadNumber(at, arguments);
  }
  for (; **at != '\0' && std::strchr("hlzjtL", **at) != nullptr; ++*at) {
    conversion.wide |= **at != 'h' && **at != 'L';
  }
  conversion.type = **at;
  if (conversion.type != '\0') ++*at;
  return conversion;
}

template <typename T>
void Print(const Conversion& conversion, const char* length, T value,
           BoundedText* out) {
  char spec[24];
  std::snprintf(spec, sizeof(spec), "%%%s*.*%s%c", conversion.flags, length,
                conversion.type);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
  out->Advance(std::snprintf(out->end(), out->room(), spec, conversion.width,
                             conversion.precision, value));
#pragma GCC diagnostic pop
}

void PrintString(Conversion conversion, uint64_t address, BoundedText* out) {
  const char* text =
      address == 0 ? "(null)"
                   : reinterpret_cast<const char*>(out->ToHost(address));
  // The length first: snprintf must not run into a bad address.
  const size_t most = conversion.precision < 0
                          ? kMaxPrintBytes
                          : static_cast<size_t>(conversion.precision);
  conversion.precision = static_cast<int>(strnlen(text, most));
  Print(conversion, "", text, out);
}

// False when the type is none that CUDA knows.
bool PrintArgument(const Conversion& conversion, Arguments* arguments,
                   BoundedText* out) {
  switch (conversion.type) {
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (conversion.wide) {
        Print(conversion, "ll", arguments->Take<long long>(), out);
      } else {
        Print(conversion, "", arguments->Take<int32_t>(), out);
      }
      return true;
    case 'c':
      Print(conversion, "", arguments->Take<int32_t>(), out);
      return true;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      Print(conversion, "", arguments->Take<double>(), out);
      return true;
    case 'p':
      Print(conversion, "",
            reinterpret_cast<void*>(arguments->Take<uint64_t>()), out);
      return true;
    case 's':
      PrintString(conversion, arguments->Take<uint64_t>(), out);
      return true;
    default:
      return false;
  }
}

}  // namespace

BoundedText::BoundedText(char* buffer, size_t bytes, const AddressMap& map)
    : buffer_(buffer), capacity_(bytes), map_(map) {}

void BoundedText::Cut() {
  cut_ = true;
  used_ = capacity_;
  std::memcpy(buffer_ + used_ - kCutMark.size(), kCutMark.data(),
              kCutMark.size());
}

void BoundedText::Append(char c) {
  if (cut_) return;
  if (room() <= 1) return Cut();
  buffer_[used_++] = c;
}

void BoundedText::Advance(int wanted) {
  if (cut_ || wanted <= 0) return;
  if (static_cast<size_t>(wanted) >= room()) return Cut();
  used_ += static_cast<size_t>(wanted);
}

void BoundedText::AppendFormat(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Advance(std::vsnprintf(end(), room(), format, arguments));
  va_end(arguments);
}

void BoundedText::AppendKernelString(uint64_t address, uint64_t char_size) {
  if (address == 0) return AppendFormat("(null)");
  const auto* at = reinterpret_cast<const uint8_t*>(ToHost(address));
  const size_t size = char_size == 2 || char_size == 4 ? char_size : 1;
  for (; !cut_; at += size) {
    uint32_t c = 0;
    std::memcpy(&c, at, size);
    if (c == 0) return;
    Append(size == 1 || c < 128 ? static_cast<char>(c) : '?');
  }
}

int32_t FormatPrintf(uint64_t format, uint64_t arguments, BoundedText* out) {
  if (format == 0) return -1;
  Arguments values(arguments == 0 ? 0 : out->ToHost(arguments));
  const char* at = reinterpret_cast<const char*>(out->ToHost(format));
  while (*at != '\0' && out->room() > 0) {
    const char* start = at;
    const char c = *at++;
    if (c != '%') {
      out->Append(c);
    } else if (*at == '%') {
      out->Append(*at++);
    } else {
      const Conversion conversion = ReadConversion(&at, &values);
      if (!PrintArgument(conversion, &values, out)) {
        while (start != at) out->Append(*start++);
      }
    }
  }
  return values.count();
}

}  // namespace hetgpu::cpu
