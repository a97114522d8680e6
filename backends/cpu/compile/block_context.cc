#include "backends/cpu/compile/block_context.h"

#include "llvm/IR/Metadata.h"

namespace hetgpu::cpu {
namespace {

template <typename T>
struct TypeOf;
template <>
struct TypeOf<void> {
  static llvm::Type* Get(llvm::LLVMContext& c) {
    return llvm::Type::getVoidTy(c);
  }
};
template <>
struct TypeOf<float> {
  static llvm::Type* Get(llvm::LLVMContext& c) {
    return llvm::Type::getFloatTy(c);
  }
};
template <>
struct TypeOf<double> {
  static llvm::Type* Get(llvm::LLVMContext& c) {
    return llvm::Type::getDoubleTy(c);
  }
};
template <typename T>
struct TypeOf<T*> {
  static llvm::Type* Get(llvm::LLVMContext& c) {
    return llvm::PointerType::getUnqual(c);
  }
};
template <typename T>
  requires std::is_integral_v<T>
struct TypeOf<T> {
  static llvm::Type* Get(llvm::LLVMContext& c) {
    return llvm::Type::getIntNTy(c, sizeof(T) * 8);
  }
};

template <typename T>
struct SignatureOf;
template <typename R, typename... Args>
struct SignatureOf<R (*)(Args...)> {
  static llvm::FunctionType* Get(llvm::LLVMContext& c) {
    return llvm::FunctionType::get(TypeOf<R>::Get(c),
                                   {TypeOf<Args>::Get(c)...}, false);
  }
};

struct HelperInfo {
  size_t offset;
  llvm::FunctionType* (*signature)(llvm::LLVMContext&);
};

constexpr HelperInfo kHelpers[] = {
#define HETGPU_CPU_HELPER_INFO(name, result, params) \
  {offsetof(Helpers, name), SignatureOf<decltype(Helpers::name)>::Get},
    HETGPU_CPU_HELPERS(HETGPU_CPU_HELPER_INFO)
#undef HETGPU_CPU_HELPER_INFO
};

void MarkInvariant(llvm::LoadInst* load) {
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(load->getContext(), {}));
}

llvm::LoadInst* LoadAt(llvm::IRBuilder<>& ir, llvm::Value* pointer,
                       size_t offset, llvm::Type* type) {
  llvm::Value* field = ir.CreateConstInBoundsGEP1_64(
      ir.getInt8Ty(), pointer, offset);
  llvm::LoadInst* load = ir.CreateAlignedLoad(
      type, field,
      llvm::Align(type->isPointerTy() ? 8
                                      : type->getPrimitiveSizeInBits() / 8));
  MarkInvariant(load);
  return load;
}

}  // namespace

llvm::Value* LoadField(llvm::IRBuilder<>& ir, llvm::Value* block,
                       size_t offset, llvm::Type* type) {
  return LoadAt(ir, block, offset, type);
}

void StoreCurrentUnit(llvm::IRBuilder<>& ir, llvm::Value* block,
                      llvm::Value* unit) {
  llvm::Value* field = ir.CreateConstInBoundsGEP1_64(
      ir.getInt8Ty(), block, offsetof(BlockContext, current_unit));
  ir.CreateAlignedStore(unit, field, llvm::Align(4));
}

llvm::CallInst* CallHelper(llvm::IRBuilder<>& ir, llvm::Value* block,
                           Helper helper,
                           llvm::ArrayRef<llvm::Value*> arguments) {
  const HelperInfo& info = kHelpers[static_cast<unsigned>(helper)];
  llvm::Value* table = LoadAt(ir, block, offsetof(BlockContext, helpers),
                              ir.getPtrTy());
  llvm::Value* callee = LoadAt(ir, table, info.offset, ir.getPtrTy());
  llvm::CallInst* call =
      ir.CreateCall(info.signature(ir.getContext()), callee, arguments);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  call->addFnAttr(llvm::Attribute::Convergent);
  return call;
}

void MarkNoReturn(llvm::CallInst* call) {
  call->addFnAttr(llvm::Attribute::NoReturn);
  call->addFnAttr(llvm::Attribute::Cold);
  call->addFnAttr(llvm::Attribute::get(call->getContext(),
                                       "no_caller_saved_registers"));
}

}  // namespace hetgpu::cpu
