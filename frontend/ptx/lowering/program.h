// One lowered module: the kernel and the functions that it can reach.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_PROGRAM_H_
#define HETGPU_FRONTEND_PTX_LOWERING_PROGRAM_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/ptx/ast.h"
#include "frontend/ptx/sema.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"

namespace hetgpu::ptx {

// Whether a parameter or result travels in memory (a local-space address of a
// copy) instead of as a value.
bool PassedInMemory(const Variable& param);

// The type of a device function, as func.func has it: inputs are the addresses
// of results in memory, then the parameters; outputs the scalar results. All
// are integers of the declared size.
mlir::FunctionType SignatureOf(const std::vector<Variable>& returns,
                               const std::vector<Variable>& params,
                               mlir::MLIRContext* context);

class Program {
 public:
  // `kernel` is an entry of the module. `vendor` as in LowerKernel.
  Program(const Module& module, const Sema& sema, uint32_t kernel,
          mlir::MLIRContext* context, std::string_view vendor);

  const Module& module() const { return module_; }
  mlir::MLIRContext* context() const { return context_; }
  const Function& kernel() const { return module_.functions[layout_.function]; }
  const KernelLayout& layout() const { return layout_; }
  // Whether PTX's own devices are compiled for.
  bool keeps_ptx() const { return keeps_ptx_; }
  // Device functions to lower: all that may run and are defined.
  std::vector<uint32_t> Functions() const;

  // Functions that may run, whose address is taken and that have this
  // signature.
  std::vector<uint32_t> Candidates(mlir::FunctionType signature) const;
  mlir::FunctionType SignatureOf(uint32_t function) const;
  // What an indirect call expects; null without a prototype or targets.
  mlir::FunctionType SignatureOfIndirect(const Body& body,
                                         const Operand* prototype) const;

  // Offset in the module's data segment, or kNoOffset.
  uint64_t DataOffset(VariableId id) const {
    return sema_.data().OffsetOf(id);
  }
  // Offset in the block's shared memory, or kNoOffset.
  uint64_t SharedOffset(VariableId id) const {
    return layout_.SharedOffset(id);
  }

 private:
  const Module& module_;
  const Sema& sema_;
  mlir::MLIRContext* context_;
  const bool keeps_ptx_;
  KernelLayout layout_;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_PROGRAM_H_
