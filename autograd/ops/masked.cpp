// What a mask selects, and where a tensor is not zero.

#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

int64_t count_of(const char* op, const Tensor& dense) {
  int64_t count = 0;
  check(kernels_of(dense).count_nonzero(&count, dense.data_ptr(), dense.scalar_type(),
                                        dense.numel(), stream_of(dense)),
        op, dense.device());
  return count;
}

void check_mask(const char* op, const Tensor& self, const Tensor& mask) {
  check_defined(op, self, "self");
  check_defined(op, mask, "mask");
  check_same_device(op, self, mask);
  TAPER_CHECK(mask.scalar_type() == kBool, op, ": expected BoolTensor for mask, but got ",
              mask.scalar_type());
}

}  // namespace

Tensor masked_select(const Tensor& self, const Tensor& mask) {
  check_mask("masked_select", self, mask);
  const Dims shape = infer_size(self.sizes(), mask.sizes(), "masked_select");
  const Tensor in = row_major(self.detach().expand(shape));
  const Tensor where = row_major(mask.detach().expand(shape));
  const Tensor out =
      new_result({count_of("masked_select", where)}, self.scalar_type(), self.device());
  check(kernels_of(in).masked_select(out.data_ptr(), in.data_ptr(), where.data_ptr<bool>(),
                                     in.scalar_type(), in.numel(), stream_of(in)),
        "masked_select");
  if (recording(self)) {
    record(out, "MaskedSelectBackward0", inputs(self), saving(mask), [shape](Backward& b) {
      const Tensor& g = b.grad_output();
      b.grad(0) = zeros(shape, g.options()).masked_scatter_(b.saved(0), g);
    });
  }
  return out;
}

Tensor& masked_scatter_(Tensor& self, const Tensor& mask, const Tensor& source) {
  check_mask("masked_scatter_", self, mask);
  check_defined("masked_scatter_", source, "source");
  check_same_device("masked_scatter_", self, source);
  TAPER_CHECK(self.scalar_type() == source.scalar_type(),
              "masked_scatter_: expected self and source to have same dtypes but got ",
              self.scalar_type(), " and ", source.scalar_type());
  TAPER_CHECK(is_expandable_to(mask.sizes(), self.sizes()), "masked_scatter_: the mask's shape ",
              mask.sizes(), " does not broadcast to that of self, ", self.sizes());
  const Tensor where = row_major(mask.detach().expand(self.sizes()));
  TAPER_CHECK(
      count_of("masked_scatter_", where) <= source.numel(),
      "masked_scatter_: expected self and "
      "source: Number of elements of source < number of ones in mask, with source of shape ",
      source.sizes());
  const Tensor from = source.is_alias_of(self) ? source.detach().clone(MemoryFormat::Contiguous)
                                               : row_major(source);
  begin_inplace("masked_scatter_", self);
  write_row_major(self, [&](const Tensor& dense) {
    check(kernels_of(self).masked_scatter(dense.data_ptr(), where.data_ptr<bool>(), from.data_ptr(),
                                          self.scalar_type(), self.numel(), stream_of(self)),
          "masked_scatter_");
  });
  finish_write(self);
  if (recording(self, source)) {
    record_inplace(self, "MaskedScatterBackward0", inputs(self, source), saving(mask),
                   [sizes = Dims(source.sizes()), count = source.numel()](Backward& b) {
                     const Tensor &g = b.grad_output(), mask = b.saved(0);
                     if (b.wants(0)) b.grad(0) = g.masked_fill(mask, 0);
                     if (b.wants(1)) {
                       // Elements of source that were not needed have no gradient.
                       const Tensor used = g.masked_select(mask);
                       const Tensor rest = zeros({count - used.numel()}, g.options());
                       b.grad(1) = taper::cat({used, rest}).reshape(sizes);
                     }
                   });
  }
  return self;
}

Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) {
  const Dims shape = infer_size(self.sizes(), mask.sizes(), "masked_scatter");
  return self.expand(shape).clone(MemoryFormat::Contiguous).masked_scatter_(mask, source);
}

// ---- Coordinates of what is not zero, one row each, in row-major order.

Tensor nonzero(const Tensor& self) {
  check_defined("nonzero", self, "self");
  const Tensor in = row_major(self);
  const Tensor out = new_result({count_of("nonzero", in), self.dim()}, kLong, self.device());
  check(kernels_of(in).nonzero(out.data_ptr<int64_t>(), in.data_ptr(), in.scalar_type(),
                               static_cast<int>(in.dim()), in.sizes().data(), stream_of(in)),
        "nonzero");
  return out;
}

Tensor argwhere(const Tensor& self) { return self.nonzero(); }

std::vector<Tensor> where(const Tensor& condition) {
  check_defined("where", condition, "condition");
  return (condition.dim() == 0 ? condition.unsqueeze(0) : condition).nonzero().unbind(1);
}

}  // namespace taper::ops
