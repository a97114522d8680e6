# HETGPU_CPU_LEVELS: the levels of x86-64 that CPU kernels are tested for besides
# this processor, of those that it has.
set(HETGPU_CPU_LEVELS "")
set(hetgpu_cpu_flags "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo hetgpu_cpu_flags REGEX "^flags" LIMIT_COUNT 1)
endif()
if(hetgpu_cpu_flags MATCHES " sse4_2 ")
  list(APPEND HETGPU_CPU_LEVELS x86-64-v2)
endif()
if(hetgpu_cpu_flags MATCHES " avx2 " AND hetgpu_cpu_flags MATCHES " fma " AND
   hetgpu_cpu_flags MATCHES " bmi2 ")
  list(APPEND HETGPU_CPU_LEVELS x86-64-v3)
endif()
