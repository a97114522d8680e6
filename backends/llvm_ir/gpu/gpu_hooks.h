// What emission for GPUs has in common (../target_hooks.h): a lane of the
// hardware runs one thread, so ops are emitted as they are, without masks or
// helpers; shared, local and const memory are address spaces of the machine;
// misaligned and wild accesses are its own faults.
//
// An entry takes the address of the module's data segment, then the parameter
// block, by value:
//
//   offset 0                 kGpuParamOffset
//     | u64 data | (padding) | block … |
//
// Device functions take the data address as a hidden argument.
#ifndef HETGPU_BACKENDS_LLVM_IR_GPU_GPU_HOOKS_H_
#define HETGPU_BACKENDS_LLVM_IR_GPU_GPU_HOOKS_H_

#include "backends/llvm_ir/target_hooks.h"

namespace hetgpu::llvm_ir {

// Where the parameter block begins in what an entry takes.
inline constexpr uint64_t kGpuParamOffset = 16;

// LLVM address spaces of a target, by hetIR space.
struct GpuSpaces {
  unsigned global, constant, shared, local;
};

class GpuHooks : public TargetHooks {
 public:
  // `kernel` is the one to be emitted.
  GpuHooks(hetir::KernelOp kernel, const GpuSpaces& spaces)
      : kernel_(kernel), spaces_(spaces) {}

  std::vector<llvm::Type*> HiddenParameters(
      llvm::LLVMContext& context) override;
  std::vector<llvm::Type*> KernelParameters(
      llvm::LLVMContext& context) override;
  void DecorateFunction(llvm::Function&) override {}
  llvm::Value* SpaceBase(Emitter& e, hetir::Space space) override;
  unsigned AddressSpaceOf(hetir::Space space) override;
  uint64_t BaseAlignment(hetir::Space space) override;
  bool NeedsAlignmentChecks() override { return false; }
  bool KeepsLoops() override { return true; }
  llvm::Value* LocalAddress(Emitter& e, llvm::AllocaInst* array) override;
  void DecorateLoad(llvm::LoadInst* load, hetir::LoadOp op) override;
  llvm::Value* DataAddress(Emitter& e, hetir::DataAddressOp op) override;
  llvm::Value* SharedAddress(Emitter& e, hetir::SharedAddressOp op) override;
  llvm::Value* ToGeneric(Emitter& e, hetir::ToGenericOp op) override;
  llvm::Value* FromGeneric(Emitter& e, hetir::FromGenericOp op) override;
  LaneForm RegisterForm(Emitter& e, hetir::SpecialRegisterOp op) override;

 protected:
  // `value` as an integer of the type of `result`.
  static llvm::Value* Fit(Emitter& e, llvm::Value* value, mlir::Value result);

  // Gives the emitted kernel the attributes of a by-value block. Returns its
  // size, or 0 when it takes none.
  uint64_t DecorateParameterBlock(llvm::Function& function);
  hetir::KernelOp kernel() { return kernel_; }
  // A name for what belongs to the emitted kernel alone.
  std::string OwnName(llvm::StringRef name);
  // The static or dynamic shared memory of the kernel, made when first used,
  // and where in it a variable lies.
  llvm::GlobalVariable* SharedMemory(llvm::Module& module, bool dynamic);
  uint64_t SharedOffset(hetir::SharedAddressOp op);

 private:
  llvm::Value* Cast(Emitter& e, llvm::Value* address, unsigned from,
                    unsigned to);

  hetir::KernelOp kernel_;
  const GpuSpaces spaces_;
};

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_GPU_GPU_HOOKS_H_
