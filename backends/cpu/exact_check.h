// The exact mode (HETGPU_CPU_MEMCHECK): emitted code has every access checked
// here before it is made, and an access that is not wholly in one object ends
// the launch with a text that says where it lies.
//
//   global, const   an allocation or mapping, by its size as asked for; a
//                   variable of the module where the code names it
//   shared          the block's static and dynamic bytes
//   local           an array of the frame where the code names it, else the
//                   stack
//   generic         any of them, and the parameters
//
// Every access has to be a multiple of its size. Memory of unified contexts is
// mapped in whole pages, and its bounds are those of the pages.
#ifndef HETGPU_BACKENDS_CPU_EXACT_CHECK_H_
#define HETGPU_BACKENDS_CPU_EXACT_CHECK_H_

#include <cstdint>

#include "backends/cpu/worker.h"

namespace hetgpu::cpu {

struct ExactAccess {
  TestedSpace space = TestedSpace::kGlobal;
  AccessKind kind = AccessKind::kRead;
  uint32_t bytes = 0;
  uint64_t address = 0;  // of shared memory, an offset
  // The variable that is meant, as host address; no bytes: any object may be.
  uint64_t low = 0;
  uint64_t size = 0;
};

// Returns what is to be added to the address for the access; ends the launch
// with an error of the unit that runs if it may not be made.
uint64_t CheckExact(BlockFrame& frame, const ExactAccess& access,
                    uint32_t line);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_EXACT_CHECK_H_
