#include "backends/cuda/compile/cuda_hooks.h"

#include "backends/cuda/compile/ptx_asm.h"
#include "backends/llvm_ir/ir_util.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace hetgpu::cuda {
namespace {

using hetir::Space;
using llvm_ir::Emitter;
using llvm_ir::Ir;
namespace Id = llvm::Intrinsic;

constexpr llvm_ir::GpuSpaces kSpaces = {
    .global = 1, .constant = 4, .shared = 3, .local = 5};
constexpr unsigned kConstSpace = kSpaces.constant;

llvm::Value* Read(Emitter& e, Id::ID id) {
  return e.ir().CreateIntrinsic(id, {}, {});
}

// tid.x + ntid.x * (tid.y + ntid.y * tid.z): the machine's own %warpid is a
// place in the multiprocessor.
llvm::Value* LinearThread(Emitter& e) {
  Ir& ir = e.ir();
  llvm::Value* plane = ir.CreateAdd(
      Read(e, Id::nvvm_read_ptx_sreg_tid_y),
      ir.CreateMul(Read(e, Id::nvvm_read_ptx_sreg_ntid_y),
                   Read(e, Id::nvvm_read_ptx_sreg_tid_z)));
  return ir.CreateAdd(
      Read(e, Id::nvvm_read_ptx_sreg_tid_x),
      ir.CreateMul(Read(e, Id::nvvm_read_ptx_sreg_ntid_x), plane));
}

llvm::Value* ThreadCount(Emitter& e) {
  Ir& ir = e.ir();
  return ir.CreateMul(
      ir.CreateMul(Read(e, Id::nvvm_read_ptx_sreg_ntid_x),
                   Read(e, Id::nvvm_read_ptx_sreg_ntid_y)),
      Read(e, Id::nvvm_read_ptx_sreg_ntid_z));
}

Id::ID RegisterId(hetir::SpecialRegister reg) {
  using R = hetir::SpecialRegister;
  switch (reg) {
    case R::tid_x: return Id::nvvm_read_ptx_sreg_tid_x;
    case R::tid_y: return Id::nvvm_read_ptx_sreg_tid_y;
    case R::tid_z: return Id::nvvm_read_ptx_sreg_tid_z;
    case R::ntid_x: return Id::nvvm_read_ptx_sreg_ntid_x;
    case R::ntid_y: return Id::nvvm_read_ptx_sreg_ntid_y;
    case R::ntid_z: return Id::nvvm_read_ptx_sreg_ntid_z;
    case R::ctaid_x: return Id::nvvm_read_ptx_sreg_ctaid_x;
    case R::ctaid_y: return Id::nvvm_read_ptx_sreg_ctaid_y;
    case R::ctaid_z: return Id::nvvm_read_ptx_sreg_ctaid_z;
    case R::nctaid_x: return Id::nvvm_read_ptx_sreg_nctaid_x;
    case R::nctaid_y: return Id::nvvm_read_ptx_sreg_nctaid_y;
    case R::nctaid_z: return Id::nvvm_read_ptx_sreg_nctaid_z;
    case R::laneid: return Id::nvvm_read_ptx_sreg_laneid;
    case R::smid: return Id::nvvm_read_ptx_sreg_smid;
    case R::nsmid: return Id::nvvm_read_ptx_sreg_nsmid;
    case R::lanemask_eq: return Id::nvvm_read_ptx_sreg_lanemask_eq;
    case R::lanemask_lt: return Id::nvvm_read_ptx_sreg_lanemask_lt;
    case R::lanemask_le: return Id::nvvm_read_ptx_sreg_lanemask_le;
    case R::lanemask_gt: return Id::nvvm_read_ptx_sreg_lanemask_gt;
    case R::lanemask_ge: return Id::nvvm_read_ptx_sreg_lanemask_ge;
    default: return Id::not_intrinsic;
  }
}

// A function of the driver's device library.
llvm::FunctionCallee Import(Emitter& e, llvm::StringRef name,
                            llvm::Type* result,
                            llvm::ArrayRef<llvm::Type*> parameters) {
  return e.function()->getParent()->getOrInsertFunction(
      name, llvm::FunctionType::get(result, parameters, false));
}

llvm::Value* CallImport(Emitter& e, llvm::StringRef name, llvm::Type* result,
                        llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::SmallVector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  return e.ir().CreateCall(Import(e, name, result, types), arguments);
}

}  // namespace

CudaHooks::CudaHooks(hetir::KernelOp kernel, unsigned sm)
    : GpuHooks(kernel, kSpaces), device_{sm} {}

void CudaHooks::DecorateFunction(llvm::Function& function) {
  if (function.getName() != llvm::StringRef(kernel().getSymName())) return;
  DecorateParameterBlock(function);
}

bool CudaHooks::TryEmit(Emitter& e, mlir::Operation* op) {
  OwnOps::EmitFn emit = GetOwnOps().Find(op);
  return emit && emit(e, op, device_);
}

// One symbol per variable, filled by the run side before each launch.
llvm::Value* CudaHooks::ConstPointer(Emitter& e, hetir::DataAddressOp op) {
  if (!op.getExtent()) return nullptr;
  uint64_t start = (*op.getExtent())[0];
  uint64_t bytes = (*op.getExtent())[1];
  llvm::Module& module = *e.function()->getParent();
  std::string name = OwnName("hetgpu_const_" + std::to_string(start));
  llvm::GlobalVariable* copy = module.getNamedGlobal(name);
  if (!copy) {
    auto* type = llvm::ArrayType::get(
        llvm::Type::getInt8Ty(e.context()), bytes);
    copy = new llvm::GlobalVariable(
        module, type, /*isConstant=*/false,
        llvm::GlobalValue::ExternalLinkage,
        llvm::ConstantAggregateZero::get(type), name, nullptr,
        llvm::GlobalValue::NotThreadLocal, kConstSpace,
        /*isExternallyInitialized=*/true);
    // As aligned as in the segment, so that vectors can be read.
    copy->setAlignment(llvm::Align(
        std::min<uint64_t>(start == 0 ? 256 : start & -start, 256)));
    const_copies_.push_back({name, start, bytes});
  }
  return e.ir().CreateConstGEP1_64(e.ir().getInt8Ty(), copy,
                                   op.getOffset() - start);
}

llvm::Value* CudaHooks::SharedAddress(Emitter& e, hetir::SharedAddressOp op) {
  llvm::Module& module = *e.function()->getParent();
  llvm::GlobalVariable* memory = SharedMemory(module, op.getDynamic());
  // Named by text alone, so it must be said that it is used.
  llvm::appendToUsed(module, {memory});
  uint64_t offset = SharedOffset(op);
  bool wide = op.getType().isInteger(64);
  std::string place;
  for (char c : memory->getName()) place.append(c == '$' ? 2 : 1, c);
  if (offset != 0) place += "+" + std::to_string(offset);
  return EmitAsm(e, llvm::Twine(wide ? "mov.u64 $0, " : "mov.u32 $0, ") +
                        place + ";",
                 e.TypeOf(op.getResult()), {});
}

// Emitted by TryEmit.
llvm::Value* CudaHooks::IsSpace(Emitter&, hetir::IsSpaceOp) {
  llvm_unreachable("is_space has an emission of its own");
}

llvm::Value* CudaHooks::SpecialRegister(Emitter& e,
                                        hetir::SpecialRegisterOp op) {
  using R = hetir::SpecialRegister;
  Ir& ir = e.ir();
  if (Id::ID id = RegisterId(op.getReg()); id != Id::not_intrinsic) {
    return Fit(e, Read(e, id), op.getResult());
  }
  switch (op.getReg()) {
    case R::warpid:
      return Fit(e, ir.CreateLShr(LinearThread(e), 5), op.getResult());
    case R::nwarpid:
      return Fit(e,
                 ir.CreateLShr(ir.CreateAdd(ThreadCount(e), ir.getInt32(31)),
                               5),
                 op.getResult());
    case R::gridid:
      return Fit(e, EmitAsm(e, "mov.u64 $0, %gridid;", ir.getInt64Ty(), {}),
                 op.getResult());
    case R::dynamic_smem_size:
      return Fit(e,
                 EmitAsm(e, "mov.u32 $0, %dynamic_smem_size;",
                         ir.getInt32Ty(), {}),
                 op.getResult());
    case R::grid_workspace_hi:
      return Fit(e, EmitAsm(e, "mov.u32 $0, %envreg1;", ir.getInt32Ty(), {}),
                 op.getResult());
    case R::grid_workspace_lo:
      return Fit(e, EmitAsm(e, "mov.u32 $0, %envreg2;", ir.getInt32Ty(), {}),
                 op.getResult());
    default:
      return Fit(e,
                 EmitAsm(e, "mov.u32 $0, %total_smem_size;", ir.getInt32Ty(),
                         {}),
                 op.getResult());
  }
}

llvm::Value* CudaHooks::Timer(Emitter& e, hetir::TimerOp op) {
  bool wide = op.getTimer() == hetir::Timer::clock64 ||
              op.getTimer() == hetir::Timer::globaltimer;
  llvm::Type* type = wide ? e.ir().getInt64Ty() : e.ir().getInt32Ty();
  return Fit(e,
             EmitAsm(e,
                     llvm::Twine(wide ? "mov.u64" : "mov.u32") + " $0, %" +
                         hetir::stringifyEnum(op.getTimer()) + ";",
                     type, {}, AsmEffect::kVolatile),
             op.getResult());
}

void CudaHooks::EndWithTrap(Emitter& e, llvm_ir::Trap, llvm::Value*) {
  EmitAsm(e, "trap;", llvm::ArrayRef<llvm::Type*>(), {}, AsmEffect::kMemory);
  e.ir().CreateUnreachable();
}

void CudaHooks::EndThread(Emitter& e) {
  if (e.in_kernel()) {
    e.ir().CreateRetVoid();
    return;
  }
  EmitAsm(e, "exit;", llvm::ArrayRef<llvm::Type*>(), {}, AsmEffect::kMemory);
  e.ir().CreateUnreachable();
}

absl::Status CudaHooks::EmitSync(Emitter& e, mlir::Operation* op) {
  return EmitThreadSync(e, op);
}

absl::Status CudaHooks::EmitService(Emitter& e, mlir::Operation* op) {
  Ir& ir = e.ir();
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<hetir::AssertFailOp>([&](auto fail) {
        CallImport(e, "__assertfail", ir.getVoidTy(),
                   {e.Get(fail.getMessage()), e.Get(fail.getFile()),
                    e.Get(fail.getLine()), e.Get(fail.getFunction()),
                    e.Get(fail.getCharSize())});
      })
      .Case<hetir::VprintfOp>([&](auto print) {
        e.Set(print.getResult(),
              CallImport(e, "vprintf", ir.getInt32Ty(),
                         {e.Get(print.getFormat()),
                          e.Get(print.getArguments())}));
      })
      .Case<hetir::MallocOp>([&](auto allocate) {
        e.Set(allocate.getResult(),
              CallImport(e, "malloc", ir.getInt64Ty(),
                         {e.Get(allocate.getSize())}));
      })
      .Case<hetir::FreeOp>([&](auto free) {
        CallImport(e, "free", ir.getVoidTy(), {e.Get(free.getAddress())});
      });
  return absl::OkStatus();
}

absl::StatusOr<llvm::Value*> CudaHooks::DirectedF64(
    Emitter& e, mlir::Operation* op, hetir::Rounding rounding,
    llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::StringRef name =
      llvm::TypeSwitch<mlir::Operation*, llvm::StringRef>(op)
          .Case<hetir::FAddOp, hetir::FSubOp>([](auto) { return "add"; })
          .Case<hetir::FMulOp>([](auto) { return "mul"; })
          .Case<hetir::FFmaOp>([](auto) { return "fma"; })
          .Case<hetir::FDivOp, hetir::FRcpOp>([](auto) { return "div"; })
          .Case<hetir::FSqrtOp>([](auto) { return "sqrt"; })
          .Default([](mlir::Operation*) { return ""; });
  if (name.empty()) return llvm_ir::ErrorAt(op, "no directed f64 form exists");
  return EmitAsm(e,
                 Operation(name + "." + hetir::stringifyEnum(rounding) +
                               ".f64",
                           arguments.size()),
                 e.ir().getDoubleTy(), arguments);
}

}  // namespace hetgpu::cuda
