// Dropout: the mask is drawn as PyTorch draws it, so that the same seed drops the same elements.

#include <mutex>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

void check_probability(double p) {
  TAPER_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

Tensor dropout_gradient(const Tensor& g, const Tensor& mask, double p) {
  const Tensor grad = g.detach().contiguous(), out = new_result_like(grad);
  check(kernels_of(out).dropout_backward(out.data_ptr(), grad.data_ptr(), mask.data_ptr<uint8_t>(),
                                         out.scalar_type(), out.numel(), p, stream_of(out)),
        "dropout");
  if (recording(g)) {
    record(out, "DropoutBackwardBackward0", inputs(g), saving(mask),
           [p](Backward& b) { b.grad(0) = dropout_gradient(b.grad_output(), b.saved(0), p); });
  }
  return out;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  check_defined("dropout", input, "input");
  check_probability(p);
  if (!train || p == 0 || input.numel() == 0) return input;
  check_floating("dropout", input);
  // Everything is dropped, infinities too: no product with zero.
  if (p == 1) return input * zeros({}, input.options());
  const Tensor dense = input.detach().contiguous();
  const Tensor out = new_result_like(dense),
               mask = new_result(dense.sizes(), kByte, dense.device());
  {
    const Generator& generator = detail::default_generator(input.device());
    const std::lock_guard lock(generator.mutex());
    check(kernels_of(out).dropout_forward(out.data_ptr(), mask.data_ptr<uint8_t>(),
                                          dense.data_ptr(), out.scalar_type(), out.numel(), p,
                                          generator.raw_state(), stream_of(out)),
          "dropout");
  }
  if (recording(input)) {
    record(out, "DropoutBackward0", inputs(input), saving(mask),
           [p](Backward& b) { b.grad(0) = dropout_gradient(b.grad_output(), b.saved(0), p); });
  }
  return out;
}

Tensor& dropout_(Tensor& self, double p, bool train) {
  check_probability(p);
  if (train && p > 0) self.copy_(taper::dropout(self, p, train));
  return self;
}

// Whole channels are dropped: one draw for each (sample, channel).
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  check_probability(p);
  TAPER_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  if (!train || p == 0 || input.numel() == 0) return input;
  if (p == 1) return input * zeros({}, input.options());
  Dims shape(input.sizes());
  for (int d = 2; d < shape.size(); ++d) shape[d] = 1;
  const Tensor noise = empty(shape, input.options()).bernoulli_(1 - p).div_(1 - p);
  return input * noise;
}

}  // namespace taper::ops
