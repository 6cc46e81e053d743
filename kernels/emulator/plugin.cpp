#include <string>

#include "taper/kernels/emulator/control.h"

// What the plugin shows of the emulator in it.

namespace taper::emulator {

namespace {

const char* kept(std::string text) {
  static auto* const last = new std::string;
  *last = std::move(text);
  return last->c_str();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const Control* taper_emulator_control() {
  static constexpr Control kControl = {
      .inject = [](const char* what, int64_t in, int status) { inject(what, in, status); },
      .clear_failures = clear_failures,
      .call_count = [](const char* name) { return call_count(name); },
      .live_objects = [] { return kept(live_objects()); },
  };
  return &kControl;
}

}  // namespace taper::emulator
