// hetIR orderings as LLVM's. Scopes all become system scope, which is never
// too weak.
#ifndef HETGPU_BACKENDS_LLVM_IR_ORDERING_H_
#define HETGPU_BACKENDS_LLVM_IR_ORDERING_H_

#include "hetir/dialect/HetIR.h"
#include "llvm/Support/AtomicOrdering.h"

namespace hetgpu::llvm_ir {

inline llvm::AtomicOrdering RmwOrdering(hetir::Ordering ordering) {
  switch (ordering) {
    case hetir::Ordering::acquire: return llvm::AtomicOrdering::Acquire;
    case hetir::Ordering::release: return llvm::AtomicOrdering::Release;
    case hetir::Ordering::acq_rel: return llvm::AtomicOrdering::AcquireRelease;
    case hetir::Ordering::sc:
      return llvm::AtomicOrdering::SequentiallyConsistent;
    default: return llvm::AtomicOrdering::Monotonic;
  }
}
inline llvm::AtomicOrdering LoadOrdering(hetir::Ordering ordering) {
  llvm::AtomicOrdering order = RmwOrdering(ordering);
  return order == llvm::AtomicOrdering::Release ||
                 order == llvm::AtomicOrdering::AcquireRelease
             ? llvm::AtomicOrdering::Monotonic
             : order;
}
inline llvm::AtomicOrdering StoreOrdering(hetir::Ordering ordering) {
  llvm::AtomicOrdering order = RmwOrdering(ordering);
  return order == llvm::AtomicOrdering::Acquire ||
                 order == llvm::AtomicOrdering::AcquireRelease
             ? llvm::AtomicOrdering::Monotonic
             : order;
}

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_ORDERING_H_
