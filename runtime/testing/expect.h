#ifndef HETGPU_RUNTIME_TESTING_EXPECT_H_
#define HETGPU_RUNTIME_TESTING_EXPECT_H_

#include "gtest/gtest.h"
#include "hetgpu/hetgpu.h"

// EXPECT_EQ that shows the detail of a failure.
#define EXPECT_RESULT(expected, expression)                             \
  do {                                                                  \
    const hetgpuResult result_ = (expression);                          \
    EXPECT_STREQ(hetgpuResultName(expected), hetgpuResultName(result_)) \
        << #expression << ": " << hetgpuGetLastErrorDetail();           \
  } while (false)
#define EXPECT_SUCCESS(expression) EXPECT_RESULT(HETGPU_SUCCESS, expression)
#define ASSERT_SUCCESS(expression)                            \
  do {                                                        \
    const hetgpuResult result_ = (expression);                \
    ASSERT_STREQ("HETGPU_SUCCESS", hetgpuResultName(result_)) \
        << #expression << ": " << hetgpuGetLastErrorDetail(); \
  } while (false)

#endif  // HETGPU_RUNTIME_TESTING_EXPECT_H_
