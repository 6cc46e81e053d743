#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "taper/kernels/emulator/sanitizers.h"

// A CUDA thread that has to wait keeps its stack, and another one goes on: a fiber per waiting
// thread, switched by hand.

/// Saves the running context in *save and continues the one in `to`.
extern "C" __attribute__((visibility("hidden"))) void taper_emulator_switch(void** save, void* to);

namespace taper::emulator {

struct Fiber {
  void* context = nullptr;  ///< where it goes on; valid while it does not run
  char* stack = nullptr;    ///< lowest byte
  size_t stack_bytes = 0;
  void* fake_stack = nullptr;  ///< address sanitizer's
  void* identity = nullptr;    ///< thread sanitizer's
  bool fresh = true;           ///< has no context yet
};

/// Gives the fiber a first context: `entry`, which never returns, on an empty stack.
void prepare_fiber(Fiber& fiber, void (*entry)());
/// False if the stack has grown past its end.
bool stack_intact(const Fiber& fiber);
/// The stack that the calling thread of the system runs on.
void describe_own_stack(Fiber& fiber);

/// Leaves `from`, whose context goes to *save, and continues `to` at `context`.
__attribute__((always_inline)) inline void switch_fibers(Fiber& from, void** save, Fiber& to,
                                                         void* context) {
#if defined(TAPER_EMULATOR_ASAN)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack, to.stack_bytes);
#endif
  if constexpr (kThreadSanitizer) become(to.identity);
  taper_emulator_switch(save, context);
#if defined(TAPER_EMULATOR_ASAN)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
  static_cast<void>(from);
}
/// The first thing on a new stack.
inline void arrive_on_new_stack() {
#if defined(TAPER_EMULATOR_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

/// Many stacks in one mapping, of which only the touched pages exist.
class Stacks {
 public:
  Stacks(size_t count, size_t stack_bytes);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::vector<Fiber>& fibers() { return fibers_; }
  /// After a kernel that was abandoned: what is on the stacks counts no more.
  void forget_all();

 private:
  char* memory_;
  size_t bytes_;
  std::vector<Fiber> fibers_;
};

}  // namespace taper::emulator
