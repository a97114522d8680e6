// The two macros that pass a status on.
#ifndef HETGPU_RUNTIME_STATUS_MACROS_H_
#define HETGPU_RUNTIME_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define HETGPU_RETURN_IF_ERROR(expression)                                  \
  do {                                                                      \
    if (absl::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

#define HETGPU_CONCAT_INNER(a, b) a##b
#define HETGPU_CONCAT(a, b) HETGPU_CONCAT_INNER(a, b)

#define HETGPU_ASSIGN_OR_RETURN(target, expression)                          \
  HETGPU_ASSIGN_OR_RETURN_INNER(HETGPU_CONCAT(status_or_, __LINE__), target, \
                                expression)
#define HETGPU_ASSIGN_OR_RETURN_INNER(temporary, target, expression) \
  auto temporary = (expression);                                     \
  if (!temporary.ok()) return std::move(temporary).status();         \
  target = *std::move(temporary)

#endif  // HETGPU_RUNTIME_STATUS_MACROS_H_
