// Early return on error, for code that is a list of steps that can fail.
#ifndef HETGPU_TOOLS_COMMON_STATUS_MACROS_H_
#define HETGPU_TOOLS_COMMON_STATUS_MACROS_H_

#include <utility>

#include "absl/status/statusor.h"

#define HETGPU_TOOLS_CONCAT_(a, b) a##b
#define HETGPU_TOOLS_CONCAT(a, b) HETGPU_TOOLS_CONCAT_(a, b)

// Returns the status unless it is OK.
#define RETURN_IF_ERROR(expression)                           \
  do {                                                        \
    if (absl::Status status_ = (expression); !status_.ok()) { \
      return status_;                                         \
    }                                                         \
  } while (false)

// Moves the value of a StatusOr into `target`, or returns its status.
#define ASSIGN_OR_RETURN(target, expression) \
  ASSIGN_OR_RETURN_(HETGPU_TOOLS_CONCAT(result_, __LINE__), target, expression)
#define ASSIGN_OR_RETURN_(result, target, expression) \
  auto result = (expression);                         \
  if (!result.ok()) return result.status();           \
  target = *std::move(result)

#endif  // HETGPU_TOOLS_COMMON_STATUS_MACROS_H_
