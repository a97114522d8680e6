#ifndef HETGPU_FRONTEND_PTX_SOURCE_MAP_H_
#define HETGPU_FRONTEND_PTX_SOURCE_MAP_H_

#include "frontend/ptx/ast.h"
#include "hetir/container/container.h"

namespace hetgpu::ptx {

// From the module's .file and .loc directives. Files that .loc names without a
// .file directive are left out.
SourceMap BuildSourceMap(const Module& module);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_SOURCE_MAP_H_
