#include "taper/core/thread_state.h"

namespace taper::detail {

thread_local constinit ThreadState thread_state{};

}  // namespace taper::detail
