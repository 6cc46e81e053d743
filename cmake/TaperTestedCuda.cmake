# On which CUDA devices tests run: the emulator's, or cards where only the plugin for these is part
# of the build. TAPER_TESTED_CUDA is `emulated`, `hardware` or nothing, TAPER_TESTED_PLUGIN a target.

set(TAPER_TESTED_CUDA)
set(TAPER_TESTED_PLUGIN)
if(TARGET taper_emulator)
  set(TAPER_TESTED_CUDA emulated)
  set(TAPER_TESTED_PLUGIN taper_cuda_emulated_plugin)
elseif(TARGET taper_cuda AND NOT TAPER_CUDA STREQUAL "AUTO")
  set(TAPER_TESTED_CUDA hardware)
  set(TAPER_TESTED_PLUGIN taper_cuda)
endif()

# All that the tests with the label cuda run. They say what that is by taper_cuda_test.
add_custom_target(cuda_tests)
function(taper_cuda_test program)
  add_dependencies(cuda_tests ${program})
  add_dependencies(${program} ${TAPER_TESTED_PLUGIN})
endfunction()
