// What a target supplies to the emitter: everything of hetIR that is not
// plain computation. A target implements one of these (cpu:
// backends/cpu/compile/cpu_hooks.h).
#ifndef HETGPU_BACKENDS_LLVM_IR_TARGET_HOOKS_H_
#define HETGPU_BACKENDS_LLVM_IR_TARGET_HOOKS_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "backends/llvm_ir/emitter.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace hetgpu::llvm_ir {

enum class Trap { kTrap, kMisaligned, kInvalid };

// An access that is not proven to stay within what a kernel may touch.
struct AddressCheck {
  hetir::Space space;
  uint64_t bytes;  // accessed at each address
  // What to test: an i64, or one a lane. An offset in a space of offsets.
  llvm::Value* address;
  // The addresses accessed, when `address` is only a base that they are at most
  // TargetHooks::CheckReach() away from; else null. Emitted in a cold block.
  llvm::function_ref<llvm::Value*()> exact;
  // The lanes that take part (a vector of i1), or null; then the access is that
  // of `lane`, an i32, emitted in a cold block.
  llvm::Value* mask;
  llvm::function_ref<llvm::Value*()> lane;
  // No test is needed: the address is only translated.
  bool proven;
  // The access, and where its address comes from; null where an access stands
  // for several.
  mlir::Operation* op;
  mlir::Value base;
};

// How an instruction of warp code accesses memory: once for all lanes, for the
// lane that acts, for the acting lanes from `first` on, for a run of lanes at
// adjacent addresses from lane `first` on, or for lanes from `first` on that each
// have their address. `other`: an op that is no access, into which one may have
// been folded; then `first` is 1 where that acts for the acting lanes.
struct LaneAccess {
  enum Kind { kOne, kActing, kActingLanes, kRun, kGather, kOther } kind;
  unsigned first = 0;
  uint64_t bytes = 1;  // of a lane's element
};

class TargetHooks {
 public:
  virtual ~TargetHooks() = default;

  // Hidden arguments that come first in every emitted function, and their
  // attributes.
  virtual std::vector<llvm::Type*> HiddenParameters(
      llvm::LLVMContext& context) = 0;
  virtual void DecorateFunction(llvm::Function& function) = 0;
  // What the kernel alone takes, behind the hidden arguments.
  virtual std::vector<llvm::Type*> KernelParameters(
      llvm::LLVMContext& context) {
    return {};
  }

  // Emits an op the target's own way and sets its results; false leaves it to
  // the shared table (op_table.h).
  virtual bool TryEmit(Emitter& emitter, mlir::Operation* op) { return false; }

  // Spaces whose addresses are offsets have a base pointer; null where an
  // address is a pointer as it is.
  virtual llvm::Value* SpaceBase(Emitter& emitter, hetir::Space space) = 0;
  // LLVM address space of pointers into a space.
  virtual unsigned AddressSpaceOf(hetir::Space space) = 0;
  // Alignment that SpaceBase and the start of module data have, in bytes.
  virtual uint64_t BaseAlignment(hetir::Space space) = 0;
  // Emits the test that an access stays within memory of kernels, if the target
  // has none in hardware, and returns what stands for `check.address` in the
  // access. The test ends the launch with an error.
  virtual llvm::Value* CheckAddress(Emitter& emitter,
                                    const AddressCheck& check) {
    return check.address;
  }
  // The part of that test that good accesses pass, for one address: an i1 that
  // is true where CheckAddress must decide; null: it need not.
  virtual llvm::Value* IsDoubtful(Emitter& emitter, hetir::Space space,
                                  uint64_t bytes, llvm::Value* address) {
    return nullptr;
  }
  // What stands for an address that is not doubtful in the access.
  virtual llvm::Value* MoveAddress(Emitter& emitter, hetir::Space space,
                                   llvm::Value* address) {
    return address;
  }
  // How far from a base that passed accesses need no test of their own; nullopt:
  // accesses to this space need none at all.
  virtual std::optional<uint64_t> CheckReach(hetir::Space space) {
    return std::nullopt;
  }
  // Whether every access is tested, whatever is known of its address, and with
  // the size and alignment that it has.
  virtual bool TestsAll(hetir::Space space) { return false; }
  // The column of debug locations that tells a target's fault handler whose an
  // access is; 0 where there is no such thing.
  virtual unsigned ColumnOf(const LaneAccess& access) { return 0; }
  // The accesses that follow are those of `lane`, an i32.
  virtual void NoteActingLane(Emitter& emitter, llvm::Value* lane) {}
  // The accesses that follow are made once for the lanes of a mask.
  virtual void NoteActingLanes(Emitter& emitter, llvm::Value* mask) {}
  // Lanes that one instruction gathers or scatters, of elements of `bytes`; 0:
  // there is no such instruction, and lanes go one by one.
  virtual unsigned GatherLanes(uint64_t bytes) { return 0; }
  // Bytes that one instruction loads or stores.
  virtual unsigned VectorBytes() { return 16; }
  // The largest vector that a function returns in registers.
  virtual unsigned ReturnedVectorBytes() { return 4 * VectorBytes(); }
  // Whether atomic operations on 16 bytes are instructions.
  virtual bool HasWideAtomics() { return true; }
  // Whether misaligned accesses must be caught by code: not where the machine
  // itself ends the launch.
  virtual bool NeedsAlignmentChecks() { return true; }
  // The local-space address of an array of the frame.
  virtual llvm::Value* LocalAddress(Emitter& emitter,
                                    llvm::AllocaInst* array) {
    return emitter.ir().CreatePtrToInt(array, emitter.ir().getInt64Ty());
  }
  // Pointer to const data, where the target keeps a copy in an address space
  // of its own; null: it is read at its address.
  virtual llvm::Value* ConstPointer(Emitter& emitter,
                                    hetir::DataAddressOp op) {
    return nullptr;
  }
  // Whether loops marked hetir.nounroll are to be kept from unrolling.
  virtual bool KeepsLoops() { return false; }
  // Adds what the target knows about a weak load of one thread.
  virtual void DecorateLoad(llvm::LoadInst* load, hetir::LoadOp op) {}
  virtual llvm::Value* DataAddress(Emitter& emitter,
                                   hetir::DataAddressOp op) = 0;
  virtual llvm::Value* SharedAddress(Emitter& emitter,
                                     hetir::SharedAddressOp op) = 0;
  virtual llvm::Value* ToGeneric(Emitter& emitter, hetir::ToGenericOp op) = 0;
  virtual llvm::Value* FromGeneric(Emitter& emitter,
                                   hetir::FromGenericOp op) = 0;
  virtual llvm::Value* IsSpace(Emitter& emitter, hetir::IsSpaceOp op) = 0;

  virtual llvm::Value* SpecialRegister(Emitter& emitter,
                                       hetir::SpecialRegisterOp op) = 0;
  // With vectors of lanes: tid.x, tid.y, tid.z or laneid of lanes 0 and 16,
  // valid when each half of the warp lies in one row of the block.
  virtual LaneForm RegisterForm(Emitter& emitter,
                                hetir::SpecialRegisterOp op) = 0;
  virtual llvm::Value* Timer(Emitter& emitter, hetir::TimerOp op) = 0;

  // Ends the block: the launch ends with an error. `lane` is an i32.
  virtual void EndWithTrap(Emitter& emitter, Trap kind, llvm::Value* lane) = 0;
  // Ends the block: the thread ends.
  virtual void EndThread(Emitter& emitter) = 0;

  // Sync and collective ops, and services. Sets the results.
  virtual absl::Status EmitSync(Emitter& emitter, mlir::Operation* op) = 0;
  virtual absl::Status EmitService(Emitter& emitter, mlir::Operation* op) = 0;

  // Arithmetic with a directed rounding mode (rz, rm, rp); `op` is fadd, fsub,
  // fmul, ffma, fdiv, fsqrt or frcp and `arguments` what it computes on: a
  // subtrahend is negated already, a reciprocal has its 1.
  // DirectedF32 is for targets that have instructions for it; null leaves it
  // to plain IR.
  virtual llvm::Value* DirectedF32(Emitter&, mlir::Operation*,
                                   hetir::Rounding,
                                   llvm::ArrayRef<llvm::Value*>) {
    return nullptr;
  }
  virtual absl::StatusOr<llvm::Value*> DirectedF64(
      Emitter& emitter, mlir::Operation* op, hetir::Rounding rounding,
      llvm::ArrayRef<llvm::Value*> arguments) = 0;
};

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_TARGET_HOOKS_H_
