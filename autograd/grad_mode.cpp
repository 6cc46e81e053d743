#include "taper/autograd/grad_mode.h"

#include "taper/core/thread_state.h"

namespace taper {

using detail::thread_state;

namespace {

uint32_t switch_modes(uint32_t bits, bool on) {
  const uint32_t previous = thread_state.mode;
  thread_state.mode = on ? previous | bits : previous & ~bits;
  return previous;
}

// Restores only the bits a guard is about, so that guards of different kinds may interleave.
void restore_modes(uint32_t previous, uint32_t bits) {
  thread_state.mode = (thread_state.mode & ~bits) | (previous & bits);
}

constexpr uint32_t kGradBits = detail::kModeNoGrad | detail::kModeInference;

}  // namespace

bool GradMode::is_enabled() { return (thread_state.mode & detail::kModeNoGrad) == 0; }
void GradMode::set_enabled(bool enabled) { switch_modes(detail::kModeNoGrad, !enabled); }

AutoGradMode::AutoGradMode(bool enabled) : previous_(thread_state.mode) {
  GradMode::set_enabled(enabled);
}
AutoGradMode::~AutoGradMode() { restore_modes(previous_, detail::kModeNoGrad); }

InferenceMode::InferenceMode(bool enabled) : previous_(switch_modes(kGradBits, enabled)) {}
InferenceMode::~InferenceMode() { restore_modes(previous_, kGradBits); }
bool InferenceMode::is_enabled() { return (thread_state.mode & detail::kModeInference) != 0; }

namespace autograd {

DetectAnomalyGuard::DetectAnomalyGuard(bool enabled) : previous_(thread_state.mode) {
  AnomalyMode::set_enabled(enabled);
}
DetectAnomalyGuard::~DetectAnomalyGuard() { restore_modes(previous_, detail::kModeAnomaly); }

bool AnomalyMode::is_enabled() { return (thread_state.mode & detail::kModeAnomaly) != 0; }
void AnomalyMode::set_enabled(bool enabled) { switch_modes(detail::kModeAnomaly, enabled); }

}  // namespace autograd
}  // namespace taper
