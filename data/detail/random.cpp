#include "taper/data/detail/random.h"

#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::data::detail {

int64_t draw_seed(const std::optional<Generator>& generator) {
  Tensor seed = empty({}, TensorOptions(kLong).device(kCPU));
  seed.random_(generator);
  return seed.item<int64_t>();
}

uint64_t default_seed() { return taper::detail::getDefaultCPUGenerator().current_seed(); }

}  // namespace taper::data::detail
