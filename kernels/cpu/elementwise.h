#pragma once

#include "taper/kernels/cpu/loops.h"
#include "taper/kernels/cpu/transfer.h"

// From an op's arguments and its loop to the walk over elements; shared by unary, binary and
// ternary.

TAPER_CPU_BEGIN

// The tables of loops, by class of op (kernels/ops.h). Each is a translation unit, to compile in
// parallel.
FoundLoop find_unary_number(UnaryOp op, ScalarType compute);
FoundLoop find_unary_floating(UnaryOp op, ScalarType compute);
FoundLoop find_unary_answer(UnaryOp op, ScalarType compute);
FoundLoop find_unary_integer(UnaryOp op, ScalarType compute);
FoundLoop find_binary_any(BinaryOp op, ScalarType compute);
FoundLoop find_binary_number(BinaryOp op, ScalarType compute);
FoundLoop find_binary_floating(BinaryOp op, ScalarType compute);
FoundLoop find_binary_answer(BinaryOp op, ScalarType compute);
FoundLoop find_binary_integer(BinaryOp op, ScalarType compute);

/// A Value as one element of `dtype`.
inline void store_number(void* to, ScalarType dtype, const Value& value) {
  (void)for_any(dtype, [&](auto zero) {
    using T = decltype(zero);
    T number;
    if constexpr (std::is_same_v<T, bool>)
      number = value.d != 0;
    else if constexpr (std::is_integral_v<T>)
      number = static_cast<T>(value.i);
    else
      number = static_cast<T>(value.d);
    std::memcpy(to, &number, sizeof number);
    return Status{};
  });
}

/// All operands but the number are dense in one order.
template <class Op, int N>
bool dense_but_for(const ElementwiseArgs<Op, N>& args) {
  if (args.plan.rank > 1) return false;
  for (int k = 0; k <= N && args.plan.rank == 1; ++k) {
    const bool number = k > 0 && (args.scalar_mask >> (k - 1) & 1);
    if (!number && args.plan.strides[k][0] != 1) return false;
  }
  return true;
}

inline Status status_of(bool ok) {
  return ok ? Status{} : Status{Code::kInvalidValue, 0, 0, "division by zero"};
}

/// Few rows, dense in every operand: a matrix and a row, or a part of a matrix.
template <class Op, int N>
bool few_dense_rows(const ElementwiseArgs<Op, N>& args) {
  constexpr int64_t kFewRows = 16;
  bool found = args.plan.rank == 2 && args.plan.sizes[1] <= kFewRows;
  for (const auto& strides : args.plan.strides) found = found && strides[0] == 1;
  return found;
}

template <class Op, int N>
Status run_rows(const ElementwiseArgs<Op, N>& args, const ScalarType (&in_dtypes)[N], Loop loop,
                const void* parameters) {
  int64_t step[N + 1];  // bytes from a row to the next
  for (int k = 0; k <= N; ++k) {
    const ScalarType dtype = k == 0 ? args.out_dtype : in_dtypes[k - 1];
    step[k] = args.plan.strides[k][1] * static_cast<int64_t>(element_size(dtype));
  }
  Run run{args.out, {}, args.plan.sizes[0], parameters};
  for (int k = 0; k < N; ++k) run.in[k] = args.in[k];
  bool ok = true;
  for (int64_t row = 0; row < args.plan.sizes[1]; ++row) {
    ok &= loop(run);
    run.out = static_cast<char*>(run.out) + step[0];
    for (int k = 0; k < N; ++k) {
      run.in[k] = static_cast<const char*>(run.in[k]) + step[k + 1];
    }
  }
  return status_of(ok);
}

/// `in_dtypes[k]` is the dtype of input k in memory; `widen`: the loop takes halves as float.
template <class Op, int N>
Status run_elementwise(const ElementwiseArgs<Op, N>& args, FoundLoop found,
                       const ScalarType (&in_dtypes)[N], bool widen, const Stream& stream) {
  if (!found.loop) return unsupported();
  const OpParameters parameters(args);
  const ScalarType compute = widen ? compute_dtype(args.dtype) : args.dtype;
  const int64_t grain = found.costly ? kCostlyGrain : kCheapGrain;
  const auto& plan = args.plan;

  // Small and dense, the usual case of small tensors: nothing to prepare.
  const bool is_small = args.scalar_mask == 0 && plan.numel <= grain && compute == args.dtype;
  if (is_small && plan.contiguous) {
    Run run{args.out, {}, plan.numel, parameters.of(compute)};
    for (int k = 0; k < N; ++k) run.in[k] = args.in[k];
    return status_of(found.loop(run));
  }
  if (is_small && few_dense_rows(args)) {
    return run_rows(args, in_dtypes, found.loop, parameters.of(compute));
  }

  // Small, with a number: x * 2.
  constexpr int64_t kSmall = 64;
  alignas(8) char number[8];
  if (args.scalar_mask != 0) {
    store_number(number, compute, args.scalar);
    if (plan.numel <= kSmall && compute == args.dtype && dense_but_for(args)) {
      char spread[kSmall * 8];
      const int size = static_cast<int>(element_size(compute));
      move_elements(size, {spread, size, 0}, {number, 0, 0}, plan.numel, 1);
      Run run{args.out, {}, plan.numel, parameters.of(compute)};
      for (int k = 0; k < N; ++k) run.in[k] = args.scalar_mask >> k & 1 ? spread : args.in[k];
      return status_of(found.loop(run));
    }
  }

  WalkArgs walk_args{plan.numel, plan.rank, plan.sizes, N, {}, found.loop, parameters.of(compute),
                     grain};
  const auto halved = [&](ScalarType dtype) { return widen && is_reduced_floating_point(dtype); };
  walk_args.operands[0] = {args.out, plan.strides[0], args.out_dtype, halved(args.out_dtype)};
  for (int k = 0; k < N; ++k) {
    Operand& operand = walk_args.operands[k + 1];
    if (args.scalar_mask >> k & 1) {
      operand = {number, nullptr, compute, false};
    } else {
      operand = {const_cast<void*>(args.in[k]), plan.strides[k + 1], in_dtypes[k],
                 halved(in_dtypes[k])};
    }
  }
  return walk(walk_args, stream);
}

TAPER_CPU_END
