// hetgpu-opt: reads hetIR text or bytecode, runs any passes, prints hetIR.
#include "hetir/passes/passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  hetgpu::hetir::RegisterDialects(registry);
  hetgpu::hetir::RegisterPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "hetIR optimizer driver\n", registry));
}
