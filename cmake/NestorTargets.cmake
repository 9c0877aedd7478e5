# What every target shares: the dialect, the warnings, the output places, the
# sanitizers, and nst_library(), which makes one static library of one directory.
#
# The build tree mirrors the installed tree (bin/, lib/, lib/nestor/), so that
# code finds the LLVM module by the same relative path in both.

find_package(Threads REQUIRED)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
set(NST_MODULE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/nestor")

# -O2 is what the figures in the README are measured with; CMake's default is -O3.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")

# The interface target that carries the flags of our own code.
add_library(nst_flags INTERFACE)
target_include_directories(nst_flags INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}")
target_compile_definitions(nst_flags INTERFACE _GNU_SOURCE "NST_VERSION=\"${PROJECT_VERSION}\"")
# -ffp-contract=off: the same doubles whatever the compiler and the machine.
target_compile_options(nst_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -ffp-contract=off -fno-common
  $<$<BOOL:${NST_WERROR}>:-Werror>)

# The skeletons of flex and bison are not our code.
set(NST_GENERATED_OPTIONS -Wno-conversion -Wno-sign-conversion -Wno-sign-compare -Wno-shadow
  -Wno-unused-function -Wno-unused-parameter -Wno-missing-prototypes -Wno-unused-but-set-variable)

if(NST_SANITIZE)
  add_compile_options(-fsanitize=${NST_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NST_SANITIZE})
  if(NST_SANITIZE MATCHES "address")
    add_compile_definitions(NST_ARENA_DEBUG)
  endif()
  if(NST_SANITIZE MATCHES "address|thread|memory")
    add_compile_definitions(NST_SANITIZED) # these map much memory and open files to report
  endif()
endif()
if(NST_COVERAGE)
  add_compile_options(--coverage -fprofile-abs-path)
  add_link_options(--coverage)
endif()
if(NST_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "NST_FUZZ needs clang: cmake --preset fuzz")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# nst_library(NAME SOURCES... [LINK...]): one directory as a static library. A
# directory without sources yet gives an empty library, so that people who build
# other parts are not held up.
function(nst_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(NOT arg_SOURCES)
    set(placeholder "${CMAKE_CURRENT_BINARY_DIR}/${name}_empty.c")
    file(CONFIGURE OUTPUT "${placeholder}" CONTENT
      "/* ${name} has no sources. */\ntypedef int ${name}_has_no_sources;\n" @ONLY)
    set(arg_SOURCES "${placeholder}")
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  target_link_libraries(${name} PUBLIC ${arg_LINK} PRIVATE nst_flags)
endfunction()
