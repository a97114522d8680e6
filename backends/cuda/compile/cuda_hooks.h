// NVIDIA's side of emission (llvm_ir/target_hooks.h), beyond what all GPUs have
// in common (llvm_ir/gpu/gpu_hooks.h).
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_CUDA_HOOKS_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_CUDA_HOOKS_H_

#include <vector>

#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/image.h"
#include "backends/llvm_ir/gpu/gpu_hooks.h"

namespace hetgpu::cuda {

class CudaHooks : public llvm_ir::GpuHooks {
 public:
  CudaHooks(hetir::KernelOp kernel, unsigned sm);

  // Const variables that the emitted code reads from constant memory.
  const std::vector<ConstCopy>& const_copies() const { return const_copies_; }

  void DecorateFunction(llvm::Function& function) override;
  bool TryEmit(llvm_ir::Emitter& e, mlir::Operation* op) override;
  llvm::Value* ConstPointer(llvm_ir::Emitter& e,
                            hetir::DataAddressOp op) override;
  // In 32 bits where the source has 32: shared accesses are emitted as such
  // (own_memory.cc), and LLVM's own pointers have 64.
  llvm::Value* SharedAddress(llvm_ir::Emitter& e,
                             hetir::SharedAddressOp op) override;
  llvm::Value* IsSpace(llvm_ir::Emitter& e, hetir::IsSpaceOp op) override;
  llvm::Value* SpecialRegister(llvm_ir::Emitter& e,
                               hetir::SpecialRegisterOp op) override;
  llvm::Value* Timer(llvm_ir::Emitter& e, hetir::TimerOp op) override;
  void EndWithTrap(llvm_ir::Emitter& e, llvm_ir::Trap kind,
                   llvm::Value* lane) override;
  void EndThread(llvm_ir::Emitter& e) override;
  absl::Status EmitSync(llvm_ir::Emitter& e, mlir::Operation* op) override;
  absl::Status EmitService(llvm_ir::Emitter& e, mlir::Operation* op) override;
  absl::StatusOr<llvm::Value*> DirectedF64(
      llvm_ir::Emitter& e, mlir::Operation* op, hetir::Rounding rounding,
      llvm::ArrayRef<llvm::Value*> arguments) override;

 private:
  const Device device_;
  std::vector<ConstCopy> const_copies_;
};

// Barriers and collectives (sync.cc).
absl::Status EmitThreadSync(llvm_ir::Emitter& e, mlir::Operation* op);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_CUDA_HOOKS_H_
