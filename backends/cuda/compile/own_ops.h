// The ops this target emits as the PTX instruction they stand for, so that the
// driver's assembler sees what it would have seen in the source. One line per
// op in the Add…Ops function of a category file; what has no instruction on the
// device at hand, or in strict mode another meaning, is left to the shared
// emission.
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_OWN_OPS_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_OWN_OPS_H_

#include "backends/llvm_ir/emitter.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Operation.h"

namespace hetgpu::cuda {

// What decides which instructions there are.
struct Device {
  unsigned sm = 0;  // compute capability times ten
};

class OwnOps {
 public:
  // Sets the results, or returns false and has emitted nothing.
  using EmitFn = bool (*)(llvm_ir::Emitter&, mlir::Operation*, const Device&);

  EmitFn Find(mlir::Operation* op) const {
    return functions_.lookup(op->getName().getTypeID());
  }
  // `Fn` returns the result, or null.
  template <typename Op,
            llvm::Value* (*Fn)(llvm_ir::Emitter&, Op, const Device&)>
  void Value() {
    functions_[mlir::TypeID::get<Op>()] = [](llvm_ir::Emitter& e,
                                             mlir::Operation* op,
                                             const Device& device) {
      llvm::Value* value = Fn(e, mlir::cast<Op>(op), device);
      if (value) e.Set(op->getResult(0), value);
      return value != nullptr;
    };
  }
  template <typename Op, bool (*Fn)(llvm_ir::Emitter&, Op, const Device&)>
  void Statement() {
    functions_[mlir::TypeID::get<Op>()] = [](llvm_ir::Emitter& e,
                                             mlir::Operation* op,
                                             const Device& device) {
      return Fn(e, mlir::cast<Op>(op), device);
    };
  }

 private:
  llvm::DenseMap<mlir::TypeID, EmitFn> functions_;
};

void AddFloatOps(OwnOps& table);
void AddConvertOps(OwnOps& table);
void AddIntegerOps(OwnOps& table);
void AddMemoryOps(OwnOps& table);
void AddAtomicOps(OwnOps& table);
void AddVendorOps(OwnOps& table);

// All of them, built once.
const OwnOps& GetOwnOps();

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_OWN_OPS_H_
