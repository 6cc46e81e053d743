#pragma once

#include <cstdint>

#include "taper/core/macros.h"

// Guards that switch recording for the calling thread and restore it when they go.

namespace taper {

struct TAPER_API GradMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

/// Sets whether ops are recorded.
class TAPER_API AutoGradMode {
 public:
  explicit AutoGradMode(bool enabled);
  ~AutoGradMode();
  AutoGradMode(const AutoGradMode&) = delete;
  AutoGradMode& operator=(const AutoGradMode&) = delete;

 private:
  uint32_t previous_;
};

/// Nothing is recorded: results do not require grad.
class TAPER_API NoGradGuard : public AutoGradMode {
 public:
  NoGradGuard() : AutoGradMode(false) {}
};

/// Recording, also inside a NoGradGuard.
class TAPER_API EnableGradGuard : public AutoGradMode {
 public:
  EnableGradGuard() : AutoGradMode(true) {}
};

/// Like NoGradGuard, and the tensors made inside can never be recorded later: cheaper still.
class TAPER_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true);
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;
  static bool is_enabled();

 private:
  uint32_t previous_;
};

namespace autograd {

using ::taper::AutoGradMode;
using ::taper::GradMode;

/// While on, backward throws at the first gradient that is NaN, naming the op of the forward pass.
class TAPER_API DetectAnomalyGuard {
 public:
  explicit DetectAnomalyGuard(bool enabled = true);
  ~DetectAnomalyGuard();
  DetectAnomalyGuard(const DetectAnomalyGuard&) = delete;
  DetectAnomalyGuard& operator=(const DetectAnomalyGuard&) = delete;

 private:
  uint32_t previous_;
};

struct TAPER_API AnomalyMode {
  static bool is_enabled();
  static void set_enabled(bool enabled);
};

}  // namespace autograd
}  // namespace taper
