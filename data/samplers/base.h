#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "taper/core/tensor.h"

namespace taper::data::samplers {

/// Where a sampler stands: what `load_state` needs to go on from there.
struct SamplerState {
  int64_t index = 0;  ///< samples given out so far
  Tensor order;       ///< the epoch's order, int64; undefined where it needs no saying
  std::vector<uint8_t>
      generator_state;  ///< of a generator that the sampler draws from; may be empty
};

/// Says which samples come next.
template <class BatchRequest = std::vector<size_t>>
class Sampler {
 public:
  using BatchRequestType = BatchRequest;

  virtual ~Sampler() = default;
  /// Begins a new epoch, over `new_size` samples if given.
  virtual void reset(std::optional<size_t> new_size) = 0;
  /// At most `batch_size` samples; nothing once the epoch is over.
  virtual std::optional<BatchRequest> next(size_t batch_size) = 0;

  /// The position, to go on from later. A sampler that keeps none is reset and run forward instead.
  virtual std::optional<SamplerState> state() const { return std::nullopt; }
  virtual void load_state(const SamplerState&) {}
};

}  // namespace taper::data::samplers
