// Through which parameters a kernel accesses global memory, by reading its body
// and those of the functions it calls. Needs no compiler.
//
// Registers, local memory, shared memory and parameters of calls carry a set of
// origins: which bytes of the parameter block a value may derive from, or that it
// was loaded from memory. Sets only grow, without regard to the order of
// instructions, until nothing changes. What an access may touch is the origins of
// its address:
//
//   ld.param.u64 %rd1, [a]        %rd1 ← bytes 0-7 of the block
//   mad.wide.u32 %rd2, %r1, 4, %rd1   the same; an index adds nothing
//   ld.global.u64 %rd3, [%rd2]    reads by bytes 0-7; %rd3 ← loaded
//   st.global.u32 [%rd3], 1       writes by a loaded address: unknown
//
// A value of less than 64 bits is no address, unless halves are put together.
// Whatever is not understood makes the summary unknown.
#ifndef HETGPU_FRONTEND_PTX_ACCESS_SUMMARY_H_
#define HETGPU_FRONTEND_PTX_ACCESS_SUMMARY_H_

#include <cstdint>

#include "frontend/ptx/ast.h"
#include "hetir/module_info.h"

namespace hetgpu::ptx {

// `function` is an entry of the module.
AccessSummary SummariseAccess(const Module& module, uint32_t function);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_ACCESS_SUMMARY_H_
