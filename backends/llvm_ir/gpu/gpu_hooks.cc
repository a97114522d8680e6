#include "backends/llvm_ir/gpu/gpu_hooks.h"

#include <algorithm>

#include "backends/llvm_ir/ir_util.h"
#include "llvm/IR/Module.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Space;

constexpr unsigned kDataArgument = 0;
constexpr unsigned kBlockArgument = 1;
// No variable asks for more, and shared memory comes in such pieces anyway.
constexpr uint64_t kSharedAlign = 128;

// The alignment that the arrays of dynamic shared memory can rely on.
uint64_t DynamicAlign(uint64_t offset) {
  if (offset == 0) return kSharedAlign;
  return std::clamp<uint64_t>(offset & -offset, 16, kSharedAlign);
}

}  // namespace

llvm::Value* GpuHooks::Fit(Emitter& e, llvm::Value* value,
                           mlir::Value result) {
  return e.ir().CreateZExtOrTrunc(value, e.TypeOf(result));
}

std::vector<llvm::Type*> GpuHooks::HiddenParameters(
    llvm::LLVMContext& context) {
  return {llvm::Type::getInt64Ty(context)};
}

std::vector<llvm::Type*> GpuHooks::KernelParameters(
    llvm::LLVMContext& context) {
  if (kernel_.getParamBytes() == 0) return {};
  return {llvm::PointerType::getUnqual(context)};
}

uint64_t GpuHooks::DecorateParameterBlock(llvm::Function& function) {
  uint64_t bytes = kernel_.getParamBytes();
  if (bytes == 0) return 0;
  llvm::LLVMContext& context = function.getContext();
  llvm::AttrBuilder attributes(context);
  attributes.addByValAttr(
      llvm::ArrayType::get(llvm::Type::getInt8Ty(context), bytes));
  attributes.addAlignmentAttr(kGpuParamOffset);
  function.getArg(kBlockArgument)->addAttrs(attributes);
  return bytes;
}

llvm::Value* GpuHooks::SpaceBase(Emitter& e, Space space) {
  if (space != Space::param) return nullptr;
  llvm::Function* function = e.function();
  if (function->arg_size() > kBlockArgument && e.in_kernel()) {
    return function->getArg(kBlockArgument);
  }
  // A kernel without parameters that reads some: nothing is there.
  return llvm::ConstantPointerNull::get(e.ir().getPtrTy());
}

unsigned GpuHooks::AddressSpaceOf(Space space) {
  switch (space) {
    case Space::global: return spaces_.global;
    // At its address const data lies in the segment, which is global.
    case Space::constant: return spaces_.global;
    case Space::shared: return spaces_.shared;
    case Space::local: return spaces_.local;
    case Space::generic:
    case Space::param: return 0;
  }
  return 0;
}

uint64_t GpuHooks::BaseAlignment(Space space) {
  return space == Space::param ? kGpuParamOffset : 1;
}

llvm::Value* GpuHooks::LocalAddress(Emitter& e, llvm::AllocaInst* array) {
  Ir& ir = e.ir();
  llvm::Value* pointer = ir.CreateAddrSpaceCast(
      array, llvm::PointerType::get(e.context(), spaces_.local));
  return ir.CreatePtrToInt(pointer, ir.getInt64Ty());
}

void GpuHooks::DecorateLoad(llvm::LoadInst* load, hetir::LoadOp op) {
  // Constant memory is an operand of arithmetic. Loads from it that may move
  // are hoisted out of loops and fill registers.
  if (load->getPointerAddressSpace() == spaces_.constant) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
  }
  if (op.getCache() != hetir::CacheHint::read_only) return;
  load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                    llvm::MDNode::get(load->getContext(), {}));
}

llvm::Value* GpuHooks::DataAddress(Emitter& e, hetir::DataAddressOp op) {
  llvm::Value* data = e.function()->getArg(kDataArgument);
  return Fit(e, e.ir().CreateAdd(data, e.ir().getInt64(op.getOffset())),
             op.getResult());
}

std::string GpuHooks::OwnName(llvm::StringRef name) {
  return (name + "_of_" + kernel_.getSymName()).str();
}

llvm::GlobalVariable* GpuHooks::SharedMemory(llvm::Module& module,
                                             bool dynamic) {
  const std::string name =
      OwnName(dynamic ? "hetgpu_dynamic" : "hetgpu_static");
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  uint64_t bytes = dynamic ? 0 : kernel_.getStaticShared();
  auto* type = llvm::ArrayType::get(
      llvm::Type::getInt8Ty(module.getContext()), bytes);
  auto* memory = new llvm::GlobalVariable(
      module, type, /*isConstant=*/false,
      dynamic ? llvm::GlobalValue::ExternalLinkage
              : llvm::GlobalValue::InternalLinkage,
      dynamic ? nullptr : llvm::UndefValue::get(type), name, nullptr,
      llvm::GlobalValue::NotThreadLocal, spaces_.shared);
  memory->setAlignment(llvm::Align(
      dynamic ? DynamicAlign(kernel_.getDynamicSharedOffset())
              : kSharedAlign));
  return memory;
}

uint64_t GpuHooks::SharedOffset(hetir::SharedAddressOp op) {
  return op.getOffset() -
         (op.getDynamic() ? kernel_.getDynamicSharedOffset() : 0);
}

// The machine places both kinds itself, one behind the other.
llvm::Value* GpuHooks::SharedAddress(Emitter& e, hetir::SharedAddressOp op) {
  Ir& ir = e.ir();
  llvm::GlobalVariable* memory =
      SharedMemory(*e.function()->getParent(), op.getDynamic());
  llvm::Value* pointer =
      ir.CreateConstGEP1_64(ir.getInt8Ty(), memory, SharedOffset(op));
  return ir.CreatePtrToInt(pointer, e.TypeOf(op.getResult()));
}

llvm::Value* GpuHooks::Cast(Emitter& e, llvm::Value* address, unsigned from,
                            unsigned to) {
  Ir& ir = e.ir();
  if (from == to) return address;
  llvm::Value* pointer = ir.CreateIntToPtr(
      ir.CreateZExt(address, ir.getInt64Ty()),
      llvm::PointerType::get(e.context(), from));
  return ir.CreatePtrToInt(
      ir.CreateAddrSpaceCast(pointer,
                             llvm::PointerType::get(e.context(), to)),
      ir.getInt64Ty());
}

// A global address is its own generic address.
llvm::Value* GpuHooks::ToGeneric(Emitter& e, hetir::ToGenericOp op) {
  Ir& ir = e.ir();
  llvm::Value* address = e.Get(op.getAddress());
  if (op.getSpace() == Space::param) {
    llvm::Value* base =
        ir.CreatePtrToInt(SpaceBase(e, Space::param), ir.getInt64Ty());
    return ir.CreateAdd(base, ir.CreateZExt(address, ir.getInt64Ty()));
  }
  unsigned space = AddressSpaceOf(op.getSpace());
  if (space == spaces_.global) return Fit(e, address, op.getResult());
  return Fit(e, Cast(e, address, space, 0), op.getResult());
}

llvm::Value* GpuHooks::FromGeneric(Emitter& e, hetir::FromGenericOp op) {
  Ir& ir = e.ir();
  llvm::Value* address = e.Get(op.getAddress());
  if (op.getSpace() == Space::param) {
    llvm::Value* base =
        ir.CreatePtrToInt(SpaceBase(e, Space::param), ir.getInt64Ty());
    return Fit(e, ir.CreateSub(address, base), op.getResult());
  }
  unsigned space = AddressSpaceOf(op.getSpace());
  if (space == spaces_.global) return Fit(e, address, op.getResult());
  return Fit(e, Cast(e, address, 0, space), op.getResult());
}

LaneForm GpuHooks::RegisterForm(Emitter& e, hetir::SpecialRegisterOp) {
  llvm_unreachable("only vectors of lanes have forms");
}

}  // namespace hetgpu::llvm_ir
