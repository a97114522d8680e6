// Packs kernel arguments into a parameter block.
#ifndef HETGPU_TOOLS_HETGPU_RUN_ARGUMENTS_H_
#define HETGPU_TOOLS_HETGPU_RUN_ARGUMENTS_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/hetgpu-run/job.h"

namespace hetgpu::tools {

// Loop variables by name.
using Variables = std::map<std::string, Literal, std::less<>>;

// The literal itself, or what the variable it names stands for.
absl::StatusOr<Literal> Substitute(const Literal& literal,
                                   const Variables& variables);

using AddressResolver = std::function<absl::StatusOr<uint64_t>(const Address&)>;

// The bytes of one argument. Structs have C layout.
absl::StatusOr<std::string> EncodeArgument(const Argument& argument,
                                           const Variables& variables,
                                           const AddressResolver& resolve);

// Where a parameter lies and how long it is.
struct ParameterSlot {
  std::string_view name;
  uint64_t offset = 0, size = 0;
};

// The parameter block of `block_bytes`. InvalidArgument names the argument
// when number or size do not fit.
absl::StatusOr<std::string> PackArguments(
    const std::vector<Argument>& arguments,
    const std::vector<ParameterSlot>& slots, uint64_t block_bytes,
    const Variables& variables, const AddressResolver& resolve);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_ARGUMENTS_H_
