#include "taper/nn/modules/linear.h"

#include <cmath>
#include <ostream>

#include "taper/autograd/grad_mode.h"
#include "taper/core/factories.h"
#include "taper/nn/functional.h"
#include "taper/nn/init.h"

namespace taper::nn {

namespace F = functional;

LinearImpl::LinearImpl(int64_t in_features, int64_t out_features)
    : LinearImpl(LinearOptions(in_features, out_features)) {}
LinearImpl::LinearImpl(const LinearOptions& options) : options(options) { reset(); }
void LinearImpl::reset() {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = register_parameter("bias", options.bias() ? empty(options.out_features()) : Tensor());
  reset_parameters();
}
void LinearImpl::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  if (!bias.defined()) return;
  const auto fan_in = static_cast<double>(std::get<0>(init::_calculate_fan_in_and_fan_out(weight)));
  const double bound = fan_in > 0 ? 1 / std::sqrt(fan_in) : 0;
  init::uniform_(bias, -bound, bound);
}
void LinearImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Linear(in_features=" << options.in_features()
         << ", out_features=" << options.out_features() << ", bias=" << options.bias() << ")";
}
Tensor LinearImpl::forward(const Tensor& input) { return F::linear(input, weight, bias); }

BilinearImpl::BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
    : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
BilinearImpl::BilinearImpl(const BilinearOptions& options) : options(options) { reset(); }
void BilinearImpl::reset() {
  weight = register_parameter(
      "weight", empty({options.out_features(), options.in1_features(), options.in2_features()}));
  bias = register_parameter("bias", options.bias() ? empty(options.out_features()) : Tensor());
  reset_parameters();
}
void BilinearImpl::reset_parameters() {
  const double bound = 1.0 / std::sqrt(static_cast<double>(weight.size(1)));
  init::uniform_(weight, -bound, bound);
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}
void BilinearImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Bilinear(in1_features=" << options.in1_features()
         << ", in2_features=" << options.in2_features()
         << ", out_features=" << options.out_features() << ", bias=" << options.bias() << ")";
}
Tensor BilinearImpl::forward(const Tensor& input1, const Tensor& input2) {
  return F::bilinear(input1, input2, weight, bias);
}

void IdentityImpl::pretty_print(std::ostream& stream) const { stream << "torch::nn::Identity()"; }

FlattenImpl::FlattenImpl(const FlattenOptions& options) : options(options) {}
void FlattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Flatten(start_dim=" << options.start_dim()
         << ", end_dim=" << options.end_dim() << ")";
}
Tensor FlattenImpl::forward(const Tensor& input) {
  return input.flatten(options.start_dim(), options.end_dim());
}

UnflattenImpl::UnflattenImpl(int64_t dim, std::vector<int64_t> sizes)
    : UnflattenImpl(UnflattenOptions(dim, std::move(sizes))) {}
UnflattenImpl::UnflattenImpl(const UnflattenOptions& options) : options(options) {}
void UnflattenImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
  for (size_t i = 0; i < options.sizes().size(); ++i) {
    stream << (i ? ", " : "") << options.sizes()[i];
  }
  stream << "})";
}
Tensor UnflattenImpl::forward(const Tensor& input) {
  return input.unflatten(options.dim(), options.sizes());
}

EmbeddingImpl::EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
    : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
EmbeddingImpl::EmbeddingImpl(const EmbeddingOptions& options) : options(options) { reset(); }
void EmbeddingImpl::reset() {
  if (options.padding_idx()) {
    const int64_t at = *options.padding_idx(), count = options.num_embeddings();
    TAPER_CHECK(at >= -count && at < count,
                "Embedding: Padding_idx must be within num_embeddings, got ", at, " for ", count);
    if (at < 0) options.padding_idx(at + count);
  }
  if (options._weight().defined()) {
    TAPER_CHECK(
        options._weight().sizes().equals({options.num_embeddings(), options.embedding_dim()}),
        "Shape of _weight does not match num_embeddings and embedding_dim");
    weight = register_parameter("weight", options._weight());
    return;
  }
  weight = register_parameter("weight", empty({options.num_embeddings(), options.embedding_dim()}));
  reset_parameters();
}
void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  const NoGradGuard guard;
  weight[*options.padding_idx()].fill_(0);
}
void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  if (options.sparse()) stream << ", sparse=true";
  stream << ")";
}
Tensor EmbeddingImpl::forward(const Tensor& indices) {
  return F::embedding(indices, weight,
                      F::EmbeddingFuncOptions()
                          .padding_idx(options.padding_idx())
                          .scale_grad_by_freq(options.scale_grad_by_freq()));
}

namespace {
void check_probability(double p) {
  TAPER_CHECK(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}
}  // namespace

DropoutImpl::DropoutImpl(double p) : DropoutImpl(DropoutOptions(p)) {}
DropoutImpl::DropoutImpl(const DropoutOptions& options) : options(options) { reset(); }
void DropoutImpl::reset() { check_probability(options.p()); }
void DropoutImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Dropout(p=" << options.p()
         << ", inplace=" << options.inplace() << ")";
}
Tensor DropoutImpl::forward(Tensor input) {
  return F::dropout(
      std::move(input),
      F::DropoutFuncOptions().p(options.p()).training(is_training()).inplace(options.inplace()));
}

Dropout2dImpl::Dropout2dImpl(double p) : Dropout2dImpl(Dropout2dOptions(p)) {}
Dropout2dImpl::Dropout2dImpl(const Dropout2dOptions& options) : options(options) { reset(); }
void Dropout2dImpl::reset() { check_probability(options.p()); }
void Dropout2dImpl::pretty_print(std::ostream& stream) const {
  stream << std::boolalpha << "torch::nn::Dropout2d(p=" << options.p()
         << ", inplace=" << options.inplace() << ")";
}
Tensor Dropout2dImpl::forward(Tensor input) {
  return F::dropout2d(
      std::move(input),
      F::Dropout2dFuncOptions().p(options.p()).training(is_training()).inplace(options.inplace()));
}

}  // namespace taper::nn
