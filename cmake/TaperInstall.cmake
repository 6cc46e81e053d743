# Installation: the library, its public headers, a package file for find_package(Taper).
include(CMakePackageConfigHelpers)

set(_package ${CMAKE_INSTALL_LIBDIR}/cmake/Taper)
install(TARGETS taper taper_torch EXPORT TaperTargets
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT TaperTargets NAMESPACE Taper:: DESTINATION ${_package})

# The folders' headers, without what only the kernels include.
foreach(layer IN LISTS TAPER_LAYERS)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${layer})
    install(DIRECTORY ${layer} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/taper
            FILES_MATCHING PATTERN "*.h" PATTERN "*.def"
            PATTERN kernels/cpu EXCLUDE PATTERN kernels/functors EXCLUDE
            PATTERN kernels/cuda EXCLUDE PATTERN kernels/emulator EXCLUDE
            PATTERN data/digits EXCLUDE)
  endif()
endforeach()
install(DIRECTORY compat/taper/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/taper OPTIONAL)
# Not into include/ itself, where a real LibTorch may have its own <torch/torch.h>.
install(DIRECTORY compat/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/taper-torch OPTIONAL
        PATTERN compat/taper EXCLUDE)
install(DIRECTORY data/digits DESTINATION ${CMAKE_INSTALL_DATADIR}/taper OPTIONAL)

configure_package_config_file(cmake/TaperConfig.cmake.in TaperConfig.cmake
                              INSTALL_DESTINATION ${_package})
write_basic_package_version_file(TaperConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TaperConfig.cmake
              ${PROJECT_BINARY_DIR}/TaperConfigVersion.cmake DESTINATION ${_package})
