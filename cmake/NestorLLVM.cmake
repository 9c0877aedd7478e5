# Finds LLVM, 15 or later: the one LLVM_DIR points to, or the newest that CI builds with.
#
# LLVM's version file accepts only its own major and minor version, so no version
# is asked for: Debian's directories are tried newest first, then the default path.
set(NST_LLVM_FLOOR 15)
if(NOT LLVM_DIR)
  foreach(version IN ITEMS 19 18 17 16 15)
    find_package(LLVM CONFIG QUIET PATHS "/usr/lib/llvm-${version}" NO_DEFAULT_PATH)
    if(LLVM_FOUND)
      break()
    endif()
  endforeach()
endif()
if(NOT LLVM_FOUND)
  set(asked "${LLVM_DIR}")
  find_package(LLVM CONFIG QUIET)
  if(asked AND LLVM_FOUND AND NOT LLVM_DIR STREQUAL asked)
    message(FATAL_ERROR "LLVM_DIR is ${asked}, which has no LLVMConfig.cmake")
  endif()
endif()
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "LLVM ${NST_LLVM_FLOOR} or later not found. Install llvm-19-dev, "
    "or set LLVM_DIR to the directory of LLVMConfig.cmake, or build without it: -DNST_JIT=OFF")
endif()
if(LLVM_VERSION_MAJOR LESS NST_LLVM_FLOOR)
  message(FATAL_ERROR "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR} is too old: "
    "${NST_LLVM_FLOOR} or later is needed")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

if(TARGET LLVM)
  set(NST_LLVM_LIBS LLVM)
else()
  llvm_map_components_to_libnames(NST_LLVM_LIBS core orcjit native passes analysis)
endif()
