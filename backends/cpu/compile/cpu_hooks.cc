#include "backends/cpu/compile/cpu_hooks.h"

#include <thread>

#include "backends/llvm_ir/ir_util.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace hetgpu::cpu {
namespace {

using hetir::Space;
using hetir::SpecialRegister;
using llvm_ir::Binary;
using llvm_ir::Emitter;
using llvm_ir::Int;
using llvm_ir::Ir;

constexpr size_t kU32 = sizeof(uint32_t);

llvm::Value* Field32(Emitter& e, size_t offset) {
  return LoadField(e.ir(), CpuHooks::Block(e), offset, e.ir().getInt32Ty());
}

llvm::Value* FieldPointer(Emitter& e, size_t offset) {
  return LoadField(e.ir(), CpuHooks::Block(e), offset, e.ir().getPtrTy());
}

// `value`, as an integer of the op's result type, one copy a lane if need be.
llvm::Value* Fit(Emitter& e, llvm::Value* value, mlir::Value result) {
  llvm::Type* type = e.TypeOf(result);
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (vector && !value->getType()->isVectorTy()) {
    value = e.ir().CreateVectorSplat(vector->getNumElements(), value);
  }
  return e.ir().CreateZExtOrTrunc(value, type);
}

bool IsOffset(Space space) {
  return space == Space::shared || space == Space::param;
}

// Registers that are fields of the block.
std::optional<size_t> FieldOf(SpecialRegister reg) {
  size_t axis;
  auto in = [&](SpecialRegister first) {
    axis = static_cast<size_t>(reg) - static_cast<size_t>(first);
    return axis < 3;
  };
  if (in(SpecialRegister::ntid_x)) {
    return offsetof(BlockContext, ntid) + axis * kU32;
  }
  if (in(SpecialRegister::ctaid_x)) {
    return offsetof(BlockContext, ctaid) + axis * kU32;
  }
  if (in(SpecialRegister::nctaid_x)) {
    return offsetof(BlockContext, nctaid) + axis * kU32;
  }
  switch (reg) {
    case SpecialRegister::smid: return offsetof(BlockContext, worker);
    case SpecialRegister::dynamic_smem_size:
      return offsetof(BlockContext, dynamic_shared_size);
    case SpecialRegister::total_smem_size:
      return offsetof(BlockContext, shared_size);
    case SpecialRegister::grid_workspace_lo:
      return offsetof(BlockContext, grid_workspace);
    case SpecialRegister::grid_workspace_hi:
      return offsetof(BlockContext, grid_workspace) + kU32;
    default: return std::nullopt;
  }
}

}  // namespace

llvm::Value* CpuHooks::Block(Emitter& e) {
  return e.function()->getArg(HiddenArguments::kBlock);
}
llvm::Value* CpuHooks::Unit(Emitter& e) {
  return e.function()->getArg(HiddenArguments::kUnit);
}

llvm::CallInst* CallSync(Emitter& e, Helper helper,
                         llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Value*> all = {CpuHooks::Block(e)};
  all.append(arguments.begin(), arguments.end());
  all.push_back(e.line());
  llvm::CallInst* call = CallHelper(e.ir(), CpuHooks::Block(e), helper, all);
  call->addFnAttr(llvm::Attribute::NoDuplicate);
  return call;
}

llvm::Value* LaneNumbers(Emitter& e) {
  llvm::SmallVector<uint32_t> lanes;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) lanes.push_back(lane);
  return llvm::ConstantDataVector::get(e.context(), lanes);
}

std::vector<llvm::Type*> CpuHooks::HiddenParameters(
    llvm::LLVMContext& context) {
  llvm::Type* i32 = llvm::Type::getInt32Ty(context);
  llvm::Type* tid =
      lanes_ == 1 ? i32 : llvm::FixedVectorType::get(i32, lanes_);
  std::vector<llvm::Type*> types = {llvm::PointerType::getUnqual(context),
                                    tid, tid, tid, i32};
  if (lanes_ > 1) types.insert(types.end(), 6, i32);
  return types;
}

void CpuHooks::DecorateFunction(llvm::Function& function) {
  llvm::Argument* block = function.getArg(HiddenArguments::kBlock);
  llvm::AttrBuilder attributes(function.getContext());
  attributes.addDereferenceableAttr(sizeof(BlockContext));
  attributes.addAlignmentAttr(alignof(BlockContext));
  attributes.addAttribute(llvm::Attribute::NonNull);
  block->addAttrs(attributes);
}

llvm::Value* CpuHooks::SpaceBase(Emitter& e, Space space) {
  if (space == Space::shared) {
    return FieldPointer(e, offsetof(BlockContext, shared));
  }
  if (space == Space::param) {
    return FieldPointer(e, offsetof(BlockContext, params));
  }
  return nullptr;
}

bool CpuHooks::HasWideAtomics() {
  if (!llvm::Triple(llvm::sys::getProcessTriple()).isX86()) return true;
  return llvm::sys::getHostCPUFeatures().lookup("cx16");
}

// The runtime hands out page-aligned blocks.
uint64_t CpuHooks::BaseAlignment(Space space) {
  return space == Space::local ? 1 : 64;
}

llvm::Value* CpuHooks::DataAddress(Emitter& e, hetir::DataAddressOp op) {
  llvm::Value* data = FieldPointer(e, offsetof(BlockContext, data));
  llvm::Value* address =
      e.ir().CreatePtrToInt(data, e.ir().getInt64Ty());
  address = e.ir().CreateAdd(address, e.ir().getInt64(op.getOffset()));
  return Fit(e, address, op.getResult());
}

// `dynamic` arrays start where the static ones end; the offset says so.
llvm::Value* CpuHooks::SharedAddress(Emitter& e, hetir::SharedAddressOp op) {
  return Fit(e, e.ir().getInt64(op.getOffset()), op.getResult());
}

llvm::Value* CpuHooks::ToGeneric(Emitter& e, hetir::ToGenericOp op) {
  Ir& ir = e.ir();
  llvm::Value* address = Fit(e, e.Get(op.getAddress()), op.getResult());
  if (!IsOffset(op.getSpace())) return address;
  llvm::Value* base =
      ir.CreatePtrToInt(SpaceBase(e, op.getSpace()), ir.getInt64Ty());
  return ir.CreateAdd(address, Fit(e, base, op.getResult()));
}

llvm::Value* CpuHooks::FromGeneric(Emitter& e, hetir::FromGenericOp op) {
  Ir& ir = e.ir();
  llvm::Value* address = e.Get(op.getAddress());
  if (IsOffset(op.getSpace())) {
    llvm::Value* base =
        ir.CreatePtrToInt(SpaceBase(e, op.getSpace()), ir.getInt64Ty());
    address = ir.CreateSub(address, Fit(e, base, op.getAddress()));
  }
  return Fit(e, address, op.getResult());
}

// Whether address lies in [base, base + size).
llvm::Value* CpuHooks::IsSpace(Emitter& e, hetir::IsSpaceOp op) {
  Ir& ir = e.ir();
  llvm::Type* i64 = ir.getInt64Ty();
  llvm::Value* address = e.Get(op.getAddress());
  auto in_range = [&](llvm::Value* base, llvm::Value* size) {
    base = Fit(e, ir.CreatePtrToInt(base, i64), op.getAddress());
    size = Fit(e, size, op.getAddress());
    return ir.CreateICmpULT(ir.CreateSub(address, base), size);
  };
  auto in_shared = [&] {
    return in_range(
        FieldPointer(e, offsetof(BlockContext, shared)),
        ir.CreateZExt(Field32(e, offsetof(BlockContext, shared_size)), i64));
  };
  auto in_local = [&] {
    llvm::Value* low = FieldPointer(e, offsetof(BlockContext, stack_low));
    llvm::Value* high = FieldPointer(e, offsetof(BlockContext, stack_high));
    return in_range(low, ir.CreateSub(ir.CreatePtrToInt(high, i64),
                                      ir.CreatePtrToInt(low, i64)));
  };
  auto in_param = [&] {
    return in_range(FieldPointer(e, offsetof(BlockContext, params)),
                    ir.getInt64(param_bytes_));
  };
  switch (op.getSpace()) {
    case Space::shared: return in_shared();
    case Space::local: return in_local();
    case Space::param: return in_param();
    default:
      // Const data lies in the global segment: const addresses are global.
      return ir.CreateNot(
          ir.CreateOr(in_shared(), ir.CreateOr(in_local(), in_param())));
  }
}

llvm::Value* CpuHooks::ThreadRegister(Emitter& e,
                                       hetir::SpecialRegister reg) {
  using Register = hetir::SpecialRegister;
  Ir& ir = e.ir();
  llvm::Value* lane =
      lanes_ == 1 ? ir.CreateAnd(Unit(e), ir.getInt32(kWarpSize - 1))
                  : LaneNumbers(e);
  llvm::Type* type = lane->getType();
  llvm::Value* bit = ir.CreateShl(Int(type, 1), lane);
  llvm::Value* below = ir.CreateSub(bit, Int(type, 1));
  switch (reg) {
    case Register::tid_x:
      return e.function()->getArg(HiddenArguments::kTidX);
    case Register::tid_y:
      return e.function()->getArg(HiddenArguments::kTidY);
    case Register::tid_z:
      return e.function()->getArg(HiddenArguments::kTidZ);
    case Register::laneid: return lane;
    case Register::warpid:
      return lanes_ == 1 ? ir.CreateLShr(Unit(e), 5) : Unit(e);
    case Register::lanemask_eq: return bit;
    case Register::lanemask_lt: return below;
    case Register::lanemask_le: return ir.CreateOr(below, bit);
    case Register::lanemask_ge: return ir.CreateNot(below);
    case Register::lanemask_gt:
      return ir.CreateNot(ir.CreateOr(below, bit));
    default: return nullptr;
  }
}

llvm::Value* CpuHooks::SpecialRegister(Emitter& e,
                                       hetir::SpecialRegisterOp op) {
  using Register = hetir::SpecialRegister;
  Ir& ir = e.ir();
  Register reg = op.getReg();
  if (std::optional<size_t> field = FieldOf(reg)) {
    return Fit(e, Field32(e, *field), op.getResult());
  }
  if (llvm::Value* value = ThreadRegister(e, reg)) {
    return Fit(e, value, op.getResult());
  }
  if (reg == Register::gridid) {
    return Fit(e, LoadField(ir, Block(e), offsetof(BlockContext, grid_id),
                            ir.getInt64Ty()),
               op.getResult());
  }
  if (reg == Register::nwarpid) {
    llvm::Value* threads = Field32(e, offsetof(BlockContext, thread_count));
    return Fit(e, ir.CreateLShr(ir.CreateAdd(threads, ir.getInt32(31)), 5),
               op.getResult());
  }
  // nsmid: a bound of smid. Workers may outnumber the host's processors.
  llvm::Value* worker = Field32(e, offsetof(BlockContext, worker));
  llvm::Value* bound = Binary(
      ir, llvm::Intrinsic::umax, ir.CreateAdd(worker, ir.getInt32(1)),
      ir.getInt32(std::max(1u, std::thread::hardware_concurrency())));
  return Fit(e, bound, op.getResult());
}

// Rows are a multiple of half a warp long, or there is only one. Of a single
// row the lanes past its end do not exist and do not count.
llvm_ir::LaneForm CpuHooks::RegisterForm(Emitter& e,
                                         hetir::SpecialRegisterOp op) {
  using Register = hetir::SpecialRegister;
  Ir& ir = e.ir();
  if (op.getReg() == Register::laneid) {
    return {ir.getInt32(0), ir.getInt32(kWarpSize / 2)};
  }
  unsigned axis = static_cast<unsigned>(op.getReg()) -
                  static_cast<unsigned>(Register::tid_x);
  llvm::Value* row = Field32(e, offsetof(BlockContext, ntid));
  llvm::Value* whole = ir.CreateICmpEQ(
      ir.CreateAnd(row, ir.getInt32(kWarpSize / 2 - 1)), ir.getInt32(0));
  llvm::Value* one_row = ir.CreateICmpEQ(
      row, Field32(e, offsetof(BlockContext, thread_count)));
  return {e.function()->getArg(HiddenArguments::kLow + axis),
          e.function()->getArg(HiddenArguments::kHigh + axis), 0,
          ir.CreateOr(whole, one_row)};
}

llvm::Value* CpuHooks::Timer(Emitter& e, hetir::TimerOp op) {
  using hetir::Timer;
  Timer timer = op.getTimer();
  bool global = timer == Timer::globaltimer ||
                timer == Timer::globaltimer_lo ||
                timer == Timer::globaltimer_hi;
  bool upper = timer == Timer::clock_hi || timer == Timer::globaltimer_hi;
  llvm::Value* now =
      CallHelper(e.ir(), Block(e),
                 global ? Helper::globaltimer : Helper::clock64, {Block(e)});
  if (upper) now = e.ir().CreateLShr(now, 32);
  return Fit(e, now, op.getResult());
}

void CpuHooks::EndWithTrap(Emitter& e, llvm_ir::Trap kind,
                           llvm::Value* lane) {
  static constexpr TrapKind kKinds[] = {TrapKind::kTrap, TrapKind::kMisaligned,
                                        TrapKind::kInvalid};
  Ir& ir = e.ir();
  llvm::CallInst* call = CallHelper(
      ir, Block(e), Helper::trap,
      {Block(e),
       ir.getInt32(static_cast<uint32_t>(kKinds[static_cast<int>(kind)])),
       lane, e.line()});
  MarkNoReturn(call);
  ir.CreateUnreachable();
}

void CpuHooks::EndThread(Emitter& e) {
  Ir& ir = e.ir();
  if (e.in_kernel()) {
    ir.CreateRetVoid();
    return;
  }
  llvm::CallInst* call =
      CallHelper(ir, Block(e), Helper::exit_unit, {Block(e)});
  MarkNoReturn(call);
  ir.CreateUnreachable();
}

absl::Status CpuHooks::EmitSync(Emitter& e, mlir::Operation* op) {
  return lanes_ == 1 ? EmitThreadSync(e, op) : EmitWarpSync(e, op);
}

absl::Status CpuHooks::EmitService(Emitter& e, mlir::Operation* op) {
  Ir& ir = e.ir();
  llvm::Value* block = Block(e);
  for (mlir::Type type : op->getOperandTypes()) {
    if (mlir::isa<mlir::VectorType>(type)) {
      return llvm_ir::ErrorAt(op, "expected one lane: services run lane by "
                                  "lane");
    }
  }
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<hetir::AssertFailOp>([&](auto fail) {
        CallHelper(ir, block, Helper::assert_fail,
                   {block, e.Get(fail.getMessage()), e.Get(fail.getFile()),
                    e.Get(fail.getLine()), e.Get(fail.getFunction()),
                    e.Get(fail.getCharSize()),
                    fail.getLane() ? e.Get(fail.getLane()) : ir.getInt32(0),
                    e.line()});
      })
      .Case<hetir::VprintfOp>([&](auto print) {
        e.Set(print.getResult(),
              CallHelper(ir, block, Helper::vprintf,
                         {block, e.Get(print.getFormat()),
                          e.Get(print.getArguments())}));
      })
      .Case<hetir::MallocOp>([&](auto allocate) {
        e.Set(allocate.getResult(),
              CallHelper(ir, block, Helper::device_malloc,
                         {block, e.Get(allocate.getSize())}));
      })
      .Case<hetir::FreeOp>([&](auto free) {
        CallHelper(ir, block, Helper::device_free,
                   {block, e.Get(free.getAddress())});
      });
  return absl::OkStatus();
}

}  // namespace hetgpu::cpu
