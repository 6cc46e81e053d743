// Classification: negative log likelihood and cross entropy.

#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

// Class scores as rows: [classes], [batch, classes] or [batch, classes, d1, ...] become [rows,
// classes], and the target [rows]. `shape` is that of an unreduced loss.
struct Rows {
  Tensor scores, target;
  Dims shape;
};

Tensor class_last(const Tensor& scores) {
  if (scores.dim() <= 2) return scores.dim() == 1 ? scores.unsqueeze(0) : scores;
  return scores.movedim(1, -1).reshape({-1, scores.size(1)});
}

Rows as_rows(const char* op, const Tensor& self, const Tensor& target) {
  check_defined(op, self, "input");
  check_defined(op, target, "target");
  check_floating(op, self);
  check_same_device(op, self, target);
  TAPER_CHECK(self.dim() >= 1, op, ": input should have at least one dimension: classes");
  TAPER_CHECK_TYPE(target.scalar_type() == kLong || target.scalar_type() == kByte,
                   "expected target dtype to be Long or Byte, but got ", target.scalar_type(), " (",
                   op, ")");
  Dims expected;
  if (self.dim() >= 2) {
    expected.push_back(self.size(0));
    for (int64_t d = 2; d < self.dim(); ++d) expected.push_back(self.size(d));
  }
  // For one row of scores, a target of shape [1] is as good as a number.
  const bool single = self.dim() == 1 && target.dim() == 1 && target.size(0) == 1;
  TAPER_CHECK(single || target.sizes().equals(expected), "Expected target of shape ",
              IntArrayRef(expected), " for input of shape ", self.sizes(), ", but got ",
              target.sizes(), " (", op, ")");
  Rows rows;
  rows.shape = expected;
  rows.scores = class_last(self);
  rows.target = cast(target, kLong).reshape({-1}).contiguous();
  return rows;
}

// The sum of a loss over its rows, divided by how many of them count.
Tensor mean_of_counted(const Tensor& loss, const Tensor& target, int64_t ignore_index) {
  const Tensor count = target.ne(ignore_index).sum(), sum = loss.sum();
  if (count.is_cpu()) return sum / static_cast<double>(count.item<int64_t>());
  // Nothing waits for the number. A half may not hold it.
  const ScalarType dtype = loss.scalar_type();
  const ScalarType wide = is_reduced_floating_point(dtype) ? kFloat : dtype;
  return cast(cast(sum, wide) / count.to(wide), dtype);
}

constexpr const char* kCrossEntropyTarget = "cross_entropy_loss: Target";
constexpr const char* kNllTarget = "nll_loss: Target";

// log_sum_exp(row) - row[target], with the whole gradient in one kernel each way.
Tensor fused_cross_entropy(const Tensor& scores, const Tensor& target, int64_t ignore_index) {
  const Tensor logits = scores.detach().contiguous();
  const ScalarType dtype = logits.scalar_type();
  const ScalarType wide = is_reduced_floating_point(dtype) ? kFloat : dtype;
  const kernels::CrossEntropyArgs args{dtype, logits.size(0), logits.size(1),
                                       target.data_ptr<int64_t>(), ignore_index};
  const Tensor loss = new_result(args.rows, wide, logits.device()), lse = new_result_like(loss);
  const kernels::Status status =
      kernels_of(logits).cross_entropy_forward(loss.data_ptr(), lse.data_ptr(), logits.data_ptr(),
                                               args, stream_of(logits, kCrossEntropyTarget));
  TAPER_CHECK_INDEX(status.code != kernels::Code::kIndexOutOfRange, "cross_entropy_loss: Target ",
                    status.value, " is out of bounds for ", args.classes, " classes.");
  check(status, "cross_entropy_loss");
  if (recording(scores)) {
    record(loss, "CrossEntropyLossBackward0", inputs(scores), saving(scores, target, lse),
           [ignore_index](Backward& b) {
             const Tensor& g = b.grad_output();
             const Tensor scores = b.saved(0), target = b.saved(1), lse = b.saved(2);
             if (autograd::grad_enabled()) {
               // softmax - one_hot, with ignored rows at zero.
               const Tensor kept = target.ne(ignore_index);
               const Tensor one =
                   taper::one_hot(target.masked_fill(kept.logical_not(), 0), scores.size(1));
               const Tensor slope = scores.softmax(1) - one;
               b.grad(0) = slope * (g * kept).unsqueeze(1);
               return;
             }
             const Tensor logits = scores.contiguous(), out = new_result_like(logits);
             const kernels::CrossEntropyArgs args{logits.scalar_type(), logits.size(0),
                                                  logits.size(1), target.data_ptr<int64_t>(),
                                                  ignore_index};
             check(kernels_of(logits).cross_entropy_backward(
                       out.data_ptr(), g.data_ptr(), g.stride(0), 1.0, logits.data_ptr(),
                       lse.data_ptr(), args, stream_of(logits, kCrossEntropyTarget)),
                   "cross_entropy_loss");
             b.grad(0) = out;
           });
  }
  return cast(loss, dtype);
}

// Weighted losses are divided by the weights that took part.
Tensor reduced(const Tensor& loss, const Tensor& weights, int64_t reduction, const Dims& shape) {
  if (reduction == Reduction::None) return loss.reshape(shape);
  if (reduction == Reduction::Sum) return loss.sum();
  return loss.sum() / weights.sum();
}

Tensor target_weights(const Tensor& target, const Tensor& weight, int64_t ignore_index,
                      const Tensor& scores) {
  const Tensor kept = target.ne(ignore_index);
  if (!weight.defined()) return kept.to(scores.scalar_type());
  TAPER_CHECK(weight.dim() == 1 && weight.numel() == scores.size(1),
              "weight tensor should be defined either for all ", scores.size(1),
              " classes or no classes but got weight tensor of shape: ", weight.sizes());
  const Tensor rows = target.masked_fill(kept.logical_not(), 0);
  return index_select_for(kNllTarget, weight, 0, rows) * kept;
}

// On a device that would wait, and the kernels that pick scores find it.
void check_targets(const char* op, const Tensor& target, int64_t ignore_index, int64_t classes) {
  if (target.numel() == 0 || !target.is_cpu()) return;
  const Tensor bad =
      target.ne(ignore_index).logical_and(target.lt(0).logical_or(target.ge(classes)));
  if (!bad.any().item<bool>()) return;
  detail::fail<IndexError>("Target ", target.masked_select(bad)[0].item<int64_t>(),
                           " is out of bounds: ", op, " has ", classes, " classes.");
}

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                int64_t reduction, int64_t ignore_index) {
  const Rows rows = as_rows("nll_loss", self, target);
  check_targets("nll_loss", rows.target, ignore_index, rows.scores.size(1));
  const Tensor class_weight = weight ? *weight : Tensor();
  const Tensor weights = target_weights(rows.target, class_weight, ignore_index, rows.scores);
  const Tensor index = rows.target.masked_fill(rows.target.eq(ignore_index), 0).unsqueeze(1);
  const Tensor picked = gather_for(kNllTarget, rows.scores, 1, index).squeeze(1);
  // Ignored rows count for nothing, whatever their score, NaN included.
  const Tensor loss = (-picked * weights).masked_fill(rows.target.eq(ignore_index), 0);
  return reduced(loss, weights, reduction, rows.shape);
}

Tensor nll_loss2d(const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight,
                  int64_t reduction, int64_t ignore_index) {
  check_dim("nll_loss2d", self, 4, "input");
  return taper::nll_loss(self, target, weight, reduction, ignore_index);
}

namespace {

// The target is a distribution over the classes.
Tensor soft_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight,
                          int64_t reduction, double smoothing) {
  check_floating("cross_entropy_loss", target);
  const int64_t axis = self.dim() == 1 ? 0 : 1, classes = self.size(axis);
  Tensor wanted = target;
  if (smoothing > 0) wanted = target * (1 - smoothing) + smoothing / static_cast<double>(classes);
  Tensor weighted = self.log_softmax(axis) * wanted;
  if (weight.defined()) {
    Dims shape;
    for (int64_t d = 0; d < self.dim(); ++d) shape.push_back(d == axis ? classes : 1);
    weighted = weighted * weight.view(shape);
  }
  const Tensor loss = -weighted.sum(axis);
  if (reduction == Reduction::None) return loss;
  if (reduction == Reduction::Sum) return loss.sum();
  return loss.sum() / static_cast<double>(self.numel() / std::max<int64_t>(classes, 1));
}

}  // namespace

Tensor cross_entropy_loss(const Tensor& self, const Tensor& target,
                          const std::optional<Tensor>& weight, int64_t reduction,
                          int64_t ignore_index, double label_smoothing) {
  constexpr const char* kName = "cross_entropy_loss";
  check_defined(kName, self, "input");
  check_defined(kName, target, "target");
  TAPER_CHECK(label_smoothing >= 0 && label_smoothing <= 1,
              "label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  const Tensor class_weight = weight ? *weight : Tensor();
  if (target.sizes().equals(self.sizes()) && target.is_floating_point()) {
    return soft_cross_entropy(self, target, class_weight, reduction, label_smoothing);
  }
  const Rows rows = as_rows(kName, self, target);
  if (!class_weight.defined() && label_smoothing == 0) {
    const Tensor loss = fused_cross_entropy(rows.scores, rows.target, ignore_index);
    if (reduction == Reduction::None) return loss.reshape(rows.shape);
    if (reduction == Reduction::Sum) return loss.sum();
    return mean_of_counted(loss, rows.target, ignore_index);
  }
  const Tensor scores = rows.scores.log_softmax(1);
  const Tensor nll = taper::nll_loss(scores, rows.target, weight, Reduction::None, ignore_index);
  const Tensor weights = target_weights(rows.target, class_weight, ignore_index, scores);
  if (label_smoothing == 0) return reduced(nll, weights, reduction, rows.shape);
  // Smoothing spreads the target over all classes, weighted like the classes.
  const Tensor spread = class_weight.defined() ? scores * class_weight : scores;
  const Tensor smooth = (-spread.sum(1)).masked_fill(rows.target.eq(ignore_index), 0);
  const double share = label_smoothing / static_cast<double>(scores.size(1));
  const Tensor loss = nll * (1 - label_smoothing) + smooth * share;
  return reduced(loss, weights, reduction, rows.shape);
}

}  // namespace taper::ops
