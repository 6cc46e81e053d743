#pragma once

#include "taper/autograd/node.h"
#include "taper/autograd/ops/ops.h"
#include "taper/core/factories.h"
#include "taper/core/shape.h"
#include "taper/kernels/backend.h"
#include "taper/kernels/kernels.h"

// What every op is written with: making results, checks, one call into the contract. An op reads,
// from top to bottom: check, allocate, call the kernel, record the backward.

namespace taper::ops {

using autograd::Backward;
using autograd::inputs;
using autograd::record;
using autograd::record_all;
using autograd::record_inplace;
using autograd::record_view;
using autograd::recording;
using autograd::recording_any;
using autograd::saving;
using autograd::saving_nothing;
using autograd::when;
using kernels::BinaryOp;
using kernels::KernelTable;
using kernels::ReduceOp;
using kernels::TernaryOp;
using kernels::UnaryOp;
using kernels::Value;

// ---- Results.

/// A new tensor, row-major, its values undefined. Throws for `op` where its size would overflow.
Tensor new_result(IntArrayRef sizes, ScalarType dtype, Device device, const char* op = "empty");
inline Tensor new_result_like(const Tensor& self, const char* op = "empty_like") {
  return new_result(self.sizes(), self.scalar_type(), self.device(), op);
}

/// Where an op puts its result: a new tensor, `self` (in place), or a tensor that the caller gave
/// (out=).
class Into {
 public:
  Into() = default;
  static Into inplace(Tensor& self) { return Into(&self, true); }
  static Into out(Tensor& out) { return Into(&out, false); }

  bool is_fresh() const { return target_ == nullptr; }
  bool is_inplace() const { return target_ && inplace_; }
  bool is_out() const { return target_ && !inplace_; }
  Tensor& target() const { return *target_; }

 private:
  Into(Tensor* target, bool inplace) : target_(target), inplace_(inplace) {}

  Tensor* target_ = nullptr;
  bool inplace_ = false;
};

/// Calls run(result) with a tensor of the given shape and dtype, and brings the result to where it
/// belongs: a target of another dtype gets a cast copy. In-place targets are checked; the version
/// of a target is raised once all has gone well.
template <class Run>
Tensor compute(const Into& into, const char* op, IntArrayRef sizes, ScalarType dtype, Device device,
               const Run& run);

/// Records on a fresh or an in-place result (in-place: `self` has to be the first input).
template <class F>
void record_into(const Into& into, const Tensor& out, const char* name, autograd::Refs inputs,
                 autograd::Refs saved, F&& backward) {
  if (into.is_inplace()) {
    record_inplace(out, name, inputs, saved, std::forward<F>(backward));
  } else {
    record(out, name, inputs, saved, std::forward<F>(backward));
  }
}

/// An operand as it is to be saved by an op that may be about to overwrite it: a recorded copy if
/// so, else the operand itself (its handle is not copied: that takes two atomic operations).
class BeforeWrite {
 public:
  BeforeWrite(const Into& into, bool is_saved, const Tensor& operand) : tensor_(&operand) {
    if (TAPER_UNLIKELY(is_saved && into.is_inplace() && into.target().is_alias_of(operand))) {
      copy_ = operand.clone();
      tensor_ = &copy_;
    }
  }
  BeforeWrite(const BeforeWrite&) = delete;
  BeforeWrite& operator=(const BeforeWrite&) = delete;

  const Tensor& operator*() const { return *tensor_; }

 private:
  const Tensor* tensor_;
  Tensor copy_;
};

/// To be called before `self` is written: leaf, view and overlap checks. `may_overlap`: all
/// positions get the same value, so that an expanded tensor will do.
void begin_inplace(const char* op, const Tensor& self, bool may_overlap = false);
/// To be called when it has been written: raises the version. Not before, since an op that throws
/// (an index out of range) has changed nothing, and leaves earlier graphs as they were.
inline void finish_write(const Tensor& self) { ++self.impl().version(); }
/// For `out=` forms: resizes `out` to `sizes`, and refuses to take part in the tape.
void begin_out(const char* op, Tensor& out, IntArrayRef sizes, ScalarType dtype, Device device);
/// Throws when one of the inputs requires grad and is being recorded.
void check_no_grad_out(const char* op, bool is_recording);

/// Uninitialised, in pinned host memory.
Tensor new_pinned(IntArrayRef sizes, ScalarType dtype);
/// A view of `self` with other sizes and strides (in elements) and an offset from the storage's
/// start. Not yet recorded.
Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t offset);

/// A number as a zero-dimensional tensor that takes part in promotion as a number.
Tensor wrapped_number(const Scalar& value, Device device = kCPU);

// ---- Checks. Messages name the op, the expectation and what came.

void check_defined(const char* op, const Tensor& tensor, const char* argument);
void check_same_device(const char* op, Device a, Device b);
inline void check_same_device(const char* op, const Tensor& a, const Tensor& b) {
  check_same_device(op, a.device(), b.device());
}
void check_floating(const char* op, const Tensor& self);
void check_dtype(const char* op, const Tensor& tensor, ScalarType expected, const char* argument);
void check_same_dtype(const char* op, const Tensor& a, const Tensor& b);
void check_dim(const char* op, const Tensor& tensor, int64_t dim, const char* argument);
/// An index tensor: int64 or int32; returned as int64.
Tensor check_index(const char* op, const Tensor& index);

// ---- Calls into the contract.

inline const KernelTable& kernels_of(const Tensor& tensor) {
  return kernels::kernels_for(tensor.device());
}
inline kernels::Stream stream_of(const Tensor& tensor) {
  return kernels::stream_for(tensor.device());
}
/// For a call that reads indices; see Stream::op.
inline kernels::Stream stream_of(const Tensor& tensor, const char* op) {
  kernels::Stream stream = stream_of(tensor);
  stream.op = op;
  return stream;
}
using kernels::check;

struct UnaryParameters {
  Value p[3] = {};
};

/// out = op(self) elementwise. `dtype` is that in which it computes; self is cast to it where
/// needed.
Tensor unary(const char* name, UnaryOp op, const Tensor& self, ScalarType dtype,
             ScalarType out_dtype, const Into& into = {}, const UnaryParameters& parameters = {});
/// out = op(a, b) over the broadcast shape, in `dtype`. One of the operands may be a number, or a
/// zero-dimensional CPU tensor beside one on another device.
Tensor binary(const char* name, BinaryOp op, const Tensor& a, const Tensor& b, ScalarType dtype,
              ScalarType out_dtype, const Into& into = {}, Value alpha = Value(1),
              const UnaryParameters& parameters = {});
Tensor ternary(const char* name, TernaryOp op, const Tensor& a, const Tensor& b, const Tensor& c,
               ScalarType dtype, const Into& into = {}, Value p0 = Value(1));
/// A gradient that has a kernel of its own: gradient * d(x). `composed` says the same with public
/// ops; it is used while the backward pass itself is recorded, so that it can be differentiated
/// again.
template <class Composed>
Tensor fused_gradient(BinaryOp op, const Tensor& gradient, const Tensor& x,
                      const Composed& composed, const UnaryParameters& parameters = {}) {
  if (autograd::grad_enabled()) return composed();
  return binary("backward", op, gradient, x, x.scalar_type(), x.scalar_type(), {}, Value(1),
                parameters);
}
/// out[...] = cast(in[...]), in broadcast to out; from any device to any. `non_blocking`: the host
/// does not wait where its memory is pinned.
void copy_values(const Tensor& out, const Tensor& in, bool non_blocking = false);
void copy_across(const Tensor& out, const Tensor& in, bool non_blocking);  ///< between devices
/// Gives a new result, of self's shape, self's order of dimensions.
inline void keep_order(const Tensor& out, const Tensor& self) {
  if (self.strides().equals(out.strides())) return;
  out.impl().set_geometry(self.sizes(), preserved_strides(self.sizes(), self.strides()));
}
void fill_values(const Tensor& out, Value value);
/// The number as the kernels take it. With a dtype: throws where it would overflow there.
Value value_of(const Scalar& value);
inline Value value_of(const Scalar& value, ScalarType dtype) {
  value.check_fits(dtype);
  return value_of(value);
}

/// The number for a tensor that is filled with it. PyTorch lets a single half overflow to infinity.
inline Value value_to_fill(const Scalar& value, ScalarType dtype, int64_t numel) {
  return numel == 1 && is_reduced_floating_point(dtype) ? value_of(value) : value_of(value, dtype);
}

/// The promoted dtype of several tensors.
ScalarType result_type_of(TensorList tensors);
/// The dtype for an op whose result is not whole: floating as it is, integers become the default
/// dtype.
ScalarType to_floating(ScalarType dtype);
inline Tensor cast(const Tensor& self, ScalarType dtype) {
  return self.scalar_type() == dtype ? self : self.to(dtype);
}

/// The smallest and the largest finite value of a floating dtype.
std::pair<double, double> finite_range(ScalarType dtype);

/// A reduction over the dimensions in `mask` (bit d: dimension d), see dim_set().
Dims reduced_sizes(const Tensor& self, uint32_t mask, bool keepdim);
Tensor reduce(const char* name, ReduceOp op, const Tensor& self, uint32_t mask, bool keepdim,
              ScalarType out_dtype, Value p = {});
/// A reduced tensor with its dimensions of size 1 back in place, to broadcast against the input.
Tensor restore_dims(const Tensor& reduced, IntArrayRef input_sizes, uint32_t mask, bool keepdim);

// ---- Details.

Tensor begin_target(const Into& into, const char* op, IntArrayRef sizes, ScalarType dtype,
                    Device device);

template <class Run>
Tensor compute(const Into& into, const char* op, IntArrayRef sizes, ScalarType dtype, Device device,
               const Run& run) {
  if (TAPER_LIKELY(into.is_fresh())) {
    Tensor out = new_result(sizes, dtype, device, op);
    run(out);
    return out;
  }
  Tensor target = begin_target(into, op, sizes, dtype, device);
  if (target.scalar_type() == dtype) {
    run(target);
  } else {
    Tensor result = new_result(sizes, dtype, device, op);
    run(result);
    copy_values(target, result);
  }
  finish_write(target);
  return target;
}

}  // namespace taper::ops
