// Losses. `reduction` is none, mean or sum over the elements (or the samples that count).

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

Tensor reduced(const Tensor& loss, int64_t reduction, const char* op) {
  switch (reduction) {
    case Reduction::None:
      return loss;
    case Reduction::Mean:
      return loss.mean();
    case Reduction::Sum:
      return loss.sum();
    default:
      detail::fail<ValueError>(op, ": unknown reduction ", reduction);
  }
}

}  // namespace

// ---- Regression.

Tensor mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced((self - target).square(), reduction, "mse_loss");
}

Tensor l1_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced((self - target).abs(), reduction, "l1_loss");
}

// |d| - beta / 2 beyond beta, d^2 / (2 beta) within.
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, int64_t reduction, double beta) {
  TAPER_CHECK(beta >= 0, "smooth_l1_loss does not support negative values for beta, got ", beta);
  if (beta == 0) return taper::l1_loss(self, target, reduction);
  const Tensor d = self - target, size = d.abs();
  return reduced(taper::where(size.lt(beta), d.square() * (0.5 / beta), size - 0.5 * beta),
                 reduction, "smooth_l1_loss");
}

// d^2 / 2 within delta, delta * (|d| - delta / 2) beyond.
Tensor huber_loss(const Tensor& self, const Tensor& target, int64_t reduction, double delta) {
  TAPER_CHECK(delta > 0, "huber_loss does not support non-positive values for delta, got ", delta);
  const Tensor d = self - target, size = d.abs();
  return reduced(taper::where(size.le(delta), d.square() * 0.5, (size - 0.5 * delta) * delta),
                 reduction, "huber_loss");
}

// ---- Two classes.

namespace {

// Gradient of the BCE with probabilities; the division is kept off 0 as in PyTorch (1e-12).
Tensor bce_gradient(const Tensor& g, const Tensor& p, const Tensor& t) {
  return g * ((p - t) / ((1 - p) * p).clamp_min(1e-12));
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& self, const Tensor& target,
                            const std::optional<Tensor>& weight, int64_t reduction) {
  constexpr const char* kName = "binary_cross_entropy";
  check_floating(kName, self);
  TAPER_CHECK_VALUE(self.sizes().equals(target.sizes()), "Using a target size (", target.sizes(),
                    ") that is different to the input size (", self.sizes(),
                    ") is deprecated. Please ensure they have the same size.");
  const Tensor p = self.detach(), t = target.detach();
  // On a device the question would wait; there what is outside makes the loss NaN.
  TAPER_CHECK(p.numel() == 0 || !p.is_cpu() || (p.ge(0).logical_and(p.le(1))).all().item<bool>(),
              "all elements of input should be between 0 and 1 (", kName, ")");
  // Logarithms are limited at -100, so that a certain wrong answer costs a finite amount.
  Tensor loss = (t - 1) * (-p).log1p().clamp_min(-100) - t * p.log().clamp_min(-100);
  if (recording(self, target)) {
    record(loss, "BinaryCrossEntropyBackward0", inputs(self, target), saving(self, target),
           [](Backward& b) {
             const Tensor &g = b.grad_output(), p = b.saved(0), t = b.saved(1);
             if (b.wants(0)) b.grad(0) = bce_gradient(g, p, t);
             if (b.wants(1)) {
               b.grad(1) = g * ((-p).log1p().clamp_min(-100) - p.log().clamp_min(-100));
             }
           });
  }
  if (weight && weight->defined()) loss = loss * *weight;
  return reduced(loss, reduction, kName);
}

// (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)), stable for large |x|.
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const std::optional<Tensor>& weight,
                                        const std::optional<Tensor>& pos_weight,
                                        int64_t reduction) {
  constexpr const char* kName = "binary_cross_entropy_with_logits";
  check_floating(kName, self);
  TAPER_CHECK_VALUE(self.sizes().equals(target.sizes()), "Target size (", target.sizes(),
                    ") must be the same as input size (", self.sizes(), ")");
  const Tensor log_sigmoid = taper::log_sigmoid(self);
  Tensor loss;
  if (pos_weight && pos_weight->defined()) {
    loss = (1 - target) * self - ((*pos_weight - 1) * target + 1) * log_sigmoid;
  } else {
    loss = (1 - target) * self - log_sigmoid;
  }
  if (weight && weight->defined()) loss = loss * *weight;
  return reduced(loss, reduction, kName);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  return reduced((-target * self).exp().log1p(), reduction, "soft_margin_loss");
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin,
                            int64_t reduction) {
  const Tensor zero = zeros({}, self.options());
  const Tensor apart = taper::where(target.ne(1), (margin - self).clamp_min(0), zero);
  const Tensor together = taper::where(target.ne(-1), self, zero);
  return reduced(apart + together, reduction, "hinge_embedding_loss");
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, int64_t reduction) {
  return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction,
                 "margin_ranking_loss");
}

// ---- Distributions and distances.

// target * (log target - input), 0 where target is 0; input is a logarithm.
Tensor kl_div(const Tensor& self, const Tensor& target, int64_t reduction, bool log_target) {
  const Tensor loss =
      log_target ? target.exp() * (target - self) : target.xlogy(target) - target * self;
  return reduced(loss, reduction, "kl_div");
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  TAPER_CHECK(x1.is_floating_point() && x2.is_floating_point(),
              "cosine_similarity: expected floating point inputs");
  // Each vector is divided by its own length first, which keeps the product in range.
  const Tensor length1 = x1.norm(2, dim, true).clamp_min(eps);
  const Tensor length2 = x2.norm(2, dim, true).clamp_min(eps);
  return ((x1 / length1) * (x2 / length2)).sum(dim);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  return (x1 - x2 + eps).norm(p, -1, keepdim);
}

}  // namespace taper::ops
