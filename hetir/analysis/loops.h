// The loops of a control-flow graph, irreducible ones included.
#ifndef HETGPU_HETIR_ANALYSIS_LOOPS_H_
#define HETGPU_HETIR_ANALYSIS_LOOPS_H_

#include <vector>

#include "mlir/IR/Region.h"

namespace hetgpu::hetir {

// Every loop as the list of its blocks in block order, outer loops before those
// inside of them. A loop is a strongly connected component; those inside are
// what remains strongly connected without the block where it is entered.
std::vector<std::vector<mlir::Block*>> FindLoops(mlir::Region& region);

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_ANALYSIS_LOOPS_H_
