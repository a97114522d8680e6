// The hetir dialect in C++. The ops are declared in HetIR*.td; their generated
// reference is docs/hetir-reference.md.
#ifndef HETGPU_HETIR_DIALECT_HETIR_H_
#define HETGPU_HETIR_DIALECT_HETIR_H_

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace hetgpu::hetir {

// Ops that wait for, or exchange data with, other threads: no pass may make
// them depend on more control flow, or move or duplicate them across it.
template <typename ConcreteOp>
class Convergent
    : public mlir::OpTrait::TraitBase<ConcreteOp, Convergent> {};

}  // namespace hetgpu::hetir

#include "hetir/dialect/HetIRDialect.h.inc"
#include "hetir/dialect/HetIREnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "hetir/dialect/HetIRAttrs.h.inc"
#define GET_OP_CLASSES
#include "hetir/dialect/HetIROps.h.inc"

namespace hetgpu::hetir {

// PTX line of an op from its location: the innermost FileLineColLoc; 0 when
// none.
unsigned LineOf(mlir::Operation* op);

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_DIALECT_HETIR_H_
