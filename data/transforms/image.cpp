#include "taper/data/transforms/image.h"

#include "taper/core/ops.h"

namespace taper::data::transforms {

namespace {

// `leading` dimensions come before those of the image.
Tensor to_tensor(const Tensor& input, int64_t leading) {
  if (input.is_floating_point()) return input;
  TAPER_CHECK_TYPE(input.scalar_type() == kByte,
                   "ToTensor: expected an image of uint8 or floating elements, but got ",
                   dtype_name(input.scalar_type()));
  const int64_t rank = input.dim() - leading;
  TAPER_CHECK_VALUE(
      rank == 2 || (rank == 3 && input.size(-1) >= 1 && input.size(-1) <= 4),
      "ToTensor: expected an image [height, width] or [height, width, channels] with 1 to 4 "
      "channels, but got one of shape ",
      input.sizes().slice(static_cast<size_t>(leading)));
  const Tensor image =
      rank == 2 ? input.unsqueeze(leading) : input.movedim(-1, leading).contiguous();
  Tensor out = image.to(kFloat);
  return out.div_(255);
}

void check_image(const char* name, const Tensor& input) {
  TAPER_CHECK_VALUE(input.dim() >= 2, name,
                    ": expected an image [..., height, width], but got shape ", input.sizes());
}

}  // namespace

Tensor ToTensor::operator()(Tensor input) { return to_tensor(input, 0); }
Tensor ToTensor::apply_stacked(Tensor batch) { return to_tensor(batch, 1); }

RandomHorizontalFlip::RandomHorizontalFlip(double p) : p_(p) {
  TAPER_CHECK_VALUE(p >= 0 && p <= 1, "RandomHorizontalFlip: expected a probability, but got ", p);
}

Tensor RandomHorizontalFlip::operator()(Tensor input) {
  check_image("RandomHorizontalFlip", input);
  return sample_random().chance(p_) ? input.flip({-1}) : input;
}

RandomCrop::RandomCrop(std::array<int64_t, 2> size, int64_t padding, double fill)
    : size_(size), padding_(padding), fill_(fill) {
  TAPER_CHECK_VALUE(size[0] > 0 && size[1] > 0 && padding >= 0,
                    "RandomCrop: expected a positive size and no negative padding, but got size ",
                    size[0], " x ", size[1], " and padding ", padding);
}

Tensor RandomCrop::operator()(Tensor input) {
  check_image("RandomCrop", input);
  if (padding_ > 0) {
    input = constant_pad_nd(input, {padding_, padding_, padding_, padding_}, fill_);
  }
  const int64_t height = input.size(-2), width = input.size(-1);
  TAPER_CHECK_VALUE(size_[0] <= height && size_[1] <= width, "RandomCrop: the window ", size_[0],
                    " x ", size_[1], " is larger than the padded image ", height, " x ", width);
  const int64_t top = sample_random().integer(height - size_[0] + 1);
  const int64_t left = sample_random().integer(width - size_[1] + 1);
  return input.narrow(-2, top, size_[0]).narrow(-1, left, size_[1]);
}

}  // namespace taper::data::transforms
