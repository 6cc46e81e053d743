# The CUDA emulator (docs/emulator.md): kernels/emulator, against NVIDIA's headers, and the sources
# of kernels/cuda compiled by the host compiler. No CUDA compiler and no CUDA library are needed.

if(TAPER_CUDA_INCLUDE AND PROJECT_IS_TOP_LEVEL)
  set(_taper_headers ON)
else()
  set(_taper_headers OFF)
endif()
option(TAPER_CUDA_EMULATED "Build the emulator, which runs the CUDA kernels on the CPU"
       ${_taper_headers})
if(NOT TAPER_CUDA_EMULATED)
  message(STATUS "CUDA emulator: not built (TAPER_CUDA_EMULATED is off; CUDA's headers: "
                 "${TAPER_CUDA_INCLUDE})")
  return()
endif()
if(NOT TAPER_CUDA_INCLUDE)
  message(FATAL_ERROR "TAPER_CUDA_EMULATED needs NVIDIA's headers (cuda_runtime.h). Set "
                      "TAPER_CUDA_INCLUDE to their folder, or TAPER_CUDA_EMULATED=OFF.")
endif()
message(STATUS "CUDA emulator: with the headers in ${TAPER_CUDA_INCLUDE}")

# taper_emulate(<target>): compiles the target's .cu files as C++, and tells the emulator the line
# of each call of the CUDA runtime.
function(taper_emulate target)
  get_target_property(_files ${target} SOURCES)
  list(FILTER _files INCLUDE REGEX "\\.cu$")
  set_source_files_properties(${_files} TARGET_DIRECTORY ${target}
                              PROPERTIES LANGUAGE CXX COMPILE_OPTIONS -xc++)
  target_link_libraries(${target} PRIVATE taper_private)
  target_include_directories(${target} SYSTEM PRIVATE ${TAPER_CUDA_INCLUDE})
  # `#pragma unroll` is nvcc's.
  target_compile_options(${target} PRIVATE -Wno-unknown-pragmas
    "SHELL:-include ${PROJECT_SOURCE_DIR}/kernels/emulator/call_sites.h")
endfunction()

# A folder of its own: what language a .cu file is in is a property of the folder.
add_subdirectory(kernels/emulator)
