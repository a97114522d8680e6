// All of the dialect, category by category.
#ifndef HETGPU_HETIR_DIALECT_HETIROPS_TD_
#define HETGPU_HETIR_DIALECT_HETIROPS_TD_

include "hetir/dialect/HetIRBase.td"
include "hetir/dialect/HetIRIndex.td"
include "hetir/dialect/HetIRInteger.td"
include "hetir/dialect/HetIRFloat.td"
include "hetir/dialect/HetIRMemory.td"
include "hetir/dialect/HetIRSync.td"
include "hetir/dialect/HetIRControl.td"
include "hetir/dialect/HetIRSimd.td"

#endif  // HETGPU_HETIR_DIALECT_HETIROPS_TD_
