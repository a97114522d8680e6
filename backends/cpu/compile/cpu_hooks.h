// The CPU's side of emission (llvm_ir/target_hooks.h).
//
// Every function has hidden arguments: the BlockContext, the thread's index
// (tid x, y, z) and the unit's number. With 32 lanes the index is three
// vectors, and collectives are computed in registers instead of by helpers.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_CPU_HOOKS_H_
#define HETGPU_BACKENDS_CPU_COMPILE_CPU_HOOKS_H_

#include "backends/cpu/arena_window.h"
#include "backends/cpu/compile/block_context.h"
#include "backends/llvm_ir/target_hooks.h"

namespace hetgpu::cpu {

struct HiddenArguments {
  // kLow and kHigh, with 32 lanes only: tid x, y, z of lanes 0 and 16.
  enum : unsigned {
    kBlock, kTidX, kTidY, kTidZ, kUnit, kLow, kHigh = kLow + 3,
  };
};

struct CpuForm {
  unsigned lanes = 1;        // 1 or 32
  uint64_t param_bytes = 0;  // of the kernel's parameter block
  unsigned vector_bytes = 16;  // of the widest registers: 16, 32 or 64
  bool memcheck = false;     // exact checks, of threads
  ArenaWindow window;
};

class CpuHooks : public llvm_ir::TargetHooks {
 public:
  explicit CpuHooks(const CpuForm& form)
      : lanes_(form.lanes),
        param_bytes_(form.param_bytes),
        vector_bytes_(form.vector_bytes),
        memcheck_(form.memcheck),
        window_(form.window) {}

  bool avx512() const { return vector_bytes_ == 64; }

  std::vector<llvm::Type*> HiddenParameters(
      llvm::LLVMContext& context) override;
  void DecorateFunction(llvm::Function& function) override;
  llvm::Value* SpaceBase(llvm_ir::Emitter& e, hetir::Space space) override;
  unsigned AddressSpaceOf(hetir::Space) override { return 0; }
  uint64_t BaseAlignment(hetir::Space space) override;
  llvm::Value* CheckAddress(llvm_ir::Emitter& e,
                            const llvm_ir::AddressCheck& check) override;
  llvm::Value* IsDoubtful(llvm_ir::Emitter& e, hetir::Space space,
                          uint64_t bytes, llvm::Value* address) override;
  llvm::Value* MoveAddress(llvm_ir::Emitter& e, hetir::Space space,
                           llvm::Value* address) override;
  std::optional<uint64_t> CheckReach(hetir::Space space) override;
  bool TestsAll(hetir::Space space) override {
    return memcheck_ && space != hetir::Space::param;
  }
  unsigned ColumnOf(const llvm_ir::LaneAccess& access) override;
  void NoteActingLane(llvm_ir::Emitter& e, llvm::Value* lane) override;
  void NoteActingLanes(llvm_ir::Emitter& e, llvm::Value* mask) override;
  unsigned GatherLanes(uint64_t bytes) override {
    return avx512() && bytes >= 4 ? 8 : 0;
  }
  bool HasWideAtomics() override;
  unsigned VectorBytes() override { return vector_bytes_; }
  llvm::Value* DataAddress(llvm_ir::Emitter& e,
                           hetir::DataAddressOp op) override;
  llvm::Value* SharedAddress(llvm_ir::Emitter& e,
                             hetir::SharedAddressOp op) override;
  llvm::Value* ToGeneric(llvm_ir::Emitter& e, hetir::ToGenericOp op) override;
  llvm::Value* FromGeneric(llvm_ir::Emitter& e,
                           hetir::FromGenericOp op) override;
  llvm::Value* IsSpace(llvm_ir::Emitter& e, hetir::IsSpaceOp op) override;
  llvm::Value* SpecialRegister(llvm_ir::Emitter& e,
                               hetir::SpecialRegisterOp op) override;
  llvm_ir::LaneForm RegisterForm(llvm_ir::Emitter& e,
                                 hetir::SpecialRegisterOp op) override;
  llvm::Value* Timer(llvm_ir::Emitter& e, hetir::TimerOp op) override;
  void EndWithTrap(llvm_ir::Emitter& e, llvm_ir::Trap kind,
                   llvm::Value* lane) override;
  void EndThread(llvm_ir::Emitter& e) override;
  absl::Status EmitSync(llvm_ir::Emitter& e, mlir::Operation* op) override;
  absl::Status EmitService(llvm_ir::Emitter& e, mlir::Operation* op) override;
  llvm::Value* DirectedF32(llvm_ir::Emitter& e, mlir::Operation* op,
                           hetir::Rounding rounding,
                           llvm::ArrayRef<llvm::Value*> arguments) override;
  absl::StatusOr<llvm::Value*> DirectedF64(
      llvm_ir::Emitter& e, mlir::Operation* op, hetir::Rounding rounding,
      llvm::ArrayRef<llvm::Value*> arguments) override;

  static llvm::Value* Block(llvm_ir::Emitter& e);
  static llvm::Value* Unit(llvm_ir::Emitter& e);

 private:
  llvm::Value* ThreadRegister(llvm_ir::Emitter& e, hetir::SpecialRegister reg);
  llvm::Value* IsOutside(llvm_ir::Emitter& e, hetir::Space space,
                         uint64_t bytes, llvm::Value* address);
  std::pair<llvm::Value*, uint64_t> BoundsOf(llvm_ir::Emitter& e,
                                             mlir::Value base);
  llvm::Value* CallExact(llvm_ir::Emitter& e,
                         const llvm_ir::AddressCheck& check);
  llvm::AllocaInst* AddressSlot(llvm_ir::Emitter& e);
  // In the cold block: the helper's answer.
  llvm::CallInst* CallCheck(llvm_ir::Emitter& e,
                            const llvm_ir::AddressCheck& check);

  unsigned lanes_;
  uint64_t param_bytes_;
  unsigned vector_bytes_;
  bool memcheck_;
  ArenaWindow window_;
  // Where a function keeps the addresses of a test that failed.
  llvm::DenseMap<llvm::Function*, llvm::AllocaInst*> address_slots_;
};

// Sync ops of a thread: calls of helpers that switch fibers (thread_sync.cc).
absl::Status EmitThreadSync(llvm_ir::Emitter& e, mlir::Operation* op);
// Sync ops of a warp: vector code; only barriers call (warp_sync.cc).
absl::Status EmitWarpSync(llvm_ir::Emitter& e, mlir::Operation* op);

// Calls a helper that may switch fibers; the block comes first, the line last.
llvm::CallInst* CallSync(llvm_ir::Emitter& e, Helper helper,
                         llvm::ArrayRef<llvm::Value*> arguments);

// Lane numbers 0 … 31.
llvm::Value* LaneNumbers(llvm_ir::Emitter& e);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_CPU_HOOKS_H_
