# What is installed and how it is found again: find_package(hetgpu), pkg-config
# and a Debian package (cpack). Tools install themselves (tools/CMakeLists.txt).
include(CMakePackageConfigHelpers)

# Runtime: what running programs needs. Development: what building needs.
install(TARGETS hetgpu EXPORT hetgpuTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime
          NAMELINK_COMPONENT Development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET hetgpu_compiler)
  # Opened by libhetgpu from its own folder; nothing links it.
  install(TARGETS hetgpu_compiler
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime
            NAMELINK_SKIP)
endif()
# LLVM's own folder is not on the loader's path.
foreach(target hetgpu_compiler hetgpu-cc hetgpu-opt)
  if(TARGET ${target})
    set_property(TARGET ${target} APPEND PROPERTY
                 INSTALL_RPATH ${LLVM_LIBRARY_DIRS})
  endif()
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/hetgpu
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

set(hetgpu_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/hetgpu)
install(EXPORT hetgpuTargets NAMESPACE hetgpu::
  DESTINATION ${hetgpu_config_dir} COMPONENT Development)
configure_package_config_file(
  ${CMAKE_SOURCE_DIR}/cmake/hetgpuConfig.cmake.in
  ${CMAKE_BINARY_DIR}/hetgpuConfig.cmake
  INSTALL_DESTINATION ${hetgpu_config_dir})
write_basic_package_version_file(
  ${CMAKE_BINARY_DIR}/hetgpuConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/hetgpuConfig.cmake
              ${CMAKE_BINARY_DIR}/hetgpuConfigVersion.cmake
  DESTINATION ${hetgpu_config_dir} COMPONENT Development)

# Relative to the file itself, so that the tree can be moved.
file(RELATIVE_PATH HETGPU_PC_UP
     /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_SOURCE_DIR}/cmake/hetgpu.pc.in
               ${CMAKE_BINARY_DIR}/hetgpu.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/hetgpu.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT Development)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Documentation)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs/
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT Documentation
  FILES_MATCHING PATTERN "*.md" PATTERN "*.json")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/
  DESTINATION ${CMAKE_INSTALL_DATADIR}/hetgpu/examples COMPONENT Documentation
  FILES_MATCHING PATTERN "*.cu" PATTERN "*.ptx" PATTERN "*.plan.json"
                 PATTERN "*.npy" PATTERN "host/*"
  PATTERN "tests" EXCLUDE)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hetgpu)
set(CPACK_PACKAGE_CONTACT "hetGPU maintainers <maintainers@hetgpu.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_DEB_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS
    ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_STRIP_FILES ON)
include(CPack)
