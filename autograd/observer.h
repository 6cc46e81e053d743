#pragma once

#include <functional>

#include "taper/core/ops.h"

namespace taper::autograd {

/// Announces every op of the catalogue that the calling thread runs, before it runs, while the
/// guard lives: what a profiler or a test needs to know which ops a program calls.
class TAPER_API OpObserver {
 public:
  explicit OpObserver(std::function<void(OpId)> callback);
  ~OpObserver();
  OpObserver(const OpObserver&) = delete;
  OpObserver& operator=(const OpObserver&) = delete;

 private:
  friend void announce(OpId op);
  std::function<void(OpId)> callback_;
  OpObserver* previous_;
  uint32_t previous_mode_;
};

void announce(OpId op);

}  // namespace taper::autograd
