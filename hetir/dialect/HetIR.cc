#include "hetir/dialect/HetIR.h"

#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

#include "hetir/dialect/HetIRDialect.cpp.inc"
#include "hetir/dialect/HetIREnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "hetir/dialect/HetIRAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "hetir/dialect/HetIROps.cpp.inc"

namespace hetgpu::hetir {

void HetIRDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "hetir/dialect/HetIRAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "hetir/dialect/HetIROps.cpp.inc"
      >();
}

unsigned LineOf(mlir::Operation* op) {
  unsigned line = 0;
  op->getLoc()->walk([&](mlir::Location location) {
    auto file_line = mlir::dyn_cast<mlir::FileLineColLoc>(location);
    if (!file_line) return mlir::WalkResult::advance();
    line = file_line.getLine();
    return mlir::WalkResult::interrupt();
  });
  return line;
}

}  // namespace hetgpu::hetir
