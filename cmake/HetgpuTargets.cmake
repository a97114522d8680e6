# The build vocabulary: how this project declares libraries, tools and tests.

add_library(hetgpu_flags INTERFACE)
target_compile_options(hetgpu_flags INTERFACE
  -Wall -Wextra -Wno-unused-parameter
  # Clang blames programs for what stable_sort of libstdc++ 12 uses itself.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>
  $<$<BOOL:${HETGPU_WERROR}>:-Werror>)
if(HETGPU_SANITIZE)
  target_compile_options(hetgpu_flags INTERFACE
    -fsanitize=${HETGPU_SANITIZE} -fno-sanitize=vptr
    -fno-omit-frame-pointer)
  target_link_options(hetgpu_flags INTERFACE -fsanitize=${HETGPU_SANITIZE})
endif()
if(HETGPU_FUZZ)
  target_compile_options(hetgpu_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
# Release keeps assertions: a broken invariant must stop, not corrupt.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELEASE
       "${CMAKE_CXX_FLAGS_RELEASE}")

# hetgpu_library(name SRCS ... DEPS ... [COMPILER])
#   A static, position-independent library of our own code: no exceptions, no
#   RTTI. COMPILER marks code that sees LLVM/MLIR headers; it shares one
#   precompiled header (hetgpu_compiler_pch).
function(hetgpu_library name)
  cmake_parse_arguments(ARG "COMPILER" "" "SRCS;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS} PRIVATE hetgpu_flags)
  target_compile_options(${name} PRIVATE -fno-exceptions -fno-rtti)
  if(ARG_COMPILER)
    hetgpu_use_llvm(${name})
  endif()
endfunction()

# Gives a target LLVM/MLIR headers, libraries and the precompiled header. A
# program or library whose property HETGPU_STATIC_LLVM is on brings the archives
# itself; all others link the shared libraries.
# MLIR identifies types by the address of inline variables, so these must be the
# same object here and in libMLIR: default visibility, and no version script on
# a library that links these targets.
function(hetgpu_use_llvm name)
  set_target_properties(${name} PROPERTIES
    CXX_VISIBILITY_PRESET default VISIBILITY_INLINES_HIDDEN OFF)
  target_include_directories(${name} SYSTEM PRIVATE
    ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:HETGPU_STATIC_LLVM>>>:MLIR>
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:HETGPU_STATIC_LLVM>>>:LLVM>)
  # LLVM's headers would poison memory that the library, built without a
  # sanitizer, hands out again.
  if(HETGPU_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${name} PRIVATE -U__SANITIZE_ADDRESS__)
  endif()
  add_dependencies(${name} hetgpu_dialect_headers)
endfunction()

# hetgpu_tool(name SRCS ... DEPS ...): an executable a user runs. Tools may
# use exceptions because CLI11 does.
function(hetgpu_tool name)
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} hetgpu_flags)
endfunction()

# hetgpu_test(name SRCS ... DEPS ... [ARGS ...]): one GoogleTest executable,
# one ctest entry of the same name. HETGPU_SOURCE_DIR is defined for test data.
function(hetgpu_test name)
  if(NOT HETGPU_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SRCS;DEPS;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest
                        GTest::gtest_main hetgpu_flags)
  target_compile_definitions(${name} PRIVATE
    HETGPU_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    HETGPU_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
endfunction()
