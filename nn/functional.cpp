#include "taper/nn/functional.h"

#include <cmath>

#include "taper/core/factories.h"

namespace taper::nn {

int64_t detail::to_reduction(const reduction_t& reduction) {
  if (std::holds_alternative<enumtype::kNone>(reduction)) return Reduction::None;
  return std::holds_alternative<enumtype::kMean>(reduction) ? Reduction::Mean : Reduction::Sum;
}

namespace functional {

namespace {

std::optional<Tensor> given(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

// "same" padding may be uneven: the extra element goes to the end.
template <size_t D>
std::pair<Tensor, std::array<int64_t, D>> resolve_padding(const char* op, const Tensor& input,
                                                          const Tensor& weight,
                                                          const ConvFuncOptions<D>& options) {
  if (std::holds_alternative<enumtype::kValid>(options.padding())) return {input, {}};
  if (const auto* sizes = std::get_if<ExpandingArray<D>>(&options.padding()))
    return {input, **sizes};
  std::vector<int64_t> pad;
  for (size_t i = 0; i < D; ++i) {
    const size_t d = D - 1 - i;
    TAPER_CHECK((*options.stride())[d] == 1, op,
                ": padding='same' is not supported for strided convolutions");
    const int64_t total =
        (*options.dilation())[d] * (weight.size(-1 - static_cast<int64_t>(i)) - 1);
    pad.push_back(total / 2);
    pad.push_back(total - total / 2);
  }
  return {taper::constant_pad_nd(input, pad), {}};
}

}  // namespace

// ---- Layers.

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return taper::linear(input, weight, given(bias));
}

Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const Tensor& bias) {
  return taper::bilinear(input1, input2, weight, given(bias));
}

Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options) {
  const auto [x, padding] = resolve_padding<1>("conv1d", input, weight, options);
  return taper::conv1d(x, weight, given(options.bias()), options.stride(), padding,
                       options.dilation(), options.groups());
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options) {
  const auto [x, padding] = resolve_padding<2>("conv2d", input, weight, options);
  return taper::conv2d(x, weight, given(options.bias()), options.stride(), padding,
                       options.dilation(), options.groups());
}
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose1dFuncOptions& options) {
  return taper::conv_transpose1d(input, weight, given(options.bias()), options.stride(),
                                 options.padding(), options.output_padding(), options.groups(),
                                 options.dilation());
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                        const ConvTranspose2dFuncOptions& options) {
  return taper::conv_transpose2d(input, weight, given(options.bias()), options.stride(),
                                 options.padding(), options.output_padding(), options.groups(),
                                 options.dilation());
}

Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options) {
  int64_t padding = options.padding_idx().value_or(-1);
  if (options.padding_idx() && padding < 0) padding += weight.size(0);
  return taper::embedding(weight, input, padding, options.scale_grad_by_freq(), options.sparse());
}
Tensor one_hot(const Tensor& tensor, int64_t num_classes) {
  return taper::one_hot(tensor, num_classes);
}
Tensor dropout(Tensor input, const DropoutFuncOptions& options) {
  return options.inplace() ? taper::dropout_(input, options.p(), options.training())
                           : taper::dropout(input, options.p(), options.training());
}
Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options) {
  const Tensor out = taper::feature_dropout(input, options.p(), options.training());
  return options.inplace() ? input.copy_(out) : out;
}

// ---- Normalisation.

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const BatchNormFuncOptions& options) {
  return taper::batch_norm(input, given(options.weight()), given(options.bias()),
                           given(running_mean), given(running_var), options.training(),
                           options.momentum().value_or(0.0), options.eps());
}
Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return taper::layer_norm(input, options.normalized_shape(), given(options.weight()),
                           given(options.bias()), options.eps());
}
Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options) {
  return taper::group_norm(input, options.num_groups(), given(options.weight()),
                           given(options.bias()), options.eps());
}
Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options) {
  return taper::instance_norm(input, given(options.weight()), given(options.bias()),
                              given(options.running_mean()), given(options.running_var()),
                              options.use_input_stats(), options.momentum(), options.eps());
}
Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options) {
  const Tensor length = input.norm(options.p(), options.dim(), true).clamp_min(options.eps());
  const Tensor out = input / length;
  if (options.out()) return Tensor(*options.out()).copy_(out);
  return out;
}

// ---- Pooling, padding, resizing.

Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options) {
  return taper::max_pool1d(input, options.kernel_size(), options.stride(), options.padding(),
                           options.dilation(), options.ceil_mode());
}
Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return taper::max_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                           options.dilation(), options.ceil_mode());
}
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                   const MaxPool2dFuncOptions& options) {
  return taper::max_pool2d_with_indices(input, options.kernel_size(), options.stride(),
                                        options.padding(), options.dilation(), options.ceil_mode());
}
Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options) {
  return taper::avg_pool1d(input, options.kernel_size(), options.stride(), options.padding(),
                           options.ceil_mode(), options.count_include_pad());
}
Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return taper::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                           options.ceil_mode(), options.count_include_pad(),
                           options.divisor_override());
}
Tensor adaptive_avg_pool1d(const Tensor& input, const AdaptiveAvgPool1dFuncOptions& options) {
  return taper::adaptive_avg_pool1d(input, options.output_size());
}
Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options) {
  const auto& size = *options.output_size();
  // Left out means: as the input has it.
  const auto extent = [&](size_t i) {
    return size[i] ? *size[i] : input.size(static_cast<int>(i) - 2);
  };
  return taper::adaptive_avg_pool2d(input, {extent(0), extent(1)});
}

std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return taper::adaptive_max_pool1d(input, options.output_size());
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  const auto& size = *options.output_size();
  return taper::adaptive_max_pool2d(input, {size[0].value_or(-1), size[1].value_or(-1)});
}
Tensor adaptive_max_pool1d(const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options) {
  return std::get<0>(adaptive_max_pool1d_with_indices(input, options));
}
Tensor adaptive_max_pool2d(const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options) {
  return std::get<0>(adaptive_max_pool2d_with_indices(input, options));
}

Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options) {
  return taper::pixel_shuffle(input, options.upscale_factor());
}
Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options) {
  return taper::pixel_unshuffle(input, options.downscale_factor());
}

Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  const std::vector<int64_t>& pad = options.pad();
  if (std::holds_alternative<enumtype::kConstant>(options.mode())) {
    return taper::constant_pad_nd(input, pad, options.value());
  }
  if (std::holds_alternative<enumtype::kCircular>(options.mode())) {
    Tensor out = input;
    for (size_t i = 0; i * 2 < pad.size(); ++i) {
      const int64_t dim = -1 - static_cast<int64_t>(i), before = pad[2 * i], after = pad[2 * i + 1];
      const int64_t size = out.size(dim);
      TAPER_CHECK(before <= size && after <= size,
                  "pad: Padding value causes wrapping around more than once.");
      out =
          taper::cat({out.narrow(dim, size - before, before), out, out.narrow(dim, 0, after)}, dim);
    }
    return out;
  }
  const bool reflect = std::holds_alternative<enumtype::kReflect>(options.mode());
  if (pad.size() == 2) {
    return reflect ? taper::reflection_pad1d(input, pad) : taper::replication_pad1d(input, pad);
  }
  TAPER_CHECK(pad.size() == 4,
              "pad: Only 2 or 4 padding values are supported for non-constant padding, got ",
              pad.size());
  return reflect ? taper::reflection_pad2d(input, pad) : taper::replication_pad2d(input, pad);
}

Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options) {
  TAPER_CHECK(options.size().has_value() != options.scale_factor().has_value(),
              "interpolate: exactly one of size and scale_factor has to be defined");
  TAPER_CHECK(input.dim() == 3 || input.dim() == 4, "interpolate: expected a 3D or 4D input, got ",
              input.dim(), "D input");
  TAPER_CHECK(!options.antialias(), "interpolate: antialias is not supported");
  const size_t rank = static_cast<size_t>(input.dim()) - 2;
  std::vector<int64_t> size;
  std::vector<std::optional<double>> scales(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (options.size()) {
      const auto& sizes = *options.size();
      TAPER_CHECK(sizes.size() == 1 || sizes.size() == rank, "interpolate: expected ", rank,
                  " sizes, got ", sizes.size());
      size.push_back(sizes.size() == 1 ? sizes[0] : sizes[i]);
      continue;
    }
    const auto& factors = *options.scale_factor();
    TAPER_CHECK(factors.size() == 1 || factors.size() == rank, "interpolate: expected ", rank,
                " scale factors, got ", factors.size());
    const double factor = factors.size() == 1 ? factors[0] : factors[i];
    size.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(input.size(static_cast<int64_t>(i) + 2)) * factor)));
    if (!options.recompute_scale_factor().value_or(false)) scales[i] = factor;
  }
  if (std::holds_alternative<enumtype::kNearest>(options.mode())) {
    TAPER_CHECK(!options.align_corners(),
                "align_corners option can only be set with the interpolating modes: "
                "linear | bilinear | bicubic | trilinear");
    return rank == 1 ? taper::upsample_nearest1d(input, size, scales[0])
                     : taper::upsample_nearest2d(input, size, scales[0], scales[1]);
  }
  if (std::holds_alternative<enumtype::kArea>(options.mode())) {
    return rank == 1 ? taper::adaptive_avg_pool1d(input, size)
                     : taper::adaptive_avg_pool2d(input, size);
  }
  TAPER_CHECK(rank == 2, "interpolate: Got 3D input, but bilinear mode needs 4D input");
  return taper::upsample_bilinear2d(input, size, options.align_corners().value_or(false), scales[0],
                                    scales[1]);
}

// ---- Activations. `inplace` overwrites the input where the op can.

Tensor relu(Tensor input, const ReLUFuncOptions& options) {
  return options.inplace() ? taper::relu_(input) : taper::relu(input);
}
Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options) {
  return options.inplace() ? taper::leaky_relu_(input, options.negative_slope())
                           : taper::leaky_relu(input, options.negative_slope());
}

namespace {
Tensor placed(Tensor input, const Tensor& out, bool inplace) {
  return inplace ? input.copy_(out) : out;
}
}  // namespace

Tensor relu6(Tensor input, const ReLU6FuncOptions& options) {
  return placed(input, taper::relu6(input), options.inplace());
}
Tensor selu(Tensor input, const SELUFuncOptions& options) {
  return placed(input, taper::selu(input), options.inplace());
}
Tensor elu(Tensor input, const ELUFuncOptions& options) {
  return placed(input, taper::elu(input, options.alpha()), options.inplace());
}
Tensor celu(Tensor input, const CELUFuncOptions& options) {
  return placed(input, taper::celu(input, options.alpha()), options.inplace());
}
Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return taper::gelu(input, options.approximate());
}
Tensor silu(const Tensor& input) { return taper::silu(input); }
Tensor mish(const Tensor& input) { return taper::mish(input); }
Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options) {
  return placed(input, taper::hardtanh(input, options.min_val(), options.max_val()),
                options.inplace());
}
Tensor hardsigmoid(const Tensor& input) { return taper::hardsigmoid(input); }
Tensor hardswish(const Tensor& input) { return taper::hardswish(input); }
Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options) {
  return taper::hardshrink(input, options.lambda());
}
Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options) {
  return taper::softshrink(input, options.lambda());
}
Tensor tanhshrink(const Tensor& input) { return taper::tanhshrink(input); }
Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options) {
  return taper::softplus(input, options.beta(), options.threshold());
}
Tensor softsign(const Tensor& input) { return taper::softsign(input); }
Tensor logsigmoid(const Tensor& input) { return taper::log_sigmoid(input); }
Tensor threshold(Tensor input, const ThresholdFuncOptions& options) {
  return placed(input, taper::threshold(input, options.threshold(), options.value()),
                options.inplace());
}
Tensor prelu(const Tensor& input, const Tensor& weight) { return taper::prelu(input, weight); }
Tensor glu(const Tensor& input, const GLUFuncOptions& options) {
  return taper::glu(input, options.dim());
}
Tensor sigmoid(const Tensor& input) { return taper::sigmoid(input); }
Tensor tanh(const Tensor& input) { return taper::tanh(input); }
Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return taper::softmax(input, options.dim(), options.dtype());
}
Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return taper::log_softmax(input, options.dim(), options.dtype());
}

// ---- Losses and distances.

using nn::detail::to_reduction;

Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options) {
  return taper::l1_loss(input, target, to_reduction(options.reduction()));
}
Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  return taper::mse_loss(input, target, to_reduction(options.reduction()));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options) {
  return taper::smooth_l1_loss(input, target, to_reduction(options.reduction()),
                               options.beta().value_or(1.0));
}
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options) {
  return taper::huber_loss(input, target, to_reduction(options.reduction()), options.delta());
}
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return taper::cross_entropy_loss(input, target, given(options.weight()),
                                   to_reduction(options.reduction()), options.ignore_index(),
                                   options.label_smoothing());
}
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  return taper::nll_loss(input, target, given(options.weight()), to_reduction(options.reduction()),
                         options.ignore_index());
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options) {
  return taper::binary_cross_entropy(input, target, given(options.weight()),
                                     to_reduction(options.reduction()));
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  return taper::binary_cross_entropy_with_logits(input, target, given(options.weight()),
                                                 given(options.pos_weight()),
                                                 to_reduction(options.reduction()));
}
Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options) {
  if (std::holds_alternative<enumtype::kBatchMean>(options.reduction())) {
    const Tensor sum = taper::kl_div(input, target, Reduction::Sum, options.log_target());
    return input.dim() > 0 ? sum / input.size(0) : sum;
  }
  const int64_t reduction =
      std::holds_alternative<enumtype::kNone>(options.reduction())  ? Reduction::None
      : std::holds_alternative<enumtype::kSum>(options.reduction()) ? Reduction::Sum
                                                                    : Reduction::Mean;
  return taper::kl_div(input, target, reduction, options.log_target());
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options) {
  return taper::soft_margin_loss(input, target, to_reduction(options.reduction()));
}
Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options) {
  return taper::hinge_embedding_loss(input, target, options.margin(),
                                     to_reduction(options.reduction()));
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options) {
  return taper::margin_ranking_loss(input1, input2, target, options.margin(),
                                    to_reduction(options.reduction()));
}
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                         const CosineSimilarityFuncOptions& options) {
  return taper::cosine_similarity(x1, x2, options.dim(), options.eps());
}
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                         const PairwiseDistanceFuncOptions& options) {
  return taper::pairwise_distance(x1, x2, options.p(), options.eps(), options.keepdim());
}

}  // namespace functional
}  // namespace taper::nn
