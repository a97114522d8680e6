#include "backends/cuda/line_table.h"

#include <cstddef>
#include <vector>

#include "backends/cuda/elf_view.h"

namespace hetgpu::cuda {
namespace {

// Opcodes of the standard.
enum Standard : uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvancePc = 2,
  kAdvanceLine = 3,
  kSetFile = 4,
  kSetColumn = 5,
  kNegateStatement = 6,
  kBasicBlock = 7,
  kConstantAddPc = 8,
  kFixedAdvancePc = 9,
};
enum Extended : uint8_t { kEndSequence = 1, kSetAddress = 2 };

// Reads from the front; past the end it gives zeros and is done.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::string_view Take(uint64_t count) {
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  T Number() {
    return NumberAt<T>(Take(sizeof(T)), 0);
  }
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (unsigned shift = 0; !done(); shift += 7) {
      const auto byte = Number<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) break;
    }
    return value;
  }
  int64_t Signed() {
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte = 0;
    do {
      byte = Number<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
    } while ((byte & 0x80) != 0 && !done());
    if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
    return static_cast<int64_t>(value);
  }

 private:
  std::string_view bytes_;
};

// One unit's program, run until it comes past the address.
class Program {
 public:
  Program(std::string_view unit, uint64_t address)
      : code_(unit), address_(address) {}

  uint32_t Run() {
    if (!ReadHeader()) return 0;
    while (!code_.done() && found_ == 0) Step(code_.Number<uint8_t>());
    return found_;
  }

 private:
  bool ReadHeader() {
    const auto version = code_.Number<uint16_t>();
    if (version < 2 || version > 4) return false;
    Bytes header(code_.Take(code_.Number<uint32_t>()));
    instruction_bytes_ = header.Number<uint8_t>();
    if (version == 4) header.Number<uint8_t>();  // operations in each
    header.Number<uint8_t>();                    // begins as a statement
    line_base_ = header.Number<int8_t>();
    line_range_ = header.Number<uint8_t>();
    const auto first_special = header.Number<uint8_t>();
    if (first_special == 0 || line_range_ == 0) return false;
    operands_.resize(first_special);
    for (unsigned i = 1; i < first_special; ++i) {
      operands_[i] = header.Number<uint8_t>();
    }
    return true;
  }

  void Step(uint8_t opcode) {
    if (opcode >= operands_.size()) {
      const unsigned adjusted = opcode - operands_.size();
      pc_ += adjusted / line_range_ * instruction_bytes_;
      line_ += line_base_ + static_cast<int>(adjusted % line_range_);
      return EmitRow();
    }
    switch (opcode) {
      case kExtended: return StepExtended();
      case kCopy: return EmitRow();
      case kAdvancePc: pc_ += code_.Unsigned() * instruction_bytes_; return;
      case kAdvanceLine: line_ += code_.Signed(); return;
      case kConstantAddPc:
        pc_ += (255 - operands_.size()) / line_range_ * instruction_bytes_;
        return;
      case kFixedAdvancePc: pc_ += code_.Number<uint16_t>(); return;
    }
    for (unsigned i = 0; i < operands_[opcode]; ++i) code_.Unsigned();
  }

  void StepExtended() {
    Bytes operation(code_.Take(code_.Unsigned()));
    switch (operation.Number<uint8_t>()) {
      case kSetAddress: pc_ = operation.Number<uint64_t>(); return;
      case kEndSequence:
        EmitRow();
        pc_ = 0;
        line_ = 1;
        in_sequence_ = false;
        return;
    }
  }

  // The row before this one holds up to here.
  void EmitRow() {
    if (in_sequence_ && last_pc_ <= address_ && address_ < pc_) {
      found_ = static_cast<uint32_t>(last_line_);
    }
    in_sequence_ = true;
    last_pc_ = pc_;
    last_line_ = line_;
  }

  Bytes code_;
  const uint64_t address_;
  uint32_t found_ = 0;
  uint64_t instruction_bytes_ = 0;
  int line_base_ = 0;
  unsigned line_range_ = 0;
  std::vector<uint8_t> operands_;  // how many each standard opcode takes
  uint64_t pc_ = 0, last_pc_ = 0;
  int64_t line_ = 1, last_line_ = 0;
  bool in_sequence_ = false;
};

}  // namespace

uint32_t LineOf(std::string_view table, uint64_t address) {
  Bytes units(table);
  while (!units.done()) {
    const uint32_t line =
        Program(units.Take(units.Number<uint32_t>()), address).Run();
    if (line != 0) return line;
  }
  return 0;
}

}  // namespace hetgpu::cuda
