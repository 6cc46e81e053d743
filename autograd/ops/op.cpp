#include "taper/autograd/ops/op.h"

#include <limits>

#include "taper/core/thread_state.h"

namespace taper::ops {

// ---- Results.

namespace {

// A row-major tensor over what allocate(bytes) gives.
template <class Allocate>
TAPER_INLINE Tensor new_dense(IntArrayRef sizes, ScalarType dtype, const char* op,
                              const Allocate& allocate) {
  TensorImplRef impl(new TensorImpl);
  impl->dtype = dtype;
  impl->set_contiguous(sizes, op);
  impl->storage = allocate(static_cast<size_t>(impl->numel) * element_size(dtype));
  impl->is_inference = (detail::thread_state.mode & detail::kModeInference) != 0;
  return Tensor(std::move(impl));
}

}  // namespace

Tensor new_result(IntArrayRef sizes, ScalarType dtype, Device device, const char* op) {
  return new_dense(sizes, dtype, op,
                   [device](size_t bytes) { return allocate_storage(bytes, device); });
}

Tensor new_pinned(IntArrayRef sizes, ScalarType dtype) {
  return new_dense(sizes, dtype, "pin_memory", allocate_pinned_storage);
}

Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  TensorImpl& from = self.impl();
  TensorImplRef base;
  if (!from.is_inference) base = TensorImplRef::share(from.base ? from.base : &from);
  TensorImplRef view = autograd::alias_impl(from, sizes, strides, offset);
  if (base) {
    view->base = base.detach();
    view->view_version = view->version();
    view->view_in_no_grad = from.view_in_no_grad || !autograd::grad_enabled();
    view->view_of_many = from.view_of_many;
  }
  return Tensor(std::move(view));
}

Tensor wrapped_number(const Scalar& value, Device device) {
  Tensor out = new_result({}, value.type(), device);
  TensorImpl& impl = out.impl();
  impl.is_wrapped_number = true;
  if (device.is_cpu()) {
    switch (value.type()) {
      case kBool:
        *static_cast<bool*>(impl.data()) = value.toBool();
        break;
      case kLong:
        *static_cast<int64_t*>(impl.data()) = value.toLong();
        break;
      default:
        *static_cast<double*>(impl.data()) = value.toDouble();
        break;
    }
  } else {
    fill_values(out, value_of(value));
  }
  return out;
}

namespace {

// "SplitBackward0" -> "Split", as PyTorch names a view in this message.
[[noreturn]] TAPER_COLD void fail_view_of_many(const char* op, const Tensor& view) {
  const TensorImpl& impl = view.impl();
  std::string name = impl.grad_fn ? impl.grad_fn->name : "a view";
  name = name.substr(0, name.find("Backward"));
  taper::detail::fail<Error>(
      op, ": Output ", impl.output_nr, " of ", name,
      " is a view and is being modified inplace. This view is the output of a function that "
      "returns multiple views. Such functions do not allow the output views to be modified "
      "inplace. You should replace the inplace operation by an out-of-place one.");
}

}  // namespace

void begin_inplace(const char* op, const Tensor& self, bool may_overlap) {
  TensorImpl& impl = self.impl();
  if (autograd::grad_enabled()) {
    TAPER_CHECK(
        !impl.requires_grad, op,
        ": a leaf Variable that requires grad is being used in an in-place operation. Use a "
        "NoGradGuard, or an out-of-place op.");
    if (impl.base) {
      const bool tracked = impl.base->requires_grad || impl.base->grad_fn;
      if (impl.view_of_many && tracked && !impl.view_in_no_grad) fail_view_of_many(op, self);
      TAPER_CHECK(!impl.base->requires_grad, op,
                  ": a view of a leaf Variable that requires grad is being used in an in-place "
                  "operation. Use a NoGradGuard, or an out-of-place op.");
      TAPER_CHECK(
          !(impl.view_in_no_grad && impl.base->grad_fn), op,
          ": A view was created in no_grad mode and is being modified inplace with grad mode "
          "enabled. Either move the view or the change into the other mode.");
    }
    TAPER_CHECK(
        !impl.is_inference || detail::thread_state.mode & detail::kModeInference, op,
        ": Inplace update to inference tensor outside InferenceMode is not allowed. You can "
        "make a clone to get a normal tensor before doing inplace update.");
  }
  if (!may_overlap) check_no_internal_overlap(impl);
}

void check_no_grad_out(const char* op, bool is_recording) {
  TAPER_CHECK(
      !is_recording, op,
      "(): functions with out=... arguments don't support automatic differentiation, but one "
      "of the arguments requires grad.");
}

void begin_out(const char* op, Tensor& out, IntArrayRef sizes, ScalarType dtype, Device device) {
  if (!out.defined()) {
    out = new_result(sizes, dtype, device);
    return;
  }
  TAPER_CHECK(out.device() == device, op, ": Expected out tensor to be on ", device,
              ", but it is on ", out.device());
  TAPER_CHECK(can_cast(dtype, out.scalar_type()), op, ": result type ", dtype,
              " can't be cast to the desired output type ", out.scalar_type());
  if (!out.sizes().equals(sizes)) {
    TensorImpl& impl = out.impl();
    const size_t bytes = checked_nbytes(sizes, impl.dtype, op);
    if (bytes > impl.storage->nbytes || impl.offset != 0) {
      impl.storage = allocate_storage(bytes, device);
      impl.offset = 0;
    }
    impl.set_contiguous(sizes, op);
  }
  check_no_internal_overlap(out.impl());
}

Tensor& move_into(const char* op, Tensor& out, const Tensor& result) {
  check_no_grad_out(op, recording(result));
  begin_out(op, out, result.sizes(), result.scalar_type(), result.device());
  copy_values(out, result);
  finish_write(out);
  return out;
}

std::tuple<Tensor&, Tensor&> move_into(const char* op, Tensor& first, Tensor& second,
                                       const TensorPair& results) {
  const auto& [a, b] = results;
  check_no_grad_out(op, recording(a) || recording(b));
  begin_out(op, first, a.sizes(), a.scalar_type(), a.device());
  begin_out(op, second, b.sizes(), b.scalar_type(), b.device());
  copy_values(first, a);
  copy_values(second, b);
  finish_write(first);
  finish_write(second);
  return {first, second};
}

Tensor begin_target(const Into& into, const char* op, IntArrayRef sizes, ScalarType dtype,
                    Device device) {
  Tensor& target = into.target();
  if (into.is_out()) {
    begin_out(op, target, sizes, dtype, device);
    return target;
  }
  TAPER_CHECK(target.sizes().equals(sizes), op, ": output with shape ", target.sizes(),
              " doesn't match the broadcast shape ", sizes);
  check_same_device(op, target.device(), device);
  TAPER_CHECK(can_cast(dtype, target.scalar_type()), op, ": result type ", dtype,
              " can't be cast to the desired output type ", target.scalar_type());
  begin_inplace(op, target);
  return target;
}

// ---- Checks.

void check_defined(const char* op, const Tensor& tensor, const char* argument) {
  TAPER_CHECK(
      tensor.defined(), op,
      ": Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument '",
      argument, "'");
}

void check_same_device(const char* op, Device a, Device b) {
  TAPER_CHECK(a == b,
              "Expected all tensors to be on the same device, but found at least two devices, ", a,
              " and ", b, "! (when checking arguments of ", op, ")");
}

void check_floating(const char* op, const Tensor& self) {
  TAPER_CHECK_TYPE(self.is_floating_point(), op, ": expected a floating point tensor, but got ",
                   self.scalar_type());
}

void check_dtype(const char* op, const Tensor& tensor, ScalarType expected, const char* argument) {
  TAPER_CHECK_TYPE(tensor.scalar_type() == expected, op, ": expected '", argument,
                   "' to have scalar type ", expected, " but found ", tensor.scalar_type());
}

void check_same_dtype(const char* op, const Tensor& a, const Tensor& b) {
  TAPER_CHECK_TYPE(a.scalar_type() == b.scalar_type(), op,
                   ": expected both arguments to have the same dtype, but got ", a.scalar_type(),
                   " and ", b.scalar_type());
}

void check_dim(const char* op, const Tensor& tensor, int64_t dim, const char* argument) {
  TAPER_CHECK(tensor.dim() == dim, op, ": expected '", argument, "' to have ", dim,
              " dimensions, but got ", tensor.dim(), " (shape ", tensor.sizes(), ")");
}

Tensor check_index(const char* op, const Tensor& index) {
  TAPER_CHECK_TYPE(index.scalar_type() == kLong || index.scalar_type() == kInt, op,
                   ": expected index to have dtype int32 or int64, but got ", index.scalar_type());
  return cast(index, kLong);
}

ScalarType to_floating(ScalarType dtype) {
  return is_floating_point(dtype) ? dtype : get_default_dtype_as_scalartype();
}

std::pair<double, double> finite_range(ScalarType dtype) {
  const double highest = dtype == kHalf       ? 65504.0
                         : dtype == kBFloat16 ? 0x1.FEp127
                         : dtype == kFloat ? static_cast<double>(std::numeric_limits<float>::max())
                                           : std::numeric_limits<double>::max();
  return {-highest, highest};
}

Value value_of(const Scalar& value) {
  return value.isFloatingPoint() ? Value(value.toDouble()) : Value(value.toLong());
}

}  // namespace taper::ops
