// Which function emits which op. One line per op in the Add*Ops function of a
// category file; an op without a line is an error that names it.
#ifndef HETGPU_BACKENDS_LLVM_IR_OP_TABLE_H_
#define HETGPU_BACKENDS_LLVM_IR_OP_TABLE_H_

#include "absl/status/status.h"
#include "backends/llvm_ir/emitter.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Operation.h"

namespace hetgpu::llvm_ir {

class OpTable {
 public:
  using EmitFn = absl::Status (*)(Emitter&, mlir::Operation*);

  // Null when nothing emits the op.
  EmitFn Find(mlir::Operation* op) const {
    return functions_.lookup(op->getName().getTypeID());
  }

  // An op with one result: Fn returns its value.
  template <typename Op, llvm::Value* (*Fn)(Emitter&, Op)>
  void Value() {
    functions_[mlir::TypeID::get<Op>()] = [](Emitter& emitter,
                                             mlir::Operation* op) {
      emitter.Set(op->getResult(0), Fn(emitter, mlir::cast<Op>(op)));
      return absl::OkStatus();
    };
  }
  // An op with one result that may be refused.
  template <typename Op, absl::StatusOr<llvm::Value*> (*Fn)(Emitter&, Op)>
  void Fallible() {
    functions_[mlir::TypeID::get<Op>()] = [](Emitter& emitter,
                                             mlir::Operation* op) {
      absl::StatusOr<llvm::Value*> value = Fn(emitter, mlir::cast<Op>(op));
      if (value.ok()) emitter.Set(op->getResult(0), *value);
      return value.status();
    };
  }
  // Any other op: Fn sets the results.
  template <typename Op, absl::Status (*Fn)(Emitter&, Op)>
  void Statement() {
    functions_[mlir::TypeID::get<Op>()] = [](Emitter& emitter,
                                             mlir::Operation* op) {
      return Fn(emitter, mlir::cast<Op>(op));
    };
  }

 private:
  llvm::DenseMap<mlir::TypeID, EmitFn> functions_;
};

void AddArithOps(OpTable& table);
void AddVectorOps(OpTable& table);
void AddIntegerOps(OpTable& table);
void AddFloatOps(OpTable& table);
void AddConvertOps(OpTable& table);
void AddApproxOps(OpTable& table);
void AddMemoryOps(OpTable& table);
void AddAtomicOps(OpTable& table);
void AddControlOps(OpTable& table);
void AddSyncOps(OpTable& table);

// All of them, built once.
const OpTable& GetOpTable();

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_OP_TABLE_H_
