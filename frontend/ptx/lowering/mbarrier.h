#ifndef HETGPU_FRONTEND_PTX_LOWERING_MBARRIER_H_
#define HETGPU_FRONTEND_PTX_LOWERING_MBARRIER_H_

#include "frontend/ptx/lowering/context.h"

namespace hetgpu::ptx {

// Tells the barrier object at `address` that so many bytes (64-bit) arrived.
void CompleteTransactions(Lowering& l, const Address& address, Value bytes);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_MBARRIER_H_
