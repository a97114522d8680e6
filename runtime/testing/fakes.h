// Puts the fakes in place of the real backends, front end and compiler, before
// the first test of an executable runs, and what tests share.
#ifndef HETGPU_RUNTIME_TESTING_FAKES_H_
#define HETGPU_RUNTIME_TESTING_FAKES_H_

#include <string>

#include "gtest/gtest.h"
#include "hetgpu/hetgpu.h"
#include "hetir/module_info.h"
#include "runtime/testing/expect.h"

namespace hetgpu::runtime {

// The module that any text but "bad…" (malformed) and "unknown…" (not
// supported) is read as: the kernels of fake_driver.h and
//   refused, broken, unsupported, slow   cannot run, or compile slowly
//   limited (.maxntid 64), exact (.reqntid 32)
//   shared (1000 static bytes, dynamic from 1024)
// and the globals table (four u32: 1, 2, 3, 4), pointer (address of table + 4)
// and settings (.const, 8 bytes).
ModuleInfo FakeModule();

// A folder that is empty at start and removed at exit.
std::string FreshFolder();

// A context on device "fake" with the fake module loaded.
class FakeTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  hetgpuFunction Function(const char* name);
  // One block of one thread, without arguments, on `stream`.
  hetgpuResult Launch(const char* name, hetgpuStream stream = nullptr);
  hetgpuDevicePtr Alloc(uint64_t bytes);

  hetgpuDevice device_ = nullptr;
  hetgpuContext context_ = nullptr;
  hetgpuModule module_ = nullptr;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TESTING_FAKES_H_
