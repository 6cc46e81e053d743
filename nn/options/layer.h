#pragma once

#include <optional>

#include "taper/nn/module.h"

namespace taper::nn {

struct LinearOptions {
  LinearOptions(int64_t in_features, int64_t out_features)
      : in_features_(in_features), out_features_(out_features) {}
  TAPER_ARG(int64_t, in_features);
  TAPER_ARG(int64_t, out_features);
  TAPER_ARG(bool, bias) = true;
};

struct BilinearOptions {
  BilinearOptions(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : in1_features_(in1_features), in2_features_(in2_features), out_features_(out_features) {}
  TAPER_ARG(int64_t, in1_features);
  TAPER_ARG(int64_t, in2_features);
  TAPER_ARG(int64_t, out_features);
  TAPER_ARG(bool, bias) = true;
};

struct FlattenOptions {
  TAPER_ARG(int64_t, start_dim) = 1;
  TAPER_ARG(int64_t, end_dim) = -1;
};

struct UnflattenOptions {
  UnflattenOptions(int64_t dim, std::vector<int64_t> sizes) : dim_(dim), sizes_(std::move(sizes)) {}
  TAPER_ARG(int64_t, dim);
  TAPER_ARG(std::vector<int64_t>, sizes);
};

struct EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TAPER_ARG(int64_t, num_embeddings);
  TAPER_ARG(int64_t, embedding_dim);
  /// This row starts as zeros and is not trained.
  TAPER_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TAPER_ARG(bool, scale_grad_by_freq) = false;
  TAPER_ARG(bool, sparse) = false;
  TAPER_ARG(Tensor, _weight) = Tensor();
};

struct DropoutOptions {
  DropoutOptions(double p = 0.5) : p_(p) {}
  /// Probability that an element is zeroed.
  TAPER_ARG(double, p) = 0.5;
  TAPER_ARG(bool, inplace) = false;
};
using Dropout2dOptions = DropoutOptions;

// An argument of exported templates has to be exported too.
struct TAPER_API BatchNormOptions {
  BatchNormOptions(int64_t num_features) : num_features_(num_features) {}
  TAPER_ARG(int64_t, num_features);
  TAPER_ARG(double, eps) = 1e-5;
  /// Weight of the new batch in the running statistics; without a value they are the plain average.
  TAPER_ARG(std::optional<double>, momentum) = 0.1;
  TAPER_ARG(bool, affine) = true;
  TAPER_ARG(bool, track_running_stats) = true;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;

struct TAPER_API InstanceNormOptions {
  InstanceNormOptions(int64_t num_features) : num_features_(num_features) {}
  TAPER_ARG(int64_t, num_features);
  TAPER_ARG(double, eps) = 1e-5;
  TAPER_ARG(double, momentum) = 0.1;
  TAPER_ARG(bool, affine) = false;
  TAPER_ARG(bool, track_running_stats) = false;
};
using InstanceNorm1dOptions = InstanceNormOptions;
using InstanceNorm2dOptions = InstanceNormOptions;

struct LayerNormOptions {
  LayerNormOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  TAPER_ARG(std::vector<int64_t>, normalized_shape);
  TAPER_ARG(double, eps) = 1e-5;
  TAPER_ARG(bool, elementwise_affine) = true;
};

struct GroupNormOptions {
  GroupNormOptions(int64_t num_groups, int64_t num_channels)
      : num_groups_(num_groups), num_channels_(num_channels) {}
  TAPER_ARG(int64_t, num_groups);
  TAPER_ARG(int64_t, num_channels);
  TAPER_ARG(double, eps) = 1e-5;
  TAPER_ARG(bool, affine) = true;
};

struct CosineSimilarityOptions {
  TAPER_ARG(int64_t, dim) = 1;
  TAPER_ARG(double, eps) = 1e-8;
};

struct PairwiseDistanceOptions {
  TAPER_ARG(double, p) = 2.0;
  TAPER_ARG(double, eps) = 1e-6;
  TAPER_ARG(bool, keepdim) = false;
};

namespace functional {

struct DropoutFuncOptions {
  TAPER_ARG(double, p) = 0.5;
  TAPER_ARG(bool, training) = true;
  TAPER_ARG(bool, inplace) = false;
};
using Dropout2dFuncOptions = DropoutFuncOptions;

struct EmbeddingFuncOptions {
  TAPER_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TAPER_ARG(bool, scale_grad_by_freq) = false;
  TAPER_ARG(bool, sparse) = false;
};

struct BatchNormFuncOptions {
  TAPER_ARG(Tensor, weight) = Tensor();
  TAPER_ARG(Tensor, bias) = Tensor();
  TAPER_ARG(bool, training) = false;
  TAPER_ARG(std::optional<double>, momentum) = 0.1;
  TAPER_ARG(double, eps) = 1e-5;
};

struct LayerNormFuncOptions {
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  TAPER_ARG(std::vector<int64_t>, normalized_shape);
  TAPER_ARG(Tensor, weight) = Tensor();
  TAPER_ARG(Tensor, bias) = Tensor();
  TAPER_ARG(double, eps) = 1e-5;
};

struct GroupNormFuncOptions {
  GroupNormFuncOptions(int64_t num_groups) : num_groups_(num_groups) {}
  TAPER_ARG(int64_t, num_groups);
  TAPER_ARG(Tensor, weight) = Tensor();
  TAPER_ARG(Tensor, bias) = Tensor();
  TAPER_ARG(double, eps) = 1e-5;
};

struct InstanceNormFuncOptions {
  TAPER_ARG(Tensor, running_mean) = Tensor();
  TAPER_ARG(Tensor, running_var) = Tensor();
  TAPER_ARG(Tensor, weight) = Tensor();
  TAPER_ARG(Tensor, bias) = Tensor();
  TAPER_ARG(bool, use_input_stats) = true;
  TAPER_ARG(double, momentum) = 0.1;
  TAPER_ARG(double, eps) = 1e-5;
};

struct NormalizeFuncOptions {
  TAPER_ARG(double, p) = 2.0;
  TAPER_ARG(int64_t, dim) = 1;
  TAPER_ARG(double, eps) = 1e-12;
  TAPER_ARG(std::optional<Tensor>, out) = std::nullopt;
};

using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

}  // namespace functional
}  // namespace taper::nn
