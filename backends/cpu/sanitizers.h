// Which sanitizer this is built with: HETGPU_HAS_ASAN, HETGPU_HAS_TSAN are 0 or 1.
#ifndef HETGPU_BACKENDS_CPU_SANITIZERS_H_
#define HETGPU_BACKENDS_CPU_SANITIZERS_H_

#if defined(__SANITIZE_ADDRESS__)
#define HETGPU_HAS_ASAN 1
#elif defined(__has_feature)
#define HETGPU_HAS_ASAN __has_feature(address_sanitizer)
#else
#define HETGPU_HAS_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define HETGPU_HAS_TSAN 1
#elif defined(__has_feature)
#define HETGPU_HAS_TSAN __has_feature(thread_sanitizer)
#else
#define HETGPU_HAS_TSAN 0
#endif

#endif  // HETGPU_BACKENDS_CPU_SANITIZERS_H_
