// Initial values of variables: numbers, addresses and nested lists, written to
// the bytes they will occupy.
#include <algorithm>
#include <cstring>

#include "frontend/ptx/immediate.h"
#include "frontend/ptx/parse_context.h"

namespace hetgpu::ptx {
namespace {

class InitializerParser {
 public:
  InitializerParser(ParseContext* context, Variable* variable)
      : context_(*context),
        cursor_(context->cursor),
        variable_(*variable),
        element_(TypeBytes(variable->type)) {
    // extents_[k]: elements in one item of a list at brace level k.
    extents_.push_back(1);
    if (variable_.vector > 1) extents_.push_back(variable_.vector);
    for (size_t i = variable_.dims.size(); i-- > 0;) {
      if (variable_.unsized && i == 0) break;
      extents_.push_back(extents_.back() * variable_.dims[i]);
    }
    std::reverse(extents_.begin(), extents_.end());
    if (variable_.unsized) extents_.insert(extents_.begin(), ~uint64_t{0});
  }

  bool Parse() {
    variable_.has_initializer = true;
    cursor_.SkipSpace();
    bool ok = cursor_.Peek() == '{' ? List(0, 0) : Value(0);
    if (!ok) return false;
    if (variable_.unsized) SetOuterDimension();
    return true;
  }

 private:
  // At '{': items of level `level` from element `first` on.
  bool List(size_t level, uint64_t first) {
    cursor_.Advance();
    if (level + 1 >= extents_.size()) {
      return context_.FailHere(
          Cat("initial value of '", variable_.name, "' is nested too deeply"));
    }
    if (cursor_.Accept('}')) return true;
    uint64_t item = extents_[level + 1];
    uint64_t next = first;
    do {
      cursor_.SkipSpace();
      if (next - first >= extents_[level]) {
        return context_.FailHere(
            Cat("too many initial values for '", variable_.name, "'"));
      }
      if (cursor_.Peek() == '{') {
        if (!List(level + 1, next)) return false;
        next += item;
      } else {
        if (!Value(next)) return false;
        ++next;
      }
      used_ = std::max(used_, next);
    } while (cursor_.Accept(','));
    return context_.Expect('}');
  }

  bool Value(uint64_t index) {
    cursor_.SkipSpace();
    if (HasClass(cursor_.Peek(), kNameStart)) return Symbol(index, 0);
    Number number;
    SourceLocation at = cursor_.Here();
    if (!context_.Expression(&number)) return false;
    if (cursor_.Accept('(')) return Masked(index, number);
    uint64_t bits = 0;
    std::string why;
    if (!ConvertImmediate(number, variable_.type, &bits, &why)) {
      return context_.Fail(
          at, Cat("initial value of '", variable_.name, "': ", why));
    }
    uint8_t bytes[16] = {};
    std::memcpy(bytes, &bits, 8);
    bool negative = !number.is_unsigned && (bits >> 63) != 0;
    if (element_ == 16 && negative) std::memset(bytes + 8, 0xff, 8);
    return Store(index, bytes);
  }

  bool Store(uint64_t index, const uint8_t* bytes) {
    uint64_t offset = index * element_;
    if (!Reserve(offset + element_)) return false;
    std::memcpy(variable_.init_bytes.data() + offset, bytes, element_);
    return true;
  }

  bool Reserve(uint64_t size) {
    std::vector<uint8_t>& bytes = variable_.init_bytes;
    if (size <= bytes.size()) return true;
    context_.initializer_bytes += size - bytes.size();
    if (context_.initializer_bytes > context_.options.max_initializer_bytes) {
      return context_.Exhausted(cursor_.Here(),
                                "initial values of the module are larger than "
                                "the limit");
    }
    bytes.resize(size);
    return true;
  }

  // 0xff00(symbol): the number was read, and the parenthesis.
  bool Masked(uint64_t index, const Number& number) {
    if (number.kind != NumberKind::kInteger || number.bits == 0) {
      return context_.FailHere("the mask of an address is a non-zero integer");
    }
    cursor_.SkipSpace();
    if (!Symbol(index, number.bits)) return false;
    return context_.Expect(')');
  }

  // `symbol`, `generic(symbol)`, either with `+ constant` behind.
  bool Symbol(uint64_t index, uint64_t mask) {
    InitializerSymbol symbol;
    symbol.location = cursor_.Here();
    symbol.symbol = cursor_.Name();
    if (symbol.symbol == "generic" && cursor_.Accept('(')) {
      symbol.generic = true;
      symbol.symbol = cursor_.Name();
      if (symbol.symbol.empty()) return context_.FailExpected("a name");
      if (!context_.Expect(')')) return false;
    }
    if (symbol.symbol.empty()) return context_.FailExpected("a name");
    if (!Addend(&symbol.addend)) return false;
    symbol.mask = mask;
    symbol.offset = index * element_;
    symbol.size = static_cast<uint8_t>(element_);
    if (!CheckSymbolType(symbol)) return false;
    uint8_t zeros[16] = {};
    if (!Store(index, zeros)) return false;
    variable_.init_symbols.push_back(symbol);
    return true;
  }

  bool CheckSymbolType(const InitializerSymbol& symbol) {
    TypeClass cls = ClassOf(variable_.type);
    bool integer = cls == TypeClass::kBits || cls == TypeClass::kUnsigned ||
                   cls == TypeClass::kSigned;
    if (integer && (symbol.mask != 0 || element_ == 4 || element_ == 8)) {
      return true;
    }
    return context_.Fail(symbol.location, Cat("the address of '", symbol.symbol,
                                              "' cannot initialise type .",
                                              TypeName(variable_.type)));
  }

  bool Addend(int64_t* addend) {
    cursor_.SkipSpace();
    if (cursor_.Peek() != '+' && cursor_.Peek() != '-') return true;
    SourceLocation at = cursor_.Here();
    Number number;
    if (!context_.Expression(&number)) return false;
    if (number.kind != NumberKind::kInteger) {
      return context_.Fail(at, "the offset of an address is an integer");
    }
    *addend = static_cast<int64_t>(number.bits);
    return true;
  }

  // name[] = {…}: the list decides.
  void SetOuterDimension() {
    uint64_t item = std::max<uint64_t>(extents_[1], 1);
    variable_.dims[0] = (used_ + item - 1) / item;
    variable_.size = variable_.dims[0] * item * element_;
    variable_.unsized = false;
  }

  ParseContext& context_;
  Cursor& cursor_;
  Variable& variable_;
  uint64_t element_;
  std::vector<uint64_t> extents_;
  uint64_t used_ = 0;
};

}  // namespace

bool ParseInitializer(ParseContext* context, Variable* variable) {
  return InitializerParser(context, variable).Parse();
}

}  // namespace hetgpu::ptx
