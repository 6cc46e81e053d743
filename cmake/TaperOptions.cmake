# Options, and settings that every target shares. Nothing here reaches a project that embeds Taper.

# Not BUILD_SHARED_LIBS itself: a cache entry of that name would change the embedding project's
# libraries.
if(DEFINED BUILD_SHARED_LIBS)
  set(_taper_shared ${BUILD_SHARED_LIBS})
else()
  set(_taper_shared ON)
endif()
option(TAPER_SHARED "Build libtaper as a shared library" ${_taper_shared})
option(TAPER_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(TAPER_BUILD_EXAMPLES "Build the programs of docs/examples" ${PROJECT_IS_TOP_LEVEL})
option(TAPER_BUILD_BENCH "Build the programs of bench" OFF)
option(TAPER_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
option(TAPER_NO_CACHE "Switch the allocators' caches off, so that sanitizers see each buffer" OFF)
option(TAPER_WERROR "Warnings are errors (only with the compiler that CI uses)" OFF)
set(TAPER_KERNEL_OPTIMIZE -O3 CACHE STRING "How kernels/cpu is optimised")
mark_as_advanced(TAPER_KERNEL_OPTIMIZE)

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR CMAKE_CXX_COMPILER_ID STREQUAL "MSVC")
  message(FATAL_ERROR "Taper builds on Linux with GCC or Clang; this is "
                      "${CMAKE_SYSTEM_NAME} with ${CMAKE_CXX_COMPILER_ID}.")
endif()

include(GNUInstallDirs)

if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release)
  endif()
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(TAPER_CCACHE ccache)
    mark_as_advanced(TAPER_CCACHE)
    if(TAPER_CCACHE)
      set(CMAKE_CXX_COMPILER_LAUNCHER ${TAPER_CCACHE})
    endif()
  endif()
endif()

# taper_private_settings(<target>): the language and the warnings of our own targets.
function(taper_private_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra)
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumented code confuses it.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
  # A newer compiler brings new warnings; they must not keep anyone from building.
  if(TAPER_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU"
     AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # The second line: guesses after inlining, often wrong for code from Eigen and std.
    target_compile_options(${target} PRIVATE -Werror
      -Wno-error=maybe-uninitialized -Wno-error=array-bounds -Wno-error=stringop-overflow
      -Wno-error=stringop-overread -Wno-error=restrict -Wno-error=free-nonheap-object
      -Wno-error=aggressive-loop-optimizations)
  endif()
endfunction()
