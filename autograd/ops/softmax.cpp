// Softmax and its logarithm along one dimension.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

Tensor softmax_impl(const char* name, const Tensor& self, int64_t dim, bool log,
                    std::optional<ScalarType> dtype) {
  check_defined(name, self, "self");
  const Tensor input = dtype ? cast(self, *dtype) : self;
  const int64_t axis = wrap_dim(dim, input.dim());
  // No elements, nothing to compute: PyTorch takes any dtype then.
  if (input.numel() == 0 && !input.is_floating_point()) return new_result_like(input);
  check_floating(name, input);
  const Tensor dense = input.detach().contiguous();
  const kernels::SoftmaxArgs args{
      dense.scalar_type(),
      kernels::make_axis_plan(static_cast<int>(dense.dim()), dense.sizes().data(),
                              static_cast<int>(axis)),
      log};
  const Tensor out = new_result_like(dense, name);
  check(kernels_of(out).softmax_forward(out.data_ptr(), dense.data_ptr(), args, stream_of(out)),
        name);
  if (recording(input)) {
    record(out, log ? "LogSoftmaxBackward0" : "SoftmaxBackward0", inputs(input), saving(out),
           [args, axis](Backward& b) {
             const Tensor &g = b.grad_output(), y = b.saved(0);
             if (autograd::grad_enabled()) {
               b.grad(0) =
                   args.log ? g - y.exp() * g.sum(axis, true) : y * (g - (g * y).sum(axis, true));
               return;
             }
             const Tensor grad = g.contiguous(), result = new_result_like(y);
             check(kernels_of(y).softmax_backward(result.data_ptr(), grad.data_ptr(), y.data_ptr(),
                                                  args, stream_of(y)),
                   "softmax");
             b.grad(0) = result;
           });
  }
  return out;
}

}  // namespace

Tensor softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return softmax_impl("softmax", self, dim, false, dtype);
}
Tensor log_softmax(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  return softmax_impl("log_softmax", self, dim, true, dtype);
}

}  // namespace taper::ops
