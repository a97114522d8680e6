#include "backends/cpu/x86_access.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstring>
#endif

namespace hetgpu::cpu {

#if defined(__x86_64__)
namespace {

// ---- Registers of the signal frame ------------------------------------------

uint64_t GeneralRegister(const ucontext_t& context, uint32_t number) {
  static constexpr int kPlace[16] = {
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[kPlace[number]]);
}

// The vector state behind the legacy one, laid out as CPUID leaf 13 says.
class VectorRegisters {
 public:
  explicit VectorRegisters(const ucontext_t& context)
      : base_(reinterpret_cast<const uint8_t*>(context.uc_mcontext.fpregs)) {
    constexpr uint32_t kMagic = 0x46505853;  // the frame has extended state
    uint32_t magic = 0;
    if (base_ == nullptr) return;
    std::memcpy(&magic, base_ + 464, sizeof(magic));
    extended_ = magic == kMagic;
    if (extended_) std::memcpy(&present_, base_ + 512, sizeof(present_));
  }

  bool known() const { return extended_; }

  uint64_t Mask(uint32_t number) const {
    uint64_t mask = 0;
    Copy(kMasks, number * 8, 8, &mask);
    return mask;
  }

  // All 64 bytes; parts that are in their initial state are zero.
  void Vector(uint32_t number, uint8_t* out) const {
    std::memset(out, 0, 64);
    if (number >= 16) return Copy(kUpper16, (number - 16) * 64, 64, out);
    std::memcpy(out, base_ + 160 + number * 16, 16);
    Copy(kHigh128, number * 16, 16, out + 16);
    Copy(kHigh256, number * 32, 32, out + 32);
  }

 private:
  enum Component : uint32_t {
    kHigh128 = 2,
    kMasks = 5,
    kHigh256 = 6,
    kUpper16 = 7
  };

  void Copy(Component component, uint32_t offset, uint32_t bytes,
            void* out) const {
    if ((present_ >> component & 1) == 0) return;
    uint32_t size = 0, start = 0, c = 0, d = 0;
    __cpuid_count(13, component, size, start, c, d);
    std::memcpy(out, base_ + start + offset, bytes);
  }

  const uint8_t* base_;
  bool extended_ = false;
  uint64_t present_ = 0;
};

// ---- The instruction --------------------------------------------------------

struct Instruction {
  bool evex = false;
  uint32_t map = 0;     // 1: 0F, 2: 0F38, 3: 0F3A
  uint32_t prefix = 0;  // 0: none, 1: 66, 2: F3, 3: F2
  uint32_t opcode = 0;
  bool wide = false;    // W
  bool broadcast = false;
  uint32_t vector_bytes = 16;
  uint32_t other = 0;   // vvvv
  uint32_t mask = 0;    // EVEX.aaa
  uint32_t base = 0, index = 0, scale = 0;
  uint32_t index_high = 0;  // EVEX.V', for an index that is a vector
  bool has_base = true, has_index = false;
  int64_t displacement = 0;
};

// Reads from the front; zeros past the end, with `ok` cleared.
class Bytes {
 public:
  Bytes(const uint8_t* at, uint64_t room) : at_(at), room_(room) {}

  uint32_t Take() {
    if (room_ == 0) {
      ok = false;
      return 0;
    }
    --room_;
    return *at_++;
  }
  int64_t TakeSigned(uint32_t bytes) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < bytes; ++i) value |= Take() << 8 * i;
    return bytes == 1 ? static_cast<int8_t>(value)
                      : static_cast<int32_t>(value);
  }

  bool ok = true;

 private:
  const uint8_t* at_;
  uint64_t room_;
};

bool IsGather(const Instruction& in) {
  const uint32_t group = in.opcode & 0xfc;
  return in.map == 2 && in.prefix == 1 &&
         (group == 0x90 || (in.evex && group == 0xa0));
}

// vmaskmov and vpmaskmov: the mask is a vector.
bool IsVectorMasked(const Instruction& in) {
  return !in.evex && in.map == 2 && in.prefix == 1 &&
         ((in.opcode >= 0x2c && in.opcode <= 0x2f) || in.opcode == 0x8c ||
          in.opcode == 0x8e);
}

// Which part of the vector lies in memory when elements change size: 2, 4 or 8;
// 1 when all of it.
uint32_t Fraction(const Instruction& in) {
  static constexpr uint32_t kBySuffix[8] = {2, 4, 8, 2, 4, 2, 1, 1};
  const uint32_t row = in.opcode & 0xf0, suffix = in.opcode & 7;
  if ((in.opcode & 8) != 0 || suffix > 5) {
    return in.map == 1 && in.opcode == 0x5a && in.prefix == 0 ? 2 : 1;
  }
  if (in.map == 2 && in.prefix == 1 && (row == 0x20 || row == 0x30)) {
    return kBySuffix[suffix];
  }
  if (in.map == 2 && in.prefix == 2 &&
      (row == 0x10 || row == 0x20 || row == 0x30)) {
    return kBySuffix[suffix];
  }
  return in.map == 2 && in.opcode == 0x13 && in.prefix == 1 ? 2 : 1;
}

// Of what is no run of elements as wide as the register.
bool IsScalarOrSpread(const Instruction& in) {
  const uint32_t op = in.opcode;
  switch (in.map) {
    case 1: {
      if (in.prefix >= 2) return op != 0x6f && op != 0x7f;
      const bool part = op == 0x12 || op == 0x13 || op == 0x16 || op == 0x17;
      return part || op == 0x6e || op == 0x7e || op == 0xd6 || op == 0xc4 ||
             op == 0xe6 || op == 0x7a || op == 0x78 || op == 0x79;
    }
    case 2:
      return (op >= 0x18 && op <= 0x1b) || (op >= 0x58 && op <= 0x5b) ||
             op == 0x78 || op == 0x79;
    default:
      return in.map != 3 || (op >= 0x14 && op <= 0x22) ||
             (op >= 0x38 && op <= 0x3b);
  }
}

void ReadVex(Bytes* bytes, bool three, uint32_t* high, Instruction* in) {
  uint32_t p0 = bytes->Take();
  uint32_t p1 = p0;
  in->map = 1;
  *high = 0;
  if (three) {
    p1 = bytes->Take();
    in->map = p0 & 31;
    in->wide = p1 >> 7;
    *high = ~p0 >> 5 & 7;  // R X B
  }
  in->other = ~p1 >> 3 & 15;
  in->vector_bytes = (p1 >> 2 & 1) != 0 ? 32 : 16;
  in->prefix = p1 & 3;
}

void ReadEvex(Bytes* bytes, uint32_t* high, Instruction* in) {
  const uint32_t p0 = bytes->Take(), p1 = bytes->Take(), p2 = bytes->Take();
  in->evex = true;
  in->map = p0 & 7;
  *high = ~p0 >> 5 & 7;
  in->wide = p1 >> 7;
  in->other = ~p1 >> 3 & 15;
  in->prefix = p1 & 3;
  in->vector_bytes = 16u << (p2 >> 5 & 3);
  in->broadcast = p2 >> 4 & 1;
  in->index_high = (~p2 >> 3 & 1) * 16;
  in->mask = p2 & 7;
}

// What a displacement of one byte is a multiple of.
int64_t DisplacementUnit(const Instruction& in) {
  if (!in.evex) return 1;
  if (IsGather(in)) return in.wide ? 8 : 4;
  return in.vector_bytes / Fraction(in);
}

bool ReadOperand(Bytes* bytes, uint32_t high, Instruction* in) {
  const uint32_t modrm = bytes->Take();
  const uint32_t mode = modrm >> 6;
  if (mode == 3) return false;
  uint32_t rm = modrm & 7;
  in->base = rm | (high & 1) << 3;
  if (rm == 4) {
    const uint32_t sib = bytes->Take();
    rm = sib & 7;
    in->base = rm | (high & 1) << 3;
    in->index = (sib >> 3 & 7) | (high >> 1 & 1) << 3;
    in->scale = sib >> 6;
    in->has_index = in->index != 4 || IsGather(*in);
    in->has_base = mode != 0 || rm != 5;
  } else if (mode == 0 && rm == 5) {
    return false;  // a constant
  }
  if (mode == 1) {
    in->displacement = bytes->TakeSigned(1) * DisplacementUnit(*in);
  } else if (mode == 2 || !in->has_base) {
    in->displacement = bytes->TakeSigned(4);
  }
  return bytes->ok;
}

bool Read(const uint8_t* code, uint64_t room, Instruction* in) {
  Bytes bytes(code, room);
  uint32_t high = 0;  // R X B
  switch (bytes.Take()) {
    case 0xc5:
      ReadVex(&bytes, false, &high, in);
      break;
    case 0xc4:
      ReadVex(&bytes, true, &high, in);
      break;
    case 0x62:
      ReadEvex(&bytes, &high, in);
      break;
    default:
      return false;
  }
  in->opcode = bytes.Take();
  return ReadOperand(&bytes, high, in);
}

// ---- Elements ---------------------------------------------------------------

// Bit per element whose sign is set.
uint32_t Signs(const uint8_t* vector, uint32_t count, uint32_t bytes) {
  uint32_t signs = 0;
  for (uint32_t i = 0; i < count; ++i) {
    signs |= static_cast<uint32_t>(vector[i * bytes + bytes - 1] >> 7) << i;
  }
  return signs;
}

uint64_t AllOf(uint32_t count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}

void SetActive(const Instruction& in, const VectorRegisters& registers,
               uint32_t bytes, VectorAccess* access) {
  uint64_t active = AllOf(access->count);
  if (in.evex && in.mask != 0) {
    active &= registers.Mask(in.mask);
  } else if (IsVectorMasked(in) || (!in.evex && IsGather(in))) {
    uint8_t vector[64];
    registers.Vector(in.other, vector);
    active &= Signs(vector, access->count, bytes);
  }
  access->active = static_cast<uint32_t>(active);
}

uint64_t BaseOf(const Instruction& in, const ucontext_t& context) {
  uint64_t base = in.has_base ? GeneralRegister(context, in.base) : 0;
  return base + static_cast<uint64_t>(in.displacement);
}

void SetGather(const Instruction& in, const VectorRegisters& registers,
               uint64_t base, uint32_t bytes, VectorAccess* access) {
  const uint32_t index_bytes = (in.opcode & 1) != 0 ? 8 : 4;
  const uint32_t widest = index_bytes > bytes ? index_bytes : bytes;
  access->count = in.vector_bytes / widest;
  uint8_t vector[64];
  registers.Vector(in.index + in.index_high, vector);
  for (uint32_t i = 0; i < access->count; ++i) {
    int64_t index = 0;
    std::memcpy(&index, vector + i * index_bytes, index_bytes);
    if (index_bytes == 4) index = static_cast<int32_t>(index);
    access->addresses[i] = base + (static_cast<uint64_t>(index) << in.scale);
  }
}

}  // namespace

VectorAccess DecodeVectorAccess(const uint8_t* code, uint64_t room,
                                const ucontext_t& context, uint32_t bytes,
                                bool gather) {
  VectorAccess access;
  Instruction in;
  const VectorRegisters registers(context);
  if (!registers.known() || !Read(code, room, &in)) return access;
  if (IsGather(in) != gather || in.broadcast) return access;
  uint64_t base = BaseOf(in, context);
  if (gather) {
    if ((in.wide ? 8u : 4u) != bytes) return access;
    SetGather(in, registers, base, bytes, &access);
  } else {
    if (IsScalarOrSpread(in)) return access;
    if (in.has_index) {
      base += GeneralRegister(context, in.index) << in.scale;
    }
    const uint32_t count = in.vector_bytes / Fraction(in) / bytes;
    access.count = count < 32 ? count : 32;
    for (uint32_t i = 0; i < access.count; ++i) {
      access.addresses[i] = base + i * bytes;
    }
  }
  SetActive(in, registers, bytes, &access);
  return access;
}

#else

VectorAccess DecodeVectorAccess(const uint8_t*, uint64_t, const ucontext_t&,
                                uint32_t, bool) {
  return {};
}

#endif

}  // namespace hetgpu::cpu
