#include "taper/nn/modules/upsampling.h"

#include <ostream>

#include "taper/nn/functional.h"

namespace taper::nn {

namespace F = functional;

namespace {

template <class T>
void print_list(std::ostream& stream, const char* name, const std::vector<T>& values) {
  stream << name << "=[";
  for (size_t i = 0; i < values.size(); ++i) stream << (i ? ", " : "") << values[i];
  stream << "]";
}

bool is_nearest(const UpsampleOptions& options) {
  return std::holds_alternative<enumtype::kNearest>(options.mode());
}

}  // namespace

UpsampleImpl::UpsampleImpl(const UpsampleOptions& options) : options(options) {}
void UpsampleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::Upsample(";
  if (options.scale_factor()) {
    print_list(stream, "scale_factor", *options.scale_factor());
  } else if (options.size()) {
    print_list(stream, "size", *options.size());
  }
  stream << ", mode=" << (is_nearest(options) ? "kNearest" : "kBilinear") << ")";
}

Tensor UpsampleImpl::forward(const Tensor& input) {
  F::InterpolateFuncOptions::mode_t mode = kNearest;
  if (!is_nearest(options)) mode = kBilinear;
  return F::interpolate(input, F::InterpolateFuncOptions()
                                   .size(options.size())
                                   .scale_factor(options.scale_factor())
                                   .mode(mode)
                                   .align_corners(options.align_corners()));
}

PixelShuffleImpl::PixelShuffleImpl(const PixelShuffleOptions& options) : options(options) {}
void PixelShuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelShuffle(upscale_factor=" << options.upscale_factor() << ")";
}
Tensor PixelShuffleImpl::forward(const Tensor& input) { return F::pixel_shuffle(input, options); }

PixelUnshuffleImpl::PixelUnshuffleImpl(const PixelUnshuffleOptions& options) : options(options) {}
void PixelUnshuffleImpl::pretty_print(std::ostream& stream) const {
  stream << "torch::nn::PixelUnshuffle(downscale_factor=" << options.downscale_factor() << ")";
}
Tensor PixelUnshuffleImpl::forward(const Tensor& input) {
  return F::pixel_unshuffle(input, options);
}

}  // namespace taper::nn
