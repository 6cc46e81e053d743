// Copies, casts, fills, and moving between devices.

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/op.h"
#include "taper/core/cuda_stream.h"
#include "taper/kernels/device_module.h"

namespace taper {

namespace ops {

// Bytes are all that goes from one device to another: what has to be cast or put in order is so on
// the side where it is smaller or first.
void copy_across(const Tensor& out, const Tensor& in, bool non_blocking) {
  const NoGradGuard quiet;
  const Tensor source = in.detach();
  const bool as_it_is = source.sizes().equals(out.sizes()) &&
                        source.strides().equals(out.strides()) &&
                        is_non_overlapping_and_dense(out.sizes(), out.strides());
  const bool in_bytes = as_it_is && source.scalar_type() == out.scalar_type();
  if (!in_bytes) {
    const bool cast_first = source.element_size() > out.element_size();
    const ScalarType dtype = cast_first ? out.scalar_type() : source.scalar_type();
    // What lies as `out` does needs no second copy there. What is broadcast is so after its
    // journey.
    const bool as_out = source.sizes().equals(out.sizes()) &&
                        is_non_overlapping_and_dense(out.sizes(), out.strides());
    const auto like_out = [&](Device device) {
      const Tensor made = new_result(source.sizes(), dtype, device);
      if (as_out) made.impl().set_geometry(out.sizes(), out.strides());
      return made;
    };
    const bool is_packed = as_out ? as_it_is : source.is_contiguous();
    const Tensor packed =
        is_packed && dtype == source.scalar_type() ? source : like_out(source.device());
    if (!packed.is_same(source)) copy_values(packed, source);
    if (as_out && dtype == out.scalar_type()) return copy_across(out, packed, non_blocking);
    const Tensor arrived = like_out(out.device());
    copy_across(arrived, packed, non_blocking);
    return copy_values(out, arrived);
  }
  if (out.numel() == 0) return;
  const auto index_of = [](const Tensor& tensor) {
    return tensor.is_cuda() ? int(tensor.device().index()) : kernels::kHost;
  };
  const Tensor& on_device = out.is_cuda() ? out : source;
  const Tensor& other = source.is_cuda() ? source : out;
  kernels::check_runtime(kernels::cuda_module("copy_").runtime.copy(
                             out.data_ptr(), index_of(out), source.data_ptr(), index_of(source),
                             static_cast<size_t>(out.numel() * out.element_size()),
                             stream_of(on_device), stream_of(other), non_blocking),
                         "copy_", on_device.device());
}

Tensor& copy_(Tensor& self, const Tensor& src, bool non_blocking) {
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
  copy_values(self, overlaps ? src.detach().clone() : src, non_blocking);
  finish_write(self);
  if (recording(self, src) && is_floating_point(self.scalar_type())) {
    record_inplace(self, "CopyBackwards", inputs(self, src), saving_nothing(),
                   [from = src.device()](Backward& b) {
                     if (b.wants(0)) b.grad(0) = zeros_like(b.grad_output());
                     if (b.wants(1)) b.grad(1) = b.grad_output().to(from);
                   });
  }
  return self;
}

Tensor clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  check_defined("clone", self, "self");
  const Tensor out = new_result_like(self, "clone");
  if (memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve) {
    keep_order(out, self);
  }
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

Tensor to_impl(const Tensor& self, Device wanted, ScalarType dtype, bool non_blocking, bool copy,
               std::optional<MemoryFormat> format) {
  ops::check_defined("to", self, "self");
  const Device device = detail::resolve(wanted);
  if (self.device() == device && self.scalar_type() == dtype) {
    return copy ? self.clone(format) : self;
  }
  const Tensor out = ops::new_result(self.sizes(), dtype, device, "to");
  if (format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve) {
    ops::keep_order(out, self);
  }
  // To the host without waiting, the memory has to be pinned.
  ops::copy_values(out, self, non_blocking);
  if (is_floating_point(dtype) && autograd::recording(self)) {
    autograd::record(
        out, "ToCopyBackward0", autograd::inputs(self), autograd::saving_nothing(),
        [from = self.device()](autograd::Backward& b) { b.grad(0) = b.grad_output().to(from); });
  }
  return out;
}

}  // namespace

Tensor Tensor::to(const TensorOptions& options, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  TAPER_CHECK(!options.requires_grad(),
              "to: options with requires_grad(true) are not taken; call requires_grad_() on the "
              "result");
  const Tensor out =
      to_impl(*this, options.device_opt().value_or(device()),
              options.dtype_opt().value_or(scalar_type()), non_blocking, copy, memory_format);
  return options.pinned_memory() ? out.pin_memory() : out;
}
Tensor Tensor::to(ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  return to_impl(*this, device(), dtype, non_blocking, copy, memory_format);
}
Tensor Tensor::to(Device device, ScalarType dtype, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  return to_impl(*this, device, dtype, non_blocking, copy, memory_format);
}
Tensor Tensor::to(const Tensor& other, bool non_blocking, bool copy,
                  std::optional<MemoryFormat> memory_format) const {
  return to_impl(*this, other.device(), other.scalar_type(), non_blocking, copy, memory_format);
}

Tensor Tensor::pin_memory() const {
  ops::check_defined("pin_memory", *this, "self");
  if (is_pinned()) return *this;
  TAPER_CHECK(is_cpu(), "cannot pin '", toString(), "' only dense CPU tensors can be pinned");
  std::string why;
  TAPER_CHECK(kernels::find_cuda_module(&why),
              "pin_memory: Cannot access accelerator device when none is available. Pinned memory "
              "serves copies to a CUDA device, and there is none: ",
              why);
  const NoGradGuard quiet;
  const Tensor out = ops::new_pinned(sizes(), scalar_type());
  ops::keep_order(out, *this);
  ops::copy_values(out, detach());
  return out;
}

void Tensor::record_stream(const cuda::Stream& stream) const {
  ops::check_defined("record_stream", *this, "self");
  TAPER_CHECK(is_cuda(), "record_stream: expected a CUDA tensor, got one on ", device());
  kernels::check_runtime(
      kernels::cuda_module("record_stream")
          .runtime.record_stream(impl().storage->data,
                                 kernels::Stream{nullptr, stream.stream(), stream.device_index()}),
      "record_stream", device());
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
