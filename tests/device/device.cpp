#include "device.h"

#include <dlfcn.h>

namespace device_tests {

const emulator::Control& the_emulator() {
  static const emulator::Control* const found = [] {
    REQUIRE(cuda::is_emulated());  // by now the plugin is loaded
    void* const plugin = dlopen(TAPER_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(plugin != nullptr);
    const auto entry =
        reinterpret_cast<emulator::ControlEntry>(dlsym(plugin, "taper_emulator_control"));
    REQUIRE(entry != nullptr);
    return entry();
  }();
  return *found;
}

}  // namespace device_tests
