# What `cmake --install` puts where: the command, the libraries with their CMake
# package and pkg-config file, the code generator, the man page, completions, and
# the data (JSON schemas, the standard library as text).
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/nestor")
set(data_dir "${CMAKE_INSTALL_DATADIR}/nestor")

install(TARGETS nestor_shared nestor_static EXPORT nestorTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/nestor" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h")
if(TARGET nestor)
  install(TARGETS nestor RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
if(TARGET nestor-llvm)
  install(TARGETS nestor-llvm LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/nestor")
endif()
if(TARGET nestor-mpi)
  install(TARGETS nestor-mpi LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/nestor")
endif()

install(EXPORT nestorTargets NAMESPACE nestor:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/nestorConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/nestorConfig.cmake" INSTALL_DESTINATION "${package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/nestorConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion) # before 1.0 a minor version may change the interface
install(FILES "${PROJECT_BINARY_DIR}/nestorConfig.cmake" "${PROJECT_BINARY_DIR}/nestorConfigVersion.cmake"
  DESTINATION "${package_dir}")

# Relative to the file itself, so that the whole tree may be moved.
file(RELATIVE_PATH pc_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
function(nst_install_pc pc_name pc_description pc_private)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/nestor.pc.in" "${PROJECT_BINARY_DIR}/${pc_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${pc_name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
nst_install_pc(nestor "${PROJECT_DESCRIPTION}" "-lm -ldl -lpthread")
if(TARGET nestor_grade)
  nst_install_pc(nestor-grade "The grader of Nestor's benchmark of language models" "")
endif()

install(FILES "${PROJECT_SOURCE_DIR}/docs/man/nestor.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
install(FILES "${PROJECT_SOURCE_DIR}/cli/completions/nestor.bash"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME nestor OPTIONAL)
install(FILES "${PROJECT_SOURCE_DIR}/cli/completions/_nestor"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" OPTIONAL)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/schemas" DESTINATION "${data_dir}" OPTIONAL
  FILES_MATCHING PATTERN "*.json")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/stdlib" DESTINATION "${data_dir}"
  FILES_MATCHING PATTERN "*.nest")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
