# Taper::taper, the library, and Taper::torch, which adds LibTorch's spelling.

set(TAPER_LAYERS core kernels autograd nn optim dist data)

# `taper/core/tensor.h` names the same file in the build tree and after installation: links to the
# layers' folders, and to the umbrella headers of compat/taper.
set(TAPER_INCLUDE_DIR ${PROJECT_BINARY_DIR}/include)
file(MAKE_DIRECTORY ${TAPER_INCLUDE_DIR}/taper)
file(GLOB _umbrella CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/compat/taper
     ${PROJECT_SOURCE_DIR}/compat/taper/*)
foreach(name IN LISTS TAPER_LAYERS)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${TAPER_INCLUDE_DIR}/taper/${name} SYMBOLIC)
endforeach()
foreach(name IN LISTS _umbrella)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/compat/taper/${name} ${TAPER_INCLUDE_DIR}/taper/${name}
       SYMBOLIC)
endforeach()

# What a device module and the core have to agree on; a module made from another contract is refused.
set(_contract)
foreach(header device kernels ops plan status)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
               ${PROJECT_SOURCE_DIR}/kernels/${header}.h)
  file(SHA256 ${PROJECT_SOURCE_DIR}/kernels/${header}.h _hash)
  string(APPEND _contract ${_hash})
endforeach()
string(SHA256 _contract "${_contract}")
string(SUBSTRING ${_contract} 0 12 _contract)
file(CONFIGURE OUTPUT ${TAPER_INCLUDE_DIR}/taper/build_id.h @ONLY CONTENT
"#pragma once
/// Taper's version, and what its kernels/{device,kernels,ops,plan,status}.h hash to.
#define TAPER_BUILD_ID \"@PROJECT_VERSION@-@_contract@\"
")

# Sources are found, not listed: a new op never touches CMake. kernels/cpu is compiled in
# TaperCpuLevels, kernels/cuda and kernels/emulator make plugins of their own.
set(_sources)
foreach(layer IN LISTS TAPER_LAYERS)
  file(GLOB_RECURSE _found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${layer}/*.cpp)
  list(APPEND _sources ${_found})
endforeach()
list(FILTER _sources EXCLUDE REGEX "${PROJECT_SOURCE_DIR}/kernels/(cpu|cuda|emulator)/")

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)

# What the library's own files and the kernels have in common; never seen outside.
add_library(taper_private INTERFACE)
target_include_directories(taper_private INTERFACE ${TAPER_INCLUDE_DIR})
target_link_libraries(taper_private INTERFACE nlohmann_json::nlohmann_json)
target_compile_options(taper_private INTERFACE -fvisibility=hidden -fvisibility-inlines-hidden
                                               -ftls-model=initial-exec)
target_compile_definitions(taper_private INTERFACE TAPER_BUILDING
                           TAPER_VERSION="${PROJECT_VERSION}"
                           $<$<BOOL:${TAPER_NO_CACHE}>:TAPER_NO_CACHE>)

if(TAPER_SHARED)
  add_library(taper SHARED ${_sources})
  # std's templates are always visible to the compiler; the map keeps our copies of them inside.
  set(_map ${PROJECT_SOURCE_DIR}/cmake/taper.map)
  # Calls within the library are direct ones.
  target_link_options(taper PRIVATE -Wl,--version-script=${_map} -Wl,-Bsymbolic-functions)
  set_property(TARGET taper APPEND PROPERTY LINK_DEPENDS ${_map})
else()
  add_library(taper STATIC ${_sources})
  target_compile_definitions(taper PUBLIC TAPER_STATIC)
endif()
add_library(Taper::taper ALIAS taper)
taper_private_settings(taper)
set_target_properties(taper PROPERTIES LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION}
                      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(taper PUBLIC cxx_std_20)
target_include_directories(taper PUBLIC $<BUILD_INTERFACE:${TAPER_INCLUDE_DIR}>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(taper PRIVATE $<BUILD_INTERFACE:taper_private> ZLIB::ZLIB Threads::Threads
                      ${CMAKE_DL_LIBS})
# glibc's vector maths, which the kernels use where it is there (kernels/cpu/vec_math.h).
find_library(TAPER_LIBMVEC mvec)
mark_as_advanced(TAPER_LIBMVEC)
if(TAPER_LIBMVEC)
  target_link_libraries(taper PRIVATE mvec)
endif()
# The pool's threads outlive a dlclose.
target_link_options(taper PRIVATE $<$<BOOL:${TAPER_SHARED}>:-Wl,-z,nodelete>)
# Where the small data set that ships with Taper lies; the installed one is tried second. And where
# the installed plugins are.
target_compile_definitions(taper PRIVATE
  TAPER_INSTALL_LIBRARY_DIR="${CMAKE_INSTALL_FULL_LIBDIR}"
  TAPER_SOURCE_DATA_DIR="${PROJECT_SOURCE_DIR}/data"
  TAPER_INSTALL_DATA_DIR="${CMAKE_INSTALL_FULL_DATADIR}/taper")

# A folder of its own, so that only those who ask for LibTorch's spelling find <torch/torch.h> here.
add_library(taper_torch INTERFACE)
add_library(Taper::torch ALIAS taper_torch)
set_target_properties(taper_torch PROPERTIES EXPORT_NAME torch)
target_link_libraries(taper_torch INTERFACE taper)
target_include_directories(taper_torch INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/compat>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/taper-torch>)
