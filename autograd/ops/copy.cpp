// Copies, casts, fills, and moving between devices.

#include "taper/autograd/ops/op.h"

namespace taper {

namespace ops {

Tensor& copy_(Tensor& self, const Tensor& src, bool) {
  check_defined("copy_", self, "self");
  check_defined("copy_", src, "src");
  TAPER_CHECK(is_expandable_to(src.sizes(), self.sizes()), "copy_: the shape of src, ", src.sizes(),
              ", does not broadcast to that of self, ", self.sizes());
  if (self.is_same(src)) return self;
  begin_inplace("copy_", self);
  check_no_partial_overlap(self.impl(), src.impl());
  // Where nobody knows whether they overlap, as with gaps in both: through a copy.
  const bool overlaps =
      self.is_alias_of(src) && overlap_of(self.impl(), src.impl()) != Overlap::kNone;
  copy_values(self, overlaps ? src.detach().clone() : src);
  finish_write(self);
  if (recording(self, src) && is_floating_point(self.scalar_type())) {
    record_inplace(self, "CopyBackwards", inputs(self, src), saving_nothing(), [](Backward& b) {
      if (b.wants(0)) b.grad(0) = zeros_like(b.grad_output());
      if (b.wants(1)) b.grad(1) = b.grad_output();
    });
  }
  return self;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  check_defined("clone", self, "self");
  // Dense tensors keep their order of dimensions unless asked otherwise, as in PyTorch.
  const bool keeps_strides =
      memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve &&
      !self.is_contiguous() && is_non_overlapping_and_dense(self.sizes(), self.strides());
  const Tensor out = keeps_strides ? empty_strided(self.sizes(), self.strides(), self.options())
                                   : new_result_like(self, "clone");
  copy_values(out, self);
  if (recording(self)) {
    record(out, "CloneBackward0", inputs(self), saving_nothing(),
           [](Backward& b) { b.grad(0) = b.grad_output(); });
  }
  return out;
}

Tensor contiguous(const Tensor& self, MemoryFormat) {
  return self.is_contiguous() ? self : self.clone(MemoryFormat::Contiguous);
}

Tensor& fill_(Tensor& self, const Scalar& value) {
  check_defined("fill_", self, "self");
  begin_inplace("fill_", self, /*may_overlap=*/true);
  fill_values(self, value_to_fill(value, self.scalar_type(), self.numel()));
  finish_write(self);
  if (recording(self)) {
    record_inplace(self, "FillBackward0", inputs(self), saving_nothing(),
                   [](Backward& b) { b.grad(0) = zeros_like(b.grad_output()); });
  }
  return self;
}

Tensor& fill_(Tensor& self, const Tensor& value) {
  TAPER_CHECK(value.dim() == 0, "fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  return self.copy_(value);
}

Tensor& zero_(Tensor& self) { return self.fill_(0); }

}  // namespace ops

namespace {

Tensor to_impl(const Tensor& self, Device device, ScalarType dtype, bool copy) {
  ops::check_defined("to", self, "self");
  if (self.device() == device && self.scalar_type() == dtype) return copy ? self.clone() : self;
  // Strides of a dense tensor are kept, as in PyTorch.
  const bool dense = is_non_overlapping_and_dense(self.sizes(), self.strides());
  const TensorOptions options = TensorOptions(dtype).device(device);
  const Tensor out = dense ? empty_strided(self.sizes(), self.strides(), options)
                           : ops::new_result(self.sizes(), dtype, device, "to");
  ops::copy_values(out, self);
  if (is_floating_point(dtype) && autograd::recording(self)) {
    autograd::record(out, "ToCopyBackward0", autograd::inputs(self), autograd::saving_nothing(),
                     [](autograd::Backward& b) { b.grad(0) = b.grad_output(); });
  }
  return out;
}

}  // namespace

Tensor Tensor::to(const TensorOptions& options, bool, bool copy) const {
  const Tensor out = to_impl(*this, options.device_opt().value_or(device()),
                             options.dtype_opt().value_or(scalar_type()), copy);
  return options.pinned_memory() ? out.pin_memory() : out;
}
Tensor Tensor::to(ScalarType dtype, bool, bool copy) const {
  return to_impl(*this, device(), dtype, copy);
}
Tensor Tensor::to(Device device, bool, bool copy) const {
  return to_impl(*this, device, scalar_type(), copy);
}
Tensor Tensor::to(Device device, ScalarType dtype, bool, bool copy) const {
  return to_impl(*this, device, dtype, copy);
}
Tensor Tensor::to(const Tensor& other, bool, bool copy) const {
  return to_impl(*this, other.device(), other.scalar_type(), copy);
}

Tensor Tensor::pin_memory() const {
  detail::fail<Error>(
      "pin_memory: Cannot access accelerator device when none is available. Pinned memory "
      "serves copies to a CUDA device, and this version of Taper has none.");
}

Tensor& Tensor::operator=(const Tensor& other) && {
  copy_(other);
  return *this;
}
Tensor& Tensor::operator=(Tensor&& other) && {
  copy_(other);
  return *this;
}
Tensor& Tensor::operator=(const Scalar& value) && {
  fill_(value);
  return *this;
}

}  // namespace taper
