#include "backends/cuda/compile/ptx_asm.h"

#include "llvm/IR/InlineAsm.h"

namespace hetgpu::cuda {
namespace {

// The type that travels in a register for `type`.
llvm::Type* RegisterType(llvm::Type* type) {
  unsigned bits = type->getPrimitiveSizeInBits();
  if (type->isVectorTy()) {
    return llvm::Type::getIntNTy(type->getContext(), bits);
  }
  if (type->isIntegerTy(8)) return llvm::Type::getInt16Ty(type->getContext());
  return type;
}

char Letter(llvm::Type* type) {
  if (type->isFloatTy()) return 'f';
  if (type->isDoubleTy()) return 'd';
  switch (type->getPrimitiveSizeInBits()) {
    case 1: return 'b';
    case 16: return 'h';
    case 64: return 'l';
    case 128: return 'q';
    default: return 'r';
  }
}

llvm::Value* ToRegister(llvm::IRBuilder<>& ir, llvm::Value* value) {
  llvm::Type* type = RegisterType(value->getType());
  if (value->getType()->isIntegerTy(8)) return ir.CreateZExt(value, type);
  return ir.CreateBitCast(value, type);
}

llvm::Value* FromRegister(llvm::IRBuilder<>& ir, llvm::Value* value,
                          llvm::Type* type) {
  if (type->isIntegerTy(8)) return ir.CreateTrunc(value, type);
  return ir.CreateBitCast(value, type);
}

// Constants are written as such: some instructions (barriers) are better with
// them. Those of other sizes may stand for floats.
bool IsImmediate(llvm::Value* value) {
  return llvm::isa<llvm::ConstantInt>(value) &&
         value->getType()->isIntegerTy(32);
}

void SetEffect(llvm::CallInst* call, AsmEffect effect) {
  call->addFnAttr(llvm::Attribute::NoUnwind);
  if (effect == AsmEffect::kNone || effect == AsmEffect::kVolatile) {
    call->setMemoryEffects(llvm::MemoryEffects::none());
  }
  if (effect == AsmEffect::kRead) {
    call->setMemoryEffects(llvm::MemoryEffects::readOnly());
  }
  if (effect == AsmEffect::kNone || effect == AsmEffect::kRead) {
    call->addFnAttr(llvm::Attribute::WillReturn);
  }
  if (effect == AsmEffect::kConvergent) {
    call->addFnAttr(llvm::Attribute::Convergent);
  }
}

}  // namespace

llvm::SmallVector<llvm::Value*> EmitAsm(llvm_ir::Emitter& e,
                                        const llvm::Twine& text,
                                        llvm::ArrayRef<llvm::Type*> results,
                                        llvm::ArrayRef<llvm::Value*> arguments,
                                        AsmEffect effect) {
  llvm::IRBuilder<>& ir = e.ir();
  std::string constraints;
  auto add = [&](llvm::StringRef prefix, llvm::Type* type) {
    if (!constraints.empty()) constraints += ',';
    constraints += prefix;
    constraints += Letter(type);
  };
  llvm::SmallVector<llvm::Type*> result_types;
  for (llvm::Type* type : results) {
    result_types.push_back(RegisterType(type));
    add("=", result_types.back());
  }
  llvm::SmallVector<llvm::Value*> operands;
  llvm::SmallVector<llvm::Type*> operand_types;
  for (llvm::Value* argument : arguments) {
    operands.push_back(ToRegister(ir, argument));
    operand_types.push_back(operands.back()->getType());
    if (IsImmediate(argument)) {
      constraints += constraints.empty() ? "n" : ",n";
    } else {
      add("", operand_types.back());
    }
  }
  bool memory =
      effect == AsmEffect::kMemory || effect == AsmEffect::kConvergent;
  if (memory) constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
  llvm::Type* result = ir.getVoidTy();
  if (result_types.size() == 1) result = result_types.front();
  if (result_types.size() > 1) {
    result = llvm::StructType::get(e.context(), result_types);
  }
  llvm::InlineAsm* code = llvm::InlineAsm::get(
      llvm::FunctionType::get(result, operand_types, false), text.str(),
      constraints, memory || effect == AsmEffect::kVolatile);
  llvm::CallInst* call = ir.CreateCall(code, operands);
  SetEffect(call, effect);
  llvm::SmallVector<llvm::Value*> values;
  for (size_t i = 0; i < results.size(); ++i) {
    llvm::Value* value =
        results.size() == 1 ? call : ir.CreateExtractValue(call, i);
    values.push_back(FromRegister(ir, value, results[i]));
  }
  return values;
}

llvm::Value* EmitAsm(llvm_ir::Emitter& e, const llvm::Twine& text,
                     llvm::Type* result,
                     llvm::ArrayRef<llvm::Value*> arguments,
                     AsmEffect effect) {
  return EmitAsm(e, text, llvm::ArrayRef<llvm::Type*>(result), arguments,
                 effect)
      .front();
}

std::string Operation(const llvm::Twine& op, size_t arguments) {
  std::string text = op.str() + " $0";
  for (size_t i = 1; i <= arguments; ++i) text += ", $" + std::to_string(i);
  return text + ";";
}

}  // namespace hetgpu::cuda
