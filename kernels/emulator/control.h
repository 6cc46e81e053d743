#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

// What CUDA's own interface does not offer: for tests, and for the emulator's plugin.

namespace taper::emulator {

/// Starts over, as with TAPER_EMULATOR=text. Throws std::invalid_argument for settings that do not
/// exist, std::logic_error while anything is allocated.
void configure(const std::string& text);

/// The `in`-th time from now that `what` happens, it fails; see Failure in options.h.
void inject(const std::string& what, int64_t in, int status = 0);

/// What the latest fault or refused call was, with file and line.
std::string last_report();

/// What was made and not freed: a line each, with the place where it was made.
std::string live_objects();

/// Forgets injected failures that have not happened yet.
void clear_failures();

/// How often a function of the runtime was called; "work": pieces of work that ran; "waits": calls
/// that made the host wait for a device, whether there was work to wait for or not; "tf32": matrix
/// products and convolutions that a card may do in TF32.
int64_t call_count(const std::string& name);

/// The place of this thread's next call; call_sites.h calls it.
void call_site(const char* file, int line);

/// The same for a program in which the emulator is a plugin: its only other symbol,
/// `taper_emulator_control`, returns this. Texts live until the next call.
struct Control {
  void (*inject)(const char* what, int64_t in, int status);
  void (*clear_failures)();
  int64_t (*call_count)(const char* name);
  const char* (*live_objects)();
};
using ControlEntry = const Control* (*)();

}  // namespace taper::emulator
