// Opens libhetgpu_compiler.so when, and only when, something must be compiled.
#ifndef HETGPU_RUNTIME_COMPILER_LOADER_H_
#define HETGPU_RUNTIME_COMPILER_LOADER_H_

#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "backends/common/compiler_api.h"

namespace hetgpu::runtime {

// Threads: any.
class CompilerLoader {
 public:
  // `path` "" looks in the folder of this library (or, in a program that links
  // it statically, of the program) and in ../lib of it.
  explicit CompilerLoader(std::string path);

  // Names the build of the compiler without loading it: its path, size and
  // time of change. "absent" when there is none.
  std::string BuildId() const;

  // COMPILER_UNAVAILABLE, UNSUPPORTED or COMPILE_FAILED.
  absl::StatusOr<std::string> Compile(const CompileRequest& request);

 private:
  absl::StatusOr<const CompilerApi*> Load();

  const std::string path_;
  std::mutex mutex_;
  const CompilerApi* api_ = nullptr;  // the library stays open for good
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_COMPILER_LOADER_H_
