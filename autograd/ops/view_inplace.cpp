// Views in place: self itself gets the new geometry.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

// A view of self takes self's place, its history included.
Tensor& become(const char* op, Tensor& self, const Tensor& view) {
  TAPER_CHECK(!self.is_leaf() || !self.requires_grad() || !autograd::grad_enabled(), op,
              ": a leaf Variable that requires grad is being used in an in-place operation.");
  TAPER_CHECK(!self.is_view(), op,
              ": changing the shape of a view in place is not supported. Use the "
              "out-of-place form.");
  TensorImpl &to = self.impl(), &from = view.impl();
  to.set_geometry(from.sizes, from.strides);
  if (from.grad_fn) {
    autograd::Node* old = to.grad_fn;
    to.grad_fn = from.grad_fn;
    to.output_nr = from.output_nr;
    from.grad_fn = nullptr;
    if (old) autograd::release(old);
  }
  ++to.version();
  return self;
}

}  // namespace

Tensor& transpose_(Tensor& self, int64_t dim0, int64_t dim1) {
  return become("transpose_", self, self.transpose(dim0, dim1));
}
Tensor& t_(Tensor& self) { return become("t_", self, self.t()); }
Tensor& unsqueeze_(Tensor& self, int64_t dim) {
  return become("unsqueeze_", self, self.unsqueeze(dim));
}
Tensor& squeeze_(Tensor& self) { return become("squeeze_", self, self.squeeze()); }
Tensor& squeeze_(Tensor& self, int64_t dim) { return become("squeeze_", self, self.squeeze(dim)); }

// Keeps the elements that come first in memory; those that are new are undefined.
Tensor& resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat>) {
  check_defined("resize_", self, "self");
  TAPER_CHECK(!self.requires_grad(), "cannot resize variables that require grad");
  TensorImpl& impl = self.impl();
  const auto count =
      static_cast<int64_t>(checked_nbytes(size, impl.dtype, "resize_") / element_size(impl.dtype));
  const int64_t have =
      static_cast<int64_t>(impl.storage->nbytes / element_size(impl.dtype)) - impl.offset;
  if (count > have) {
    const Tensor grown = new_result(count, impl.dtype, self.device(), "resize_");
    copy_values(make_view(grown, have, 1, 0), make_view(self, have, 1, impl.offset));
    impl.storage = grown.impl().storage;
    impl.offset = 0;
  }
  impl.set_contiguous(size, "resize_");
  finish_write(self);
  return self;
}

}  // namespace taper::ops
