#pragma once

#include <cstdint>

#include "taper/core/dtype.h"

// Plans: the shape of a piece of work, computed once on the host and the same for every device.
// Everything here is plain data; the functions that make plans are in plan.cpp and need no tensor.

namespace taper::kernels {

/// Tensors have at most this many dimensions.
constexpr int kMaxRank = 16;

/// A number passed by value, as a double and as an integer (both are always set; the kernel reads
/// the one that suits its dtype).
struct Value {
  double d = 0;
  int64_t i = 0;

  constexpr Value() = default;
  constexpr Value(double value) : d(value), i(to_integer(value)) {}
  constexpr Value(int64_t value) : d(static_cast<double>(value)), i(value) {}
  constexpr Value(int value) : d(value), i(value) {}

 private:
  // The conversion of a double outside int64's range is undefined; such a value is never read as
  // one.
  static constexpr int64_t to_integer(double value) {
    return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value) : 0;
  }
};

/// Sizes and strides of one output (operand 0) and N inputs over a common shape. Dimensions that
/// can be walked as one are merged, dimensions of size 1 are dropped, and index 0 is the innermost.
/// Strides count elements; a broadcast input has stride 0.
template <int N>
struct ElementwisePlan {
  int64_t numel;
  int32_t rank;     ///< 0 for a single element
  bool contiguous;  ///< every operand is dense in the same order: one run of numel elements
  int64_t sizes[kMaxRank];
  int64_t strides[N + 1][kMaxRank];
};

/// A reduction: for each of the kept positions, all reduced positions are combined. Both shapes are
/// merged as above, index 0 innermost. `out_strides` has the kept rank; `in_*_strides` walk the
/// input.
struct ReducePlan {
  int64_t kept_numel;
  int64_t reduced_numel;
  int32_t kept_rank;
  int32_t reduced_rank;
  int64_t kept_sizes[kMaxRank];
  int64_t out_strides[kMaxRank];
  int64_t in_kept_strides[kMaxRank];
  int64_t reduced_sizes[kMaxRank];
  int64_t in_reduced_strides[kMaxRank];
};

/// A dense tensor seen as [outer, size, inner], the op working along `size`.
struct AxisPlan {
  int64_t outer;
  int64_t size;
  int64_t inner;
};

/// Describes one operand to the plan makers: strides in elements, outermost dimension first.
struct Layout {
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
};

/// Makes the plan for operands that already have the shape `sizes` (broadcast dimensions as stride
/// 0). `strides[k]` belongs to operand k, 0 being the output; `rank` <= kMaxRank. Made for N = 0 to
/// 3, and for 9, which serves advanced indexing (strides of 0 for index tensors that are not there
/// change nothing).
template <int N>
TAPER_API void make_elementwise_plan(ElementwisePlan<N>& plan, int rank, const int64_t* sizes,
                                     const int64_t* const (&strides)[N + 1]);

/// `reduced` has bit d set where dimension d of the input is reduced. `out_strides` has the input's
/// rank, with entries of reduced dimensions ignored.
TAPER_API void make_reduce_plan(ReducePlan& plan, const Layout& in, uint32_t reduced,
                                const int64_t* out_strides);

TAPER_API AxisPlan make_axis_plan(int rank, const int64_t* sizes, int dim);

/// C[b] = alpha * op(A[b]) * op(B[b]) + beta * C[b] for b in [0, batch): matrices with a leading
/// dimension in elements, either row-major as they stand or transposed. C is row-major, m x n with
/// leading dimension ldc. `bias`, where given, is a row of n elements added to each row of C (then
/// beta is ignored).
struct GemmPlan {
  ScalarType dtype;  ///< of a, b, c and bias; halves accumulate in float
  int64_t batch, m, n, k;
  const void* a;
  int64_t lda, a_batch_stride;
  bool a_transposed;  ///< a is stored k x m
  const void* b;
  int64_t ldb, b_batch_stride;
  bool b_transposed;  ///< b is stored n x k
  void* c;
  int64_t ldc, c_batch_stride;
  const void* bias;
  Value alpha, beta;  ///< beta 0 does not read c
  bool tf32 = false;  ///< a device may round float factors to TF32; no CPU does
};

/// Geometry of a two-dimensional convolution (one dimension is height 1), NCHW, dense.
/// Weights are [out_channels, in_channels / groups, kernel_h, kernel_w].
struct ConvPlan {
  ScalarType dtype;
  int64_t batch, in_channels, in_h, in_w;
  int64_t out_channels, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  int64_t groups;
  bool tf32 = false;  ///< as in GemmPlan
};

/// Geometry of two-dimensional pooling over `planes` = batch * channels dense planes.
struct PoolPlan {
  ScalarType dtype;
  int64_t planes, in_h, in_w, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w;
  bool count_include_pad;    ///< average only
  int64_t divisor_override;  ///< average only; 0: none
};

/// Output size of a sliding window: convolution and pooling. With `ceil_mode`, a last window that
/// would start in the right padding is dropped.
TAPER_API int64_t window_output_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                                     int64_t dilation, bool ceil_mode);

}  // namespace taper::kernels
