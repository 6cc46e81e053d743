#pragma once

#include "taper/kernels/cpu/random.h"

// Samples made one at a time, in double whatever the dtype.

TAPER_CPU_BEGIN

constexpr double kPi = 3.14159265358979323846;
constexpr double kTwoPi = 2 * kPi;

inline double draw_uniform(CpuRngState& state) {
  return uniform_double(taper::detail::draw_long(state));
}

/// A standard normal number. The second of a Box-Muller pair waits in the state for the next call.
inline double draw_normal(CpuRngState& state) {
  if (state.has_spare_double) {
    state.has_spare_double = false;
    return state.spare_double;
  }
  const double angle = kTwoPi * draw_uniform(state);
  const double radius = std::sqrt(-2 * std::log1p(-draw_uniform(state)));
  state.has_spare_double = true;
  state.spare_double = radius * std::sin(angle);
  return radius * std::cos(angle);
}

TAPER_CPU_END
