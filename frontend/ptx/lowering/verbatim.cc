// Instructions handed on as they stand, as hetir.vendor, to a compiler for the
// devices whose they are. Their operands become values; the text keeps the
// rest.
#include <cstring>
#include <string>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/verbatim.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

class Verbatim {
 public:
  explicit Verbatim(Lowering& l) : l_(l) {}

  void Lower() {
    for (size_t i = 0; i < l_.num_operands(); ++i) Collect(l_.operand(i));
    std::string text(l_.inst().opcode->text);
    for (size_t i = 0; i < l_.num_operands(); ++i) {
      text += (i == 0 ? " " : ", ") + TextOfFragment(i);
    }
    if (l_.failed()) return;
    auto op = l_.Create<hetir::VendorOp>(
        types_, llvm::StringRef("nv"), llvm::StringRef(text + ";"),
        llvm::StringRef(), inputs_);
    for (size_t i = 0; i < results_.size(); ++i) {
      l_.Write(results_[i], op.getOutputs()[i], TypeOfRegister(results_[i]));
    }
  }

 private:
  Type TypeOfRegister(const Operand& operand) {
    return l_.body().RegisterType(operand.index);
  }

  // The registers that the instruction writes: they come first in numbers.
  void Collect(const Operand& operand) {
    for (const Operand& part : l_.body().Children(operand)) Collect(part);
    if (operand.kind != OperandKind::kRegister || !operand.is_dest) return;
    results_.push_back(operand);
    types_.push_back(l_.TypeOf(TypeOfRegister(operand)));
  }

  // Whether operand `i` must be a list, even of one register.
  bool IsFragment(size_t i) const {
    switch (l_.inst().op()) {
      case Op::kMma:
      case Op::kWmmaMma: return true;
      case Op::kLdmatrix:
      case Op::kSuld:
      case Op::kWmmaLoad: return i == 0;
      case Op::kStmatrix:
      case Op::kSust:
      case Op::kWmmaStore: return i == 1;
      default: return false;
    }
  }

  std::string TextOfFragment(size_t i) {
    std::string text = TextOf(l_.operand(i));
    bool one = l_.operand(i).kind == OperandKind::kRegister && IsFragment(i);
    return one ? "{" + text + "}" : text;
  }

  std::string Input(Value value) {
    inputs_.push_back(value);
    return Cat("$", results_.size() + inputs_.size() - 1);
  }

  std::string Parts(const Operand& operand, std::string_view between) {
    std::string text;
    for (const Operand& part : l_.body().Children(operand)) {
      if (!text.empty()) text += between;
      text += TextOf(part);
    }
    return text;
  }

  std::string TextOfImmediate(const Operand& operand) {
    if (operand.type == Type::kNone || IsFloatValue(operand.type)) {
      l_.Refuse("a constant that may be a float");
    }
    return Cat(operand.value);
  }

  // [handle, {x, y}], [handle, sampler, {x, y}] and [handle]: textures and
  // surfaces by 64-bit handles, of which the driver knows what they are.
  std::string TextOfHandle(const Operand& handle) {
    if (handle.kind != OperandKind::kRegister) {
      l_.Refuse("a texture, sampler or surface that is no 64-bit handle");
      return "";
    }
    return Input(l_.Read(handle, Type::kU64));
  }

  std::string TextOfTexel(const Operand& operand) {
    if (operand.num_children == 0) {
      if (operand.address_base != AddressBase::kRegister ||
          operand.value != 0) {
        l_.Refuse("a texture, sampler or surface that is no 64-bit handle");
        return "";
      }
      return "[" + Input(l_.ReadAddress(operand, hetir::Space::generic).base) +
             "]";
    }
    std::string text = "[";
    const size_t last = operand.num_children - 1;
    for (size_t i = 0; i < last; ++i) {
      text += TextOfHandle(l_.child(operand, i)) + ", ";
    }
    const Operand& place = l_.child(operand, last);
    const bool one = place.kind != OperandKind::kVector;
    return text + (one ? "{" + TextOf(place) + "}" : TextOf(place)) + "]";
  }

  bool IsTexel() const {
    switch (l_.inst().op()) {
      case Op::kTex:
      case Op::kTld4:
      case Op::kTxq:
      case Op::kSuld:
      case Op::kSust:
      case Op::kSured:
      case Op::kSuq: return true;
      default: return false;
    }
  }

  std::string TextOfAddress(const Operand& operand) {
    if (IsTexel()) return TextOfTexel(operand);
    if (operand.num_children != 0) l_.Refuse("compound address");
    Address address = l_.ReadAddress(operand, l_.SpaceOf(l_.mods().space));
    std::string text = "[" + Input(address.base);
    if (address.offset != 0) text += Cat("+", address.offset);
    return text + "]";
  }

  std::string TextOf(const Operand& operand) {
    switch (operand.kind) {
      case OperandKind::kRegister:
        if (operand.is_dest) return Cat("$", next_result_++);
        return Input(l_.Read(operand, TypeOfRegister(operand)));
      case OperandKind::kImmediate: return TextOfImmediate(operand);
      case OperandKind::kAddress: return TextOfAddress(operand);
      case OperandKind::kVector: return "{" + Parts(operand, ", ") + "}";
      case OperandKind::kPair: return Parts(operand, "|");
      case OperandKind::kSink: return "_";
      default:
        l_.Refuse("unexpected kind of operand");
        return "";
    }
  }

  Lowering& l_;
  std::vector<Operand> results_;
  llvm::SmallVector<mlir::Type> types_;
  Values inputs_;
  size_t next_result_ = 0;
};

void LowerVerbatim(Lowering& l) { Verbatim(l).Lower(); }

// What has a slow portable form, or none.
constexpr LoweringRow kRows[] = {
    {Op::kMma, Effect::kEffect, LowerVerbatim},
    {Op::kWmmaMma, Effect::kEffect, LowerVerbatim},
    {Op::kWmmaLoad, Effect::kEffect, LowerVerbatim},
    {Op::kWmmaStore, Effect::kEffect, LowerVerbatim},
    {Op::kLdmatrix, Effect::kEffect, LowerVerbatim},
    {Op::kStmatrix, Effect::kEffect, LowerVerbatim},
    {Op::kMovmatrix, Effect::kEffect, LowerVerbatim},
    {Op::kBarrierClusterArrive, Effect::kEffect, LowerVerbatim},
    {Op::kBarrierClusterWait, Effect::kEffect, LowerVerbatim},
    {Op::kAlloca, Effect::kEffect, LowerVerbatim},
    {Op::kTex, Effect::kEffect, LowerVerbatim},
    {Op::kTld4, Effect::kEffect, LowerVerbatim},
    {Op::kTxq, Effect::kEffect, LowerVerbatim},
    {Op::kSuld, Effect::kEffect, LowerVerbatim},
    {Op::kSust, Effect::kEffect, LowerVerbatim},
    {Op::kSured, Effect::kEffect, LowerVerbatim},
    {Op::kSuq, Effect::kEffect, LowerVerbatim},
    {Op::kStacksave, Effect::kEffect, LowerVerbatim},
    {Op::kStackrestore, Effect::kEffect, LowerVerbatim},
};

}  // namespace

const LoweringRow* FindVerbatimRow(Op op) {
  for (const LoweringRow& row : kRows) {
    if (row.op == op) return &row;
  }
  return nullptr;
}

}  // namespace hetgpu::ptx
