#pragma once

#include <optional>
#include <vector>

#include "taper/core/ops.h"
#include "taper/nn/options.h"

// The stateless forms of the modules, with LibTorch's names and options:
// `F::conv2d(x, weight, F::Conv2dFuncOptions().padding(1))`.

namespace taper::nn::functional {

// ---- Layers.
TAPER_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
TAPER_API Tensor bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                          const Tensor& bias = {});
TAPER_API Tensor conv1d(const Tensor& input, const Tensor& weight,
                        const Conv1dFuncOptions& options = {});
TAPER_API Tensor conv2d(const Tensor& input, const Tensor& weight,
                        const Conv2dFuncOptions& options = {});
TAPER_API Tensor conv_transpose1d(const Tensor& input, const Tensor& weight,
                                  const ConvTranspose1dFuncOptions& options = {});
TAPER_API Tensor conv_transpose2d(const Tensor& input, const Tensor& weight,
                                  const ConvTranspose2dFuncOptions& options = {});
TAPER_API Tensor embedding(const Tensor& input, const Tensor& weight,
                           const EmbeddingFuncOptions& options = {});
TAPER_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);
TAPER_API Tensor dropout(Tensor input, const DropoutFuncOptions& options = {});
TAPER_API Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {});

// ---- Normalisation.
TAPER_API Tensor batch_norm(const Tensor& input, const Tensor& running_mean,
                            const Tensor& running_var, const BatchNormFuncOptions& options = {});
TAPER_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
TAPER_API Tensor group_norm(const Tensor& input, const GroupNormFuncOptions& options);
TAPER_API Tensor instance_norm(const Tensor& input, const InstanceNormFuncOptions& options = {});
/// input / max(norm(input, p, dim), eps)
TAPER_API Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {});

// ---- Pooling, padding, resizing.
TAPER_API Tensor max_pool1d(const Tensor& input, const MaxPool1dFuncOptions& options);
TAPER_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
TAPER_API std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& input,
                                                             const MaxPool2dFuncOptions& options);
TAPER_API Tensor avg_pool1d(const Tensor& input, const AvgPool1dFuncOptions& options);
TAPER_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
TAPER_API Tensor adaptive_avg_pool1d(const Tensor& input,
                                     const AdaptiveAvgPool1dFuncOptions& options);
TAPER_API Tensor adaptive_avg_pool2d(const Tensor& input,
                                     const AdaptiveAvgPool2dFuncOptions& options);
TAPER_API Tensor adaptive_max_pool1d(const Tensor& input,
                                     const AdaptiveMaxPool1dFuncOptions& options);
TAPER_API Tensor adaptive_max_pool2d(const Tensor& input,
                                     const AdaptiveMaxPool2dFuncOptions& options);
TAPER_API std::tuple<Tensor, Tensor> adaptive_max_pool1d_with_indices(
    const Tensor& input, const AdaptiveMaxPool1dFuncOptions& options);
TAPER_API std::tuple<Tensor, Tensor> adaptive_max_pool2d_with_indices(
    const Tensor& input, const AdaptiveMaxPool2dFuncOptions& options);
TAPER_API Tensor pad(const Tensor& input, const PadFuncOptions& options);
TAPER_API Tensor pixel_shuffle(const Tensor& input, const PixelShuffleFuncOptions& options);
TAPER_API Tensor pixel_unshuffle(const Tensor& input, const PixelUnshuffleFuncOptions& options);
TAPER_API Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {});

// ---- Activations.
TAPER_API Tensor relu(Tensor input, const ReLUFuncOptions& options = {});
TAPER_API Tensor relu6(Tensor input, const ReLU6FuncOptions& options = {});
TAPER_API Tensor selu(Tensor input, const SELUFuncOptions& options = {});
TAPER_API Tensor elu(Tensor input, const ELUFuncOptions& options = {});
TAPER_API Tensor celu(Tensor input, const CELUFuncOptions& options = {});
TAPER_API Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {});
TAPER_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
TAPER_API Tensor silu(const Tensor& input);
TAPER_API Tensor mish(const Tensor& input);
TAPER_API Tensor hardtanh(Tensor input, const HardtanhFuncOptions& options = {});
TAPER_API Tensor hardsigmoid(const Tensor& input);
TAPER_API Tensor hardswish(const Tensor& input);
TAPER_API Tensor hardshrink(const Tensor& input, const HardshrinkFuncOptions& options = {});
TAPER_API Tensor softshrink(const Tensor& input, const SoftshrinkFuncOptions& options = {});
TAPER_API Tensor tanhshrink(const Tensor& input);
TAPER_API Tensor softplus(const Tensor& input, const SoftplusFuncOptions& options = {});
TAPER_API Tensor softsign(const Tensor& input);
TAPER_API Tensor logsigmoid(const Tensor& input);
TAPER_API Tensor threshold(Tensor input, const ThresholdFuncOptions& options);
TAPER_API Tensor prelu(const Tensor& input, const Tensor& weight);
TAPER_API Tensor glu(const Tensor& input, const GLUFuncOptions& options = {});
TAPER_API Tensor sigmoid(const Tensor& input);
TAPER_API Tensor tanh(const Tensor& input);
TAPER_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
TAPER_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);

// ---- Losses and distances.
TAPER_API Tensor l1_loss(const Tensor& input, const Tensor& target,
                         const L1LossFuncOptions& options = {});
TAPER_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                          const MSELossFuncOptions& options = {});
TAPER_API Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                                const SmoothL1LossFuncOptions& options = {});
TAPER_API Tensor huber_loss(const Tensor& input, const Tensor& target,
                            const HuberLossFuncOptions& options = {});
TAPER_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                               const CrossEntropyFuncOptions& options = {});
TAPER_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                          const NLLLossFuncOptions& options = {});
TAPER_API Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                      const BinaryCrossEntropyFuncOptions& options = {});
TAPER_API Tensor
binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                 const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
TAPER_API Tensor kl_div(const Tensor& input, const Tensor& target,
                        const KLDivFuncOptions& options = {});
TAPER_API Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                                  const SoftMarginLossFuncOptions& options = {});
TAPER_API Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                                      const HingeEmbeddingLossFuncOptions& options = {});
TAPER_API Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2,
                                     const Tensor& target,
                                     const MarginRankingLossFuncOptions& options = {});
TAPER_API Tensor cosine_similarity(const Tensor& x1, const Tensor& x2,
                                   const CosineSimilarityFuncOptions& options = {});
TAPER_API Tensor pairwise_distance(const Tensor& x1, const Tensor& x2,
                                   const PairwiseDistanceFuncOptions& options = {});

}  // namespace taper::nn::functional
