#include "backends/cpu/compile/mode.h"

#include "llvm/ADT/SetVector.h"

namespace hetgpu::cpu {
namespace {

// Ops that need another thread to run before this one can go on.
bool Waits(mlir::Operation* op) {
  return op->hasTrait<hetir::Convergent>() &&
         !mlir::isa<hetir::NanosleepOp>(op);
}

// A thread that ends inside a function cannot return to the loop over
// threads.
bool EndsInFunction(mlir::Operation* op) {
  return mlir::isa<hetir::ExitOp>(op) &&
         op->getParentOfType<mlir::func::FuncOp>();
}

std::string Describe(mlir::Operation* op) {
  std::string text = op->getName().getStringRef().str() + " at line " +
                     std::to_string(hetir::LineOf(op));
  if (EndsInFunction(op)) text += " inside a function";
  return text;
}

void AddCallees(mlir::Operation* op, mlir::SymbolTable& symbols,
                llvm::SetVector<mlir::Operation*>& reached) {
  if (auto call = mlir::dyn_cast<mlir::func::CallOp>(op)) {
    if (mlir::Operation* callee = symbols.lookup(call.getCallee())) {
      reached.insert(callee);
    }
  }
  if (auto call = mlir::dyn_cast<hetir::CallIndirectOp>(op)) {
    for (mlir::Attribute candidate : call.getCandidates()) {
      auto name = mlir::cast<mlir::FlatSymbolRefAttr>(candidate).getValue();
      if (mlir::Operation* callee = symbols.lookup(name)) {
        reached.insert(callee);
      }
    }
  }
}

}  // namespace

absl::StatusOr<Mode> ParseMode(std::string_view text) {
  if (text == "auto" || text.empty()) return Mode::kAuto;
  if (text == "simd") return Mode::kSimd;
  if (text == "scalar") return Mode::kScalar;
  if (text == "fiber") return Mode::kFiber;
  return absl::InvalidArgumentError(
      "cpu: mode \"" + std::string(text) +
      "\", expected auto, simd, scalar or fiber");
}

std::string WhyNotScalar(mlir::ModuleOp module, hetir::KernelOp kernel) {
  mlir::SymbolTable symbols(module);
  llvm::SetVector<mlir::Operation*> reached;
  reached.insert(kernel);
  std::string reason;
  for (size_t i = 0; i < reached.size() && reason.empty(); ++i) {
    reached[i]->walk([&](mlir::Operation* op) {
      AddCallees(op, symbols, reached);
      if (!Waits(op) && !EndsInFunction(op)) {
        return mlir::WalkResult::advance();
      }
      reason = Describe(op);
      return mlir::WalkResult::interrupt();
    });
  }
  return reason;
}

bool WarpsWait(hetir::KernelOp kernel) {
  return kernel
      ->walk([](mlir::Operation* op) {
        return mlir::isa<hetir::BarrierOp, hetir::BarrierReduceOp,
                         hetir::ProgressOp>(op)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

}  // namespace hetgpu::cpu
