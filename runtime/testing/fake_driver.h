// A backend for tests of the runtime alone: host memory, one thread per queue,
// and kernels that do what their name says:
//
//   nothing            ends at once
//   store(u64, u32)    writes its second argument where the first points
//   print              prints "hello\n"
//   spin               runs until cancelled or timed out
//   fail_<n>           fails with LaunchError::Kind n, at block (1,2,3) thread
//                      (4,5,6), line 7, address 0x10
//   lose, lose_all     fails with an illegal address and loses the device, so
//                      that it can, or cannot, be re-opened
// A module whose source begins with "native" is held by the device as a whole,
// without its variable "settings"; "native refused" is not taken.
#ifndef HETGPU_RUNTIME_TESTING_FAKE_DRIVER_H_
#define HETGPU_RUNTIME_TESTING_FAKE_DRIVER_H_

#include <memory>

#include "backends/common/driver.h"

namespace hetgpu::runtime {

inline constexpr uint64_t kFakeMemory = uint64_t{64} << 20;

// Backend "fake" with two devices.
std::unique_ptr<Driver> CreateFakeDriver();

// Backend "absent" whose library cannot be found.
std::unique_ptr<Driver> CreateAbsentDriver();

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TESTING_FAKE_DRIVER_H_
