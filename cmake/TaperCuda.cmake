# libtaper_cuda.so, the plugin for real cards: kernels/cuda, its .cu files by nvcc, the rest by the
# host compiler. With commands of our own rather than CMake's CUDA language, which tests the compiler
# by linking a program, and knows each toolkit only a year later.

set(TAPER_CUDA AUTO CACHE STRING
    "The plugin for CUDA devices. AUTO: where nvcc is found, only when asked for (target taper_cuda); ON: always")
set_property(CACHE TAPER_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TAPER_CUDA_ARCHITECTURES 80 90 100 CACHE STRING
    "What to make machine code for; the last one's PTX serves newer devices")
if(TAPER_CUDA STREQUAL "AUTO")
  set(_all EXCLUDE_FROM_ALL)
elseif(TAPER_CUDA)
  set(_all)
else()
  message(STATUS "CUDA plugin: off")
  return()
endif()

function(taper_nvcc_suits result program)
  execute_process(COMMAND ${program} --version OUTPUT_VARIABLE _version ERROR_QUIET)
  if(NOT _version MATCHES "release ([0-9.]+)" OR CMAKE_MATCH_1 VERSION_LESS 12.8)
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
find_program(TAPER_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin
             PATHS /usr/local/cuda/bin /opt/cuda/bin ${TAPER_FETCHED_CUDA}/bin
             VALIDATOR taper_nvcc_suits DOC "NVIDIA's compiler, 12.8 or newer")
set(_root)
if(TAPER_NVCC)
  get_filename_component(_root ${TAPER_NVCC} REALPATH)
  get_filename_component(_root ${_root}/../.. ABSOLUTE)
endif()
find_library(TAPER_CUDART NAMES cudart_static
             HINTS ${_root} PATH_SUFFIXES lib64 lib targets/x86_64-linux/lib
             DOC "The CUDA runtime that is linked in")
set(_lacks)
foreach(need TAPER_NVCC TAPER_CUDART TAPER_CUDA_INCLUDE)
  if(NOT ${need})
    list(APPEND _lacks ${need})
  endif()
endforeach()
if(_lacks)
  if(TAPER_CUDA STREQUAL "AUTO")
    message(STATUS "CUDA plugin: cannot be built here, not found: ${_lacks}")
    return()
  endif()
  message(FATAL_ERROR "TAPER_CUDA is ON, but these were not found: ${_lacks}. Set CUDA_HOME, or "
                      "TAPER_CUDA=OFF.")
endif()
message(STATUS "CUDA plugin: target taper_cuda, by ${TAPER_NVCC} for sm_"
               "${TAPER_CUDA_ARCHITECTURES}")

set(_no_unique)
if(NOT TAPER_SHARED AND TAPER_HAS_NO_GNU_UNIQUE)  # see kernels/emulator/CMakeLists.txt
  set(_no_unique ,-fno-gnu-unique)
endif()
# For all .cu files, the plugin's and others. The front end takes longer than the assembler, and runs
# once for each virtual architecture: the oldest's PTX is assembled for all but the newest.
set(TAPER_NVCC_FLAGS -std=c++20 -O3 -ccbin ${CMAKE_CXX_COMPILER} -I${TAPER_INCLUDE_DIR})
list(GET TAPER_CUDA_ARCHITECTURES 0 _oldest)
list(GET TAPER_CUDA_ARCHITECTURES -1 _newest)
set(_real)
foreach(arch IN LISTS TAPER_CUDA_ARCHITECTURES)
  if(NOT arch STREQUAL _newest)
    list(APPEND _real sm_${arch})
  endif()
endforeach()
if(_real)
  list(JOIN _real "," _real)
  list(APPEND TAPER_NVCC_FLAGS -gencode=arch=compute_${_oldest},code=[${_real}])
endif()
list(APPEND TAPER_NVCC_FLAGS
     -gencode=arch=compute_${_newest},code=[sm_${_newest},compute_${_newest}])
# And what the plugin needs besides. Compressed as far as it goes, it is a sixth as large.
set(_flags --expt-relaxed-constexpr --compress-mode=size
    -Xcompiler=-fPIC,-fvisibility=hidden,-fvisibility-inlines-hidden${_no_unique}
    -DTAPER_CUDA_HARDWARE -DTAPER_BUILDING -DTAPER_VERSION="${PROJECT_VERSION}")

# taper_nvcc(<variable> "<flag>;..." <file>...): the object files of .cu files, in the folder
# cuda of the current one.
function(taper_nvcc variable flags)
  set(_objects)
  set(_dir ${CMAKE_CURRENT_BINARY_DIR}/cuda)
  file(MAKE_DIRECTORY ${_dir})
  foreach(file IN LISTS ARGN)
    get_filename_component(_name ${file} NAME)
    set(_object ${_dir}/${_name}.o)
    add_custom_command(
      OUTPUT ${_object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${TAPER_NVCC} ${TAPER_NVCC_FLAGS} ${flags}
              -MD -MF ${_object}.d -c ${file} -o ${_object}
      DEPENDS ${file} DEPFILE ${_object}.d
      COMMENT "Building CUDA object ${_name}.o" VERBATIM)
    list(APPEND _objects ${_object})
  endforeach()
  set_source_files_properties(${_objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set(${variable} ${_objects} PARENT_SCOPE)
endfunction()

file(GLOB _host CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cpp)
file(GLOB _device CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cuda/*.cu)
taper_nvcc(_objects "${_flags}" ${_device})
add_library(taper_cuda_host OBJECT EXCLUDE_FROM_ALL ${_host})
taper_private_settings(taper_cuda_host)
target_link_libraries(taper_cuda_host PRIVATE taper_private)
target_compile_definitions(taper_cuda_host PRIVATE TAPER_CUDA_HARDWARE)
target_include_directories(taper_cuda_host SYSTEM PRIVATE ${TAPER_CUDA_INCLUDE})
if(_no_unique)
  target_compile_options(taper_cuda_host PRIVATE -fno-gnu-unique)
endif()

set(_libraries ${TAPER_CUDART} Threads::Threads ${CMAKE_DL_LIBS} rt)
add_library(taper_cuda MODULE ${_all} $<TARGET_OBJECTS:taper_cuda_host> ${_objects})
set_target_properties(taper_cuda PROPERTIES LINKER_LANGUAGE CXX)
taper_plugin_settings(taper_cuda)
target_link_libraries(taper_cuda PRIVATE ${_libraries})

# The same for test_cuda, which calls the kernels without a plugin between.
add_library(taper_cuda_static STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:taper_cuda_host> ${_objects})
set_target_properties(taper_cuda_static PROPERTIES LINKER_LANGUAGE CXX)
target_compile_definitions(taper_cuda_static INTERFACE TAPER_CUDA_HARDWARE)
target_link_libraries(taper_cuda_static INTERFACE ${_libraries})

if(TAPER_CUDA STREQUAL "ON" AND NOT TAPER_SHARED)
  taper_static_module(cuda hardware $<TARGET_OBJECTS:taper_cuda_host> ${_objects} ${TAPER_CUDART})
  target_link_libraries(taper_static_cuda INTERFACE rt)
endif()
