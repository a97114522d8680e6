// Instructions of this vendor, passed through verbatim.
#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cuda {
namespace {

// Other vendors' are refused by the shared emission.
bool EmitVendor(llvm_ir::Emitter& e, hetir::VendorOp op, const Device&) {
  if (op.getVendor() != "nv") return false;
  llvm::SmallVector<llvm::Type*> types;
  for (mlir::Value result : op.getOutputs()) types.push_back(e.TypeOf(result));
  llvm::SmallVector<llvm::Value*> inputs;
  for (mlir::Value input : op.getInputs()) {
    llvm::Value* value = e.Get(input);
    // Not as immediates: what the text takes for a float may be any bits.
    bool constant = llvm::isa<llvm::Constant>(value);
    inputs.push_back(constant ? e.ir().CreateFreeze(value) : value);
  }
  std::string text = op.getText().str();
  if (text.empty() || text.back() != ';') text += ';';
  llvm::SmallVector<llvm::Value*> values =
      EmitAsm(e, text, types, inputs, AsmEffect::kConvergent);
  for (auto [result, value] : llvm::zip_equal(op.getOutputs(), values)) {
    e.Set(result, value);
  }
  return true;
}

}  // namespace

void AddVendorOps(OwnOps& table) {
  table.Statement<hetir::VendorOp, EmitVendor>();
}

}  // namespace hetgpu::cuda
