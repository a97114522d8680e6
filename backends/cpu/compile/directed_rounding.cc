// Directed rounding. AVX-512 rounds each instruction as asked; without it, and
// for single threads, f32 is left to the emitter and f64 calls helpers that set
// the mode of the processor.
#include <numeric>

#include "backends/cpu/compile/cpu_hooks.h"
#include "backends/llvm_ir/ir_util.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hetgpu::cpu {
namespace {

using llvm_ir::Emitter;
using llvm_ir::Ir;

// One instruction in its two widths, and the helper for f64.
struct Directed {
  llvm::Intrinsic::ID f32;
  llvm::Intrinsic::ID f64;
  Helper helper;
};

constexpr Directed kAdd = {llvm::Intrinsic::x86_avx512_add_ps_512,
                           llvm::Intrinsic::x86_avx512_add_pd_512,
                           Helper::add_f64};
constexpr Directed kMul = {llvm::Intrinsic::x86_avx512_mul_ps_512,
                           llvm::Intrinsic::x86_avx512_mul_pd_512,
                           Helper::mul_f64};
constexpr Directed kFma = {llvm::Intrinsic::x86_avx512_vfmadd_ps_512,
                           llvm::Intrinsic::x86_avx512_vfmadd_pd_512,
                           Helper::fma_f64};
constexpr Directed kDiv = {llvm::Intrinsic::x86_avx512_div_ps_512,
                           llvm::Intrinsic::x86_avx512_div_pd_512,
                           Helper::div_f64};
constexpr Directed kSqrt = {llvm::Intrinsic::x86_avx512_sqrt_ps_512,
                            llvm::Intrinsic::x86_avx512_sqrt_pd_512,
                            Helper::sqrt_f64};

const Directed* Find(mlir::Operation* op) {
  return llvm::TypeSwitch<mlir::Operation*, const Directed*>(op)
      .Case<hetir::FAddOp, hetir::FSubOp>([](auto) { return &kAdd; })
      .Case<hetir::FMulOp>([](auto) { return &kMul; })
      .Case<hetir::FFmaOp>([](auto) { return &kFma; })
      .Case<hetir::FDivOp, hetir::FRcpOp>([](auto) { return &kDiv; })
      .Case<hetir::FSqrtOp>([](auto) { return &kSqrt; })
      .Default([](mlir::Operation*) { return nullptr; });
}

// The rounding operand of the instructions: a mode, with exceptions off.
uint32_t RoundingControl(hetir::Rounding rounding) {
  constexpr uint32_t kNoExceptions = 8;
  switch (rounding) {
    case hetir::Rounding::rm: return kNoExceptions | 1;
    case hetir::Rounding::rp: return kNoExceptions | 2;
    case hetir::Rounding::rz: return kNoExceptions | 3;
    default: return kNoExceptions;
  }
}

// Elements [first, first + count) of a vector.
llvm::Value* Slice(Ir& ir, llvm::Value* vector, unsigned first,
                   unsigned count) {
  llvm::SmallVector<int> elements;
  for (unsigned i = 0; i < count; ++i) elements.push_back(first + i);
  return ir.CreateShuffleVector(vector, elements);
}

// A register of 512 bits at a time.
llvm::Value* InRegisters(Ir& ir, llvm::Intrinsic::ID id,
                         hetir::Rounding rounding,
                         llvm::ArrayRef<llvm::Value*> arguments) {
  auto* type = llvm::cast<llvm::FixedVectorType>(arguments[0]->getType());
  const unsigned step = 512 / type->getScalarSizeInBits();
  llvm::SmallVector<llvm::Value*> parts;
  for (unsigned first = 0; first < type->getNumElements(); first += step) {
    llvm::SmallVector<llvm::Value*> operands;
    for (llvm::Value* argument : arguments) {
      operands.push_back(Slice(ir, argument, first, step));
    }
    operands.push_back(ir.getInt32(RoundingControl(rounding)));
    parts.push_back(ir.CreateIntrinsic(id, {}, operands));
  }
  while (parts.size() > 1) {
    llvm::SmallVector<llvm::Value*> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      auto* half =
          llvm::cast<llvm::FixedVectorType>(parts[i]->getType());
      llvm::SmallVector<int> all(2 * half->getNumElements());
      std::iota(all.begin(), all.end(), 0);
      joined.push_back(ir.CreateShuffleVector(parts[i], parts[i + 1], all));
    }
    parts = joined;
  }
  return parts.front();
}

llvm::Value* CallHelperOf(Emitter& e, const Directed& directed,
                          hetir::Rounding rounding,
                          llvm::ArrayRef<llvm::Value*> arguments) {
  Ir& ir = e.ir();
  llvm::SmallVector<llvm::Value*> all(arguments);
  all.push_back(ir.getInt32(static_cast<uint32_t>(rounding)));
  llvm::CallInst* result =
      CallHelper(ir, CpuHooks::Block(e), directed.helper, all);
  result->setMemoryEffects(llvm::MemoryEffects::none());
  result->addFnAttr(llvm::Attribute::WillReturn);
  return result;
}

}  // namespace

llvm::Value* CpuHooks::DirectedF32(Emitter& e, mlir::Operation* op,
                                   hetir::Rounding rounding,
                                   llvm::ArrayRef<llvm::Value*> arguments) {
  const Directed* directed = Find(op);
  if (!directed || !avx512() || lanes_ == 1 ||
      !arguments.front()->getType()->isVectorTy()) {
    return nullptr;
  }
  return InRegisters(e.ir(), directed->f32, rounding, arguments);
}

absl::StatusOr<llvm::Value*> CpuHooks::DirectedF64(
    Emitter& e, mlir::Operation* op, hetir::Rounding rounding,
    llvm::ArrayRef<llvm::Value*> arguments) {
  Ir& ir = e.ir();
  const Directed* directed = Find(op);
  if (!directed) return llvm_ir::ErrorAt(op, "no directed f64 form exists");
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(
      arguments.front()->getType());
  if (!vector) return CallHelperOf(e, *directed, rounding, arguments);
  if (avx512()) return InRegisters(ir, directed->f64, rounding, arguments);
  llvm::Value* result = llvm::Constant::getNullValue(vector);
  for (unsigned lane = 0; lane < vector->getNumElements(); ++lane) {
    llvm::SmallVector<llvm::Value*> operands;
    for (llvm::Value* argument : arguments) {
      operands.push_back(ir.CreateExtractElement(argument, lane));
    }
    result = ir.CreateInsertElement(
        result, CallHelperOf(e, *directed, rounding, operands), lane);
  }
  return result;
}

}  // namespace hetgpu::cpu
