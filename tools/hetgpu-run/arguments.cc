#include "tools/hetgpu-run/arguments.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tools/common/exit_code.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

struct Encoded {
  std::string bytes;
  uint64_t align = 1;
};

std::string BytesOf(uint64_t bits, uint32_t size) {
  char text[8];
  std::memcpy(text, &bits, sizeof text);
  return std::string(text, size);
}

class Encoder {
 public:
  Encoder(const Variables& variables, const AddressResolver& resolve)
      : variables_(variables), resolve_(resolve) {}

  absl::StatusOr<Encoded> Encode(const Argument& argument) const {
    return std::visit([this](const auto& form) { return Form(form); },
                      argument.form);
  }

 private:
  absl::StatusOr<Encoded> Form(const Address& address) const {
    ASSIGN_OR_RETURN(const uint64_t value, resolve_(address));
    return Encoded{BytesOf(value, 8), 8};
  }
  absl::StatusOr<Encoded> Form(const Argument::Scalar& scalar) const {
    ASSIGN_OR_RETURN(const Literal value, Substitute(scalar.value, variables_));
    ASSIGN_OR_RETURN(const uint64_t bits, EncodeLiteral(value, scalar.type));
    const uint32_t size = SizeOf(scalar.type);
    return Encoded{BytesOf(bits, size), size};
  }
  absl::StatusOr<Encoded> Form(const Argument::Bytes& raw) const {
    return Encoded{raw.bytes, 1};
  }
  absl::StatusOr<Encoded> Form(const Argument::Struct& record) const {
    Encoded result;
    for (const Argument& argument : record.members) {
      ASSIGN_OR_RETURN(const Encoded member, Encode(argument));
      Pad(&result.bytes, member.align);
      result.bytes += member.bytes;
      result.align = std::max(result.align, member.align);
    }
    Pad(&result.bytes, result.align);
    return result;
  }
  static void Pad(std::string* bytes, uint64_t align) {
    bytes->resize((bytes->size() + align - 1) / align * align);
  }

  const Variables& variables_;
  const AddressResolver& resolve_;
};

}  // namespace

absl::StatusOr<Literal> Substitute(const Literal& literal,
                                   const Variables& variables) {
  if (literal.kind != Literal::Kind::kVariable) return literal;
  const auto found = variables.find(literal.name);
  if (found == variables.end()) {
    return absl::InvalidArgumentError(
        Cat("no loop here has the variable '", literal.name, "'"));
  }
  return found->second;
}

absl::StatusOr<std::string> EncodeArgument(const Argument& argument,
                                           const Variables& variables,
                                           const AddressResolver& resolve) {
  ASSIGN_OR_RETURN(Encoded encoded,
                   Encoder(variables, resolve).Encode(argument));
  return std::move(encoded.bytes);
}

absl::StatusOr<std::string> PackArguments(
    const std::vector<Argument>& arguments,
    const std::vector<ParameterSlot>& slots, uint64_t block_bytes,
    const Variables& variables, const AddressResolver& resolve) {
  if (arguments.size() != slots.size()) {
    return absl::AbortedError(Cat(arguments.size(),
                                  " arguments are given, but the kernel has ",
                                  slots.size(), " parameters"));
  }
  std::string block(block_bytes, '\0');
  for (size_t i = 0; i < slots.size(); ++i) {
    const ParameterSlot& slot = slots[i];
    auto bytes = EncodeArgument(arguments[i], variables, resolve);
    if (!bytes.ok()) {
      return Annotate(bytes.status(), Cat("argument ", i));
    }
    if (bytes->size() != slot.size || slot.offset + slot.size > block.size()) {
      return absl::AbortedError(Cat("argument ", i, " has ", bytes->size(),
                                    " bytes, but parameter '", slot.name,
                                    "' has ", slot.size));
    }
    std::memcpy(block.data() + slot.offset, bytes->data(), bytes->size());
  }
  return block;
}

}  // namespace hetgpu::tools
