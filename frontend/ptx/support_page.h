#ifndef HETGPU_FRONTEND_PTX_SUPPORT_PAGE_H_
#define HETGPU_FRONTEND_PTX_SUPPORT_PAGE_H_

#include <functional>
#include <string>

#include "frontend/ptx/opcode.h"

namespace hetgpu::ptx {

// docs/ptx-support.md: every row of the grammar table, by operation. `lowered`
// says whether hetIR has the operation; without it that column stays empty.
std::string SupportPage(const std::function<bool(Op)>& lowered);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_SUPPORT_PAGE_H_
