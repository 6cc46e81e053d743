# What the two plugins of kernels/cuda have in common, the emulated one and the one for cards.

# Where scripts/lib.sh puts NVIDIA's compiler and headers if nothing else has them.
set(TAPER_FETCHED_CUDA ${PROJECT_SOURCE_DIR}/build/tools/cuda)

# 12.8 was the first to know sm_100.
function(taper_cuda_headers_suit result folder)
  file(STRINGS ${folder}/cuda.h _version REGEX "^#define CUDA_VERSION [0-9]+")
  if(NOT _version MATCHES "([0-9]+)$" OR CMAKE_MATCH_1 LESS 12080)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_path(TAPER_CUDA_INCLUDE cuda_runtime.h
          HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
          PATHS /usr/local/cuda/include /opt/cuda/include ${TAPER_FETCHED_CUDA}/include
          VALIDATOR taper_cuda_headers_suit
          DOC "Where the headers of CUDA 12.8 or newer are")

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
