// PTX text: whatever the parser accepts must be a consistent tree, and whatever
// it refuses must say where.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "frontend/ptx/dump.h"
#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"

namespace {

using namespace hetgpu::ptx;

void Require(bool condition) {
  if (!condition) std::abort();
}

void RequirePlace(const absl::Status& status) {
  std::string message(status.message());
  Require(message.rfind("f.ptx:", 0) == 0);
}

void CheckOperand(const Module& module, const Function& function,
                  const Operand& operand) {
  const Body& body = *function.body;
  Require(size_t{operand.first_child} + operand.num_children <=
          body.operands.size());
  switch (operand.kind) {
    case OperandKind::kRegister:
      Require(operand.index < body.num_registers);
      break;
    case OperandKind::kLabel:
      Require(operand.index < body.labels.size());
      break;
    case OperandKind::kTargets:
      Require(operand.index < body.target_tables.size());
      break;
    case OperandKind::kPrototype:
      Require(operand.index < body.prototypes.size());
      break;
    case OperandKind::kPair:
      Require(operand.num_children == 2);
      break;
    default:
      break;
  }
}

void CheckBody(const Module& module, const Function& function) {
  const Body& body = *function.body;
  uint32_t next = 0;
  for (const RegisterGroup& group : body.register_groups) {
    Require(group.first == next && group.count > 0);
    next += group.count;
  }
  Require(next == body.num_registers);
  for (const Label& label : body.labels) {
    Require(label.instruction <= body.instructions.size());
  }
  for (const Instruction& instruction : body.instructions) {
    Require(instruction.opcode != nullptr);
    Require(instruction.guard == kNone ||
            body.RegisterType(instruction.guard) == Type::kPred);
    Require(instruction.loc == kNone || instruction.loc < body.locs.size());
    for (const Operand& operand : body.Operands(instruction)) {
      CheckOperand(module, function, operand);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ParseOptions options;
  options.max_variable_bytes = uint64_t{1} << 20;
  options.max_initializer_bytes = uint64_t{1} << 20;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = Parse(text, "f.ptx", options);
  if (!module.ok()) {
    RequirePlace(module.status());
    return 0;
  }
  for (const Function& function : (*module)->functions) {
    Require(function.refusal.ok() || function.body == nullptr);
    if (!function.refusal.ok()) RequirePlace(function.refusal);
    if (function.body != nullptr) CheckBody(**module, function);
  }
  Require(!DumpModule(**module).empty());
  const auto info = BuildModuleInfo(**module);
  if (!info.ok()) {
    RequirePlace(info.status());
    return 0;
  }
  Require(info->data_init.size() <= info->data_size);
  for (const auto& kernel : info->kernels) {
    if (!kernel.refusal.ok()) RequirePlace(kernel.refusal);
    Require(kernel.static_shared_bytes <= kernel.dynamic_shared_offset ||
            !kernel.refusal.ok());
  }
  for (const auto& relocation : info->relocations) {
    Require(relocation.offset + 8 <= info->data_size);
  }
  return 0;
}
