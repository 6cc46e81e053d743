// The walk from tensors to an elementwise kernel: dtype, broadcast shape, plan, call.

#include <algorithm>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

// Strides of `tensor` over a shape that it broadcasts to.
void broadcast_strides(const Tensor& tensor, int rank, const int64_t* sizes, int64_t* strides) {
  const TensorImpl& impl = tensor.impl();
  const int lead = rank - impl.dim();
  for (int d = 0; d < rank; ++d) {
    const bool stretched = d < lead || (impl.sizes[d - lead] == 1 && sizes[d] != 1);
    strides[d] = stretched ? 0 : impl.strides[d - lead];
  }
}

template <int N>
void fill_plan(kernels::ElementwisePlan<N>& plan, const Tensor& out,
               const Tensor* const (&operands)[N]) {
  const TensorImpl& impl = out.impl();
  bool contiguous = impl.is_contiguous;
  for (const Tensor* operand : operands) {
    contiguous =
        contiguous &&
        (!operand || (operand->impl().is_contiguous && operand->impl().numel == impl.numel));
  }
  if (TAPER_LIKELY(contiguous)) {
    plan.numel = impl.numel;
    plan.rank = 1;
    plan.contiguous = true;
    plan.sizes[0] = impl.numel;
    for (auto& strides : plan.strides) strides[0] = 1;
    return;
  }
  const int rank = impl.dim();
  int64_t strides[N + 1][kernels::kMaxRank];
  const int64_t* pointers[N + 1];
  broadcast_strides(out, rank, impl.sizes.data(), strides[0]);
  pointers[0] = strides[0];
  for (int k = 0; k < N; ++k) {
    if (operands[k]) {
      broadcast_strides(*operands[k], rank, impl.sizes.data(), strides[k + 1]);
    } else {
      for (int d = 0; d < rank; ++d) strides[k + 1][d] = 0;
    }
    pointers[k + 1] = strides[k + 1];
  }
  kernels::make_elementwise_plan<N>(plan, rank, impl.sizes.data(), pointers);
}

// The one value of a zero-dimensional CPU tensor, in the form that kernels take.
Value number_in(const Tensor& tensor) { return value_of(tensor.item()); }

TAPER_INLINE bool is_number_operand(const Tensor& tensor, const Tensor& beside) {
  return tensor.dim() == 0 && tensor.is_cpu() &&
         (tensor.impl().is_wrapped_number || beside.dim() > 0 || !beside.is_cpu());
}

// What is about to be written may be an operand, but not overlap one in part.
TAPER_INLINE void check_overlap(const Into& into, const Tensor& operand) {
  if (TAPER_LIKELY(into.is_fresh()) || !into.target().defined()) return;
  check_no_partial_overlap(into.target().impl(), operand.impl());
}

// `self` itself where it has the dtype: a copied handle costs two atomic operations.
TAPER_INLINE const Tensor& cast_if_needed(const Tensor& self, ScalarType dtype, Tensor& copy) {
  if (TAPER_LIKELY(self.scalar_type() == dtype)) return self;
  return copy = self.to(dtype);
}

TAPER_INLINE Device common_device(const char* name, const Tensor& a, const Tensor& b) {
  if (TAPER_LIKELY(a.device() == b.device())) return a.device();
  if (b.dim() == 0 && b.is_cpu()) return a.device();
  if (a.dim() == 0 && a.is_cpu()) return b.device();
  check_same_device(name, a, b);
  return a.device();
}

}  // namespace

Tensor unary(const char* name, UnaryOp op, const Tensor& self, ScalarType dtype,
             ScalarType out_dtype, const Into& into, const UnaryParameters& parameters) {
  Tensor copy;
  const Tensor& in = cast_if_needed(self, dtype, copy);
  check_overlap(into, in);
  return compute(into, name, self.sizes(), out_dtype, self.device(), [&](Tensor& out) {
    kernels::UnaryArgs args;
    args.op = op;
    args.dtype = dtype;
    args.out_dtype = out_dtype;
    args.out = out.data_ptr();
    args.in[0] = in.data_ptr();
    args.scalar_mask = 0;
    for (int i = 0; i < 3; ++i) args.p[i] = parameters.p[i];
    fill_plan<1>(args.plan, out, {&in});
    check(kernels_of(out).unary(args, stream_of(out)), name);
  });
}

Tensor binary(const char* name, BinaryOp op, const Tensor& a, const Tensor& b, ScalarType dtype,
              ScalarType out_dtype, const Into& into, Value alpha,
              const UnaryParameters& parameters) {
  const Device device = common_device(name, a, b);
  const bool b_is_number = is_number_operand(b, a);
  const bool a_is_number = !b_is_number && is_number_operand(a, b);
  Tensor left_copy, right_copy;
  const Tensor& left = a_is_number ? a : cast_if_needed(a, dtype, left_copy);
  const Tensor& right = b_is_number ? b : cast_if_needed(b, dtype, right_copy);

  Dims shape;
  IntArrayRef sizes = a.sizes();
  if (b_is_number || a.sizes().equals(b.sizes())) {
    sizes = a.sizes();
  } else if (a_is_number) {
    sizes = b.sizes();
  } else {
    shape = infer_size(a.sizes(), b.sizes(), name);
    sizes = shape;
  }
  check_overlap(into, left);
  check_overlap(into, right);
  return compute(into, name, sizes, out_dtype, device, [&](Tensor& out) {
    kernels::BinaryArgs args;
    args.op = op;
    args.dtype = dtype;
    args.out_dtype = out_dtype;
    args.out = out.data_ptr();
    args.in[0] = left.data_ptr();
    args.in[1] = right.data_ptr();
    args.scalar_mask = a_is_number ? 1u : b_is_number ? 2u : 0u;
    if (args.scalar_mask) args.scalar = number_in(a_is_number ? a : b);
    args.alpha = alpha;
    for (int i = 0; i < 3; ++i) args.p[i] = parameters.p[i];
    fill_plan<2>(args.plan, out, {a_is_number ? nullptr : &left, b_is_number ? nullptr : &right});
    check(kernels_of(out).binary(args, stream_of(out)), name);
  });
}

Tensor ternary(const char* name, TernaryOp op, const Tensor& a, const Tensor& b, const Tensor& c,
               ScalarType dtype, const Into& into, Value p0) {
  // CPU tensors of no dimensions follow the others.
  const auto follows = [](const Tensor& tensor) { return tensor.dim() == 0 && tensor.is_cpu(); };
  const Device device = (!follows(a) ? a : !follows(b) ? b : c).device();
  const auto on_device = [&](const Tensor& tensor) {
    if (tensor.device() == device) return tensor;
    if (!follows(tensor)) check_same_device(name, device, tensor.device());
    return tensor.to(device);
  };
  const bool mask_first = op == TernaryOp::kWhere;
  const Tensor first = on_device(mask_first ? a : cast(a, dtype));
  const Tensor second = on_device(cast(b, dtype));
  const Tensor third = on_device(cast(c, dtype));
  Dims shape = infer_size(a.sizes(), b.sizes(), name);
  shape = infer_size(shape, c.sizes(), name);
  for (const Tensor* operand : {&first, &second, &third}) check_overlap(into, *operand);
  return compute(into, name, shape, dtype, device, [&](Tensor& out) {
    kernels::TernaryArgs args;
    args.op = op;
    args.dtype = dtype;
    args.out_dtype = dtype;
    args.out = out.data_ptr();
    args.in[0] = first.data_ptr();
    args.in[1] = second.data_ptr();
    args.in[2] = third.data_ptr();
    args.scalar_mask = 0;
    args.p[0] = p0;
    fill_plan<3>(args.plan, out, {&first, &second, &third});
    check(kernels_of(out).ternary(args, stream_of(out)), name);
  });
}

void copy_values(const Tensor& out, const Tensor& in, bool non_blocking) {
  if (TAPER_UNLIKELY(out.device() != in.device())) return copy_across(out, in, non_blocking);
  kernels::CopyArgs args;
  args.out_dtype = out.scalar_type();
  args.in_dtype = in.scalar_type();
  args.out = out.data_ptr();
  args.in = in.data_ptr();
  fill_plan<1>(args.plan, out, {&in});
  check(kernels_of(out).copy(args, stream_of(out)), "copy_");
}

void fill_values(const Tensor& out, Value value) {
  kernels::FillArgs args;
  args.dtype = out.scalar_type();
  args.out = out.data_ptr();
  args.value = value;
  const TensorImpl& impl = out.impl();
  const int64_t* const strides[1] = {impl.strides.data()};
  // Along an expanded dimension there is one element, which several threads are not to write.
  int64_t sizes[kernels::kMaxRank];
  for (int d = 0; d < impl.dim(); ++d) {
    sizes[d] = impl.strides[d] == 0 ? std::min<int64_t>(impl.sizes[d], 1) : impl.sizes[d];
  }
  kernels::make_elementwise_plan<0>(args.plan, impl.dim(), sizes, strides);
  check(kernels_of(out).fill(args, stream_of(out)), "fill_");
}

}  // namespace taper::ops
