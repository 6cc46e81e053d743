# What the two plugins of kernels/cuda have in common, the emulated one and the one for cards.

find_path(TAPER_CUDA_INCLUDE cuda_runtime.h
          HINTS $ENV{CUDA_HOME}/include $ENV{CUDA_PATH}/include
          PATHS /usr/local/cuda/include /opt/cuda/include
          DOC "Where NVIDIA's CUDA headers are")

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
