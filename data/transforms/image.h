#pragma once

#include <array>

#include "taper/data/transforms/tensor.h"

namespace taper::data::transforms {

/// Grey levels as they are stored, uint8 [height, width] or [height, width, channels], become
/// float32 [channels, height, width] in [0, 1]. Floating images are left as they are.
struct TAPER_API ToTensor : public TensorTransform<> {
  Tensor operator()(Tensor input) override;
  Tensor apply_stacked(Tensor batch) override;
};

/// Mirrors images [..., height, width] left to right with probability p.
class TAPER_API RandomHorizontalFlip : public TensorTransform<> {
 public:
  explicit RandomHorizontalFlip(double p = 0.5);
  Tensor operator()(Tensor input) override;

 private:
  double p_;
};

/// Cuts a window out of images [..., height, width] at a random place, after padding each side.
class TAPER_API RandomCrop : public TensorTransform<> {
 public:
  explicit RandomCrop(int64_t size, int64_t padding = 0, double fill = 0)
      : RandomCrop(std::array<int64_t, 2>{size, size}, padding, fill) {}
  explicit RandomCrop(std::array<int64_t, 2> size, int64_t padding = 0, double fill = 0);
  Tensor operator()(Tensor input) override;

 private:
  std::array<int64_t, 2> size_;
  int64_t padding_;
  double fill_;
};

}  // namespace taper::data::transforms
