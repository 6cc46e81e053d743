# kernels/cpu/*.cpp, compiled once per instruction set and linked into one object each, of which
# only the kernel table stays visible.
#
# Why not simply compile them n times: inline and template code of Eigen and std would be weak
# symbols in every copy, the linker would keep any one of them, and an older machine would run (and
# crash in) code made for a newer one. `ld -r` merges a level's files, `objcopy -G` makes all but
# the table local; sanitizers work with that too. scripts/check_tables checks the outcome.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(_levels v2 v3 v4)
else()
  set(_levels generic)
endif()
set(TAPER_CPU_LEVELS "${_levels}" CACHE STRING
    "Instruction sets to build kernels for; one alone shortens a developer's build")
set(_march_v2 -march=x86-64-v2)
set(_march_v3 -march=x86-64-v3)
set(_march_v4 -march=x86-64-v4 -mprefer-vector-width=512)
set(_march_generic)

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fno-gnu-unique TAPER_HAS_NO_GNU_UNIQUE)
find_program(TAPER_LD NAMES ld.bfd ld REQUIRED)
mark_as_advanced(TAPER_LD)

file(GLOB _kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/cpu/*.cpp)
if(NOT _kernels)
  return()
endif()

foreach(level IN LISTS TAPER_CPU_LEVELS)
  set(_target taper_cpu_${level})
  add_library(${_target} OBJECT ${_kernels})
  taper_private_settings(${_target})
  target_link_libraries(${_target} PRIVATE taper_private)
  target_compile_definitions(${_target} PRIVATE TAPER_CPU_LEVEL=${level}
                             $<$<NOT:$<BOOL:${TAPER_SHARED}>>:TAPER_STATIC>)
  # A unique symbol would survive objcopy; an LTO object has no code yet to localise. Warnings
  # off: vector types as arguments (none leaves the object), GCC's own AVX-512 headers (PR 105593).
  target_compile_options(${_target} PRIVATE ${TAPER_KERNEL_OPTIMIZE} ${_march_${level}} -fno-lto
                         $<$<BOOL:${TAPER_HAS_NO_GNU_UNIQUE}>:-fno-gnu-unique>
                         -Wno-psabi -Wno-ignored-attributes -Wno-uninitialized
                         $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)

  set(_dir ${PROJECT_BINARY_DIR}/levels)
  file(MAKE_DIRECTORY ${_dir})
  add_custom_command(
    OUTPUT ${_dir}/${_target}.o
    COMMAND ${TAPER_LD} -r --force-group-allocation -o ${_dir}/${_target}.all.o
            $<TARGET_OBJECTS:${_target}>
    COMMAND ${CMAKE_OBJCOPY} -G taper_cpu_table_${level} ${_dir}/${_target}.all.o
            ${_dir}/${_target}.o
    COMMAND ${CMAKE_COMMAND} -E rm ${_dir}/${_target}.all.o
    DEPENDS ${_target} $<TARGET_OBJECTS:${_target}>
    COMMENT "Localising the ${level} kernels"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${_dir}/${_target}.o PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(taper PRIVATE ${_dir}/${_target}.o)
endforeach()

# kernels/backend.cpp lists the tables that were built.
foreach(level IN LISTS TAPER_CPU_LEVELS)
  target_compile_definitions(taper PRIVATE TAPER_HAS_TABLE_${level})
endforeach()
