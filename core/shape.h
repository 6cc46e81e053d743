#pragma once

#include <cstdint>
#include <optional>

#include "taper/core/array_ref.h"
#include "taper/core/dtype.h"
#include "taper/core/tensor_impl.h"

// The arithmetic of shapes, with PyTorch's rules and PyTorch's words where something does not fit.

namespace taper {

/// Number of elements. Throws for negative sizes, for products beyond int64 and for too many
/// dimensions.
TAPER_API int64_t checked_numel(IntArrayRef sizes, const char* op);
/// Bytes of that many elements, with the same checks.
TAPER_API size_t checked_nbytes(IntArrayRef sizes, ScalarType dtype, const char* op);

/// Throws where a dense row-major tensor of these sizes cannot exist: more elements or bytes than
/// int64 counts, or a stride that it does not hold.
TAPER_API void check_dense(IntArrayRef sizes, ScalarType dtype, const char* op);
/// Elements of storage from the first to the last one that sizes and strides reach; 0 for an empty
/// tensor. Throws where their number overflows.
TAPER_API int64_t checked_extent(IntArrayRef sizes, IntArrayRef strides, const char* op);

/// Row-major strides. Sizes of 0 count as 1, as in PyTorch.
TAPER_API Dims contiguous_strides(IntArrayRef sizes);

/// The shape that two shapes broadcast to. Throws "op: The size of tensor a (3) must match ...".
TAPER_API Dims infer_size(IntArrayRef a, IntArrayRef b, const char* op);
/// Whether a tensor of shape `sizes` broadcasts to `target` without changing it.
TAPER_API bool is_expandable_to(IntArrayRef sizes, IntArrayRef target);
/// Strides of a tensor seen in the larger shape `target`, 0 along broadcast dimensions; `target`
/// must be what its shape broadcasts to.
TAPER_API Dims expanded_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef target);

[[noreturn]] TAPER_API TAPER_COLD void fail_dim(int64_t dim, int64_t rank);
/// `dim` in [0, rank), negative ones counted from the end. A 0-dim tensor takes 0 and -1.
inline int64_t wrap_dim(int64_t dim, int64_t rank) {
  const int64_t range = rank > 0 ? rank : 1;
  if (TAPER_UNLIKELY(dim < -range || dim >= range)) fail_dim(dim, rank);
  return dim < 0 ? dim + range : dim;
}
/// The set of the given dimensions, bit d standing for dimension d; none given means all. Throws
/// for repeated ones.
TAPER_API uint32_t dim_set(OptionalIntArrayRef dims, int64_t rank, const char* op);

/// `shape` with its one -1, if any, replaced by what `numel` leaves.
TAPER_API Dims infer_view_size(IntArrayRef shape, int64_t numel, const char* op);
/// Strides under which the same memory has the shape `new_sizes` (of equal numel); nothing where
/// only a copy would do.
TAPER_API std::optional<Dims> compute_view_strides(IntArrayRef sizes, IntArrayRef strides,
                                                   IntArrayRef new_sizes);

TAPER_API bool is_contiguous(IntArrayRef sizes, IntArrayRef strides);
/// The elements fill a run of memory without gaps, in any order of dimensions.
TAPER_API bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides);
/// What a copy that keeps the order of dimensions has for strides: those given where they are
/// dense, else without their gaps. An expanded dimension (stride 0) has no order and stays where it
/// is.
TAPER_API Dims preserved_strides(IntArrayRef sizes, IntArrayRef strides);

/// Several positions are certainly one element, as after expand().
TAPER_API bool has_internal_overlap(IntArrayRef sizes, IntArrayRef strides);
/// Several positions may be one element, as also in unfold()'s windows: false is certain.
TAPER_API bool may_overlap_itself(IntArrayRef sizes, IntArrayRef strides);
/// How the memory of two tensors is related. kUnknown: both lie in one storage and at least one has
/// gaps.
enum class Overlap : uint8_t { kNone, kFull, kPartial, kUnknown };
TAPER_API Overlap overlap_of(const TensorImpl& a, const TensorImpl& b);

/// Throws where writing to `out` would write to one element several times.
TAPER_API void check_no_internal_overlap(const TensorImpl& out);
/// Throws where `out`, about to be written, shares memory with `in` without being the same
/// elements.
TAPER_API void check_no_partial_overlap(const TensorImpl& out, const TensorImpl& in);
/// Throws where `out` shares memory with `in` at all.
TAPER_API void check_no_overlap(const TensorImpl& out, const TensorImpl& in);

}  // namespace taper
