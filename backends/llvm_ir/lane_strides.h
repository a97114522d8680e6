// The analysis behind LaneForms: strides of vectors of lanes.
#ifndef HETGPU_BACKENDS_LLVM_IR_LANE_STRIDES_H_
#define HETGPU_BACKENDS_LLVM_IR_LANE_STRIDES_H_

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Region.h"

namespace hetgpu::llvm_ir {

// Lanes of a warp: as many as vectors have that this is about.
inline constexpr int64_t kLanes = 32;

// Stride of every vector value of kLanes integers (or floats, stride zero)
// that has one.
llvm::DenseMap<mlir::Value, int64_t> FindLaneStrides(mlir::Region& region);

// Whether a value is such a vector.
bool HoldsLanes(mlir::Value value);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_LANE_STRIDES_H_
