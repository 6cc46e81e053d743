# The CUDA emulator (docs/emulator.md): kernels/emulator, against NVIDIA's headers, and the sources
# of kernels/cuda compiled by the host compiler. No CUDA compiler and no CUDA library are needed.

# taper_plugin_settings(<target>): a library that exports nothing but taper_cuda_module, uses nothing
# of Taper's, and stays once it is loaded.
function(taper_plugin_settings target)
  set(_map ${PROJECT_SOURCE_DIR}/cmake/plugin.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${_map} -Wl,--exclude-libs,ALL
                      -Wl,-Bsymbolic -Wl,-z,nodelete)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")  # whose functions the program has
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${_map})
  if(TAPER_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
  endif()
endfunction()

find_path(TAPER_CUDA_INCLUDE cuda_runtime.h
          HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
          PATHS /usr/local/cuda/include /opt/cuda/include
          DOC "Where NVIDIA's CUDA headers are")
if(TAPER_CUDA_INCLUDE)
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
