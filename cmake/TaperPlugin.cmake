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

# taper_static_module(<target> <kind> <file>...): Taper::<target>, the module for programs that have
# a static Taper in them, of object files and archives. One object that shows taper_cuda_module and
# nothing else; whoever links the target has it in the program, and only one kind can be linked.
function(taper_static_module target kind)
  if(TAPER_SHARED)
    return()
  endif()
  set(_dir ${PROJECT_BINARY_DIR}/modules)
  file(MAKE_DIRECTORY ${_dir})
  add_custom_command(
    OUTPUT ${_dir}/${target}.o
    COMMAND ${TAPER_LD} -r --force-group-allocation -o ${_dir}/${target}.all.o ${ARGN}
    COMMAND ${CMAKE_OBJCOPY} -G taper_cuda_module ${_dir}/${target}.all.o ${_dir}/${target}.o
    COMMAND ${CMAKE_COMMAND} -E rm ${_dir}/${target}.all.o
    DEPENDS ${ARGN} COMMENT "Localising the static module ${target}"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${_dir}/${target}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  add_library(taper_static_${target} STATIC ${_dir}/${target}.o)
  add_library(Taper::${target} ALIAS taper_static_${target})
  set_target_properties(taper_static_${target} PROPERTIES
    LINKER_LANGUAGE CXX OUTPUT_NAME taper_${target} EXPORT_NAME ${target}
    INTERFACE_TAPER_CUDA_KIND ${kind} COMPATIBLE_INTERFACE_STRING TAPER_CUDA_KIND)
  # Taper's own reference to it is a weak one, for which no archive is opened.
  target_link_options(taper_static_${target} INTERFACE -Wl,--undefined=taper_cuda_module)
  target_link_libraries(taper_static_${target} INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
  if(TAPER_INSTALL)
    install(TARGETS taper_static_${target} EXPORT TaperTargets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()
