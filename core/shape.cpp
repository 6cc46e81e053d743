#include "taper/core/shape.h"

#include <algorithm>

namespace taper {

namespace {

// What kernels' plans can hold (kernels/plan.h).
constexpr size_t kMaxRank = 16;

}  // namespace

int64_t checked_numel(IntArrayRef sizes, const char* op) {
  TAPER_CHECK(sizes.size() <= kMaxRank, op, ": tensors have at most ", kMaxRank,
              " dimensions, but got ", sizes.size());
  int64_t numel = 1;
  bool overflow = false;
  for (const int64_t size : sizes) {
    TAPER_CHECK(size >= 0, op, ": Trying to create tensor with negative dimension ", size, ": ",
                sizes);
    // In PyTorch, too, a size of 0 helps only those behind it.
    overflow |= __builtin_mul_overflow(numel, size, &numel);
  }
  TAPER_CHECK(!overflow, op, ": Storage size calculation overflowed with sizes=", sizes);
  return numel;
}

size_t checked_nbytes(IntArrayRef sizes, ScalarType dtype, const char* op) {
  const int64_t numel = checked_numel(sizes, op);
  int64_t bytes;
  const bool overflow =
      __builtin_mul_overflow(numel, static_cast<int64_t>(element_size(dtype)), &bytes);
  TAPER_CHECK(!overflow, op, ": Storage size calculation overflowed with sizes=", sizes);
  return static_cast<size_t>(bytes);
}

void check_dense(IntArrayRef sizes, ScalarType dtype, const char* op) {
  checked_nbytes(sizes, dtype, op);
  int64_t stride = 1;
  bool overflow = false;
  for (size_t i = sizes.size(); i-- > 1;) {
    overflow |= __builtin_mul_overflow(stride, std::max<int64_t>(sizes[i], 1), &stride);
  }
  TAPER_CHECK(!overflow, op, ": Stride calculation overflowed with sizes=", sizes);
}

int64_t checked_extent(IntArrayRef sizes, IntArrayRef strides, const char* op) {
  int64_t last = 0;
  bool overflow = false;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t step;
    overflow |= __builtin_mul_overflow(sizes[i] - 1, strides[i], &step);
    overflow |= __builtin_add_overflow(last, step, &last);
  }
  // Room for an offset, and for the largest element size.
  TAPER_CHECK(!overflow && last < INT64_MAX / 16, op,
              ": Storage size calculation overflowed with sizes=", sizes, " and strides=", strides);
  return last + 1;
}

Dims contiguous_strides(IntArrayRef sizes) {
  Dims strides;
  int64_t* const out = strides.resize(static_cast<int>(sizes.size()));
  uint64_t stride = 1;  // beyond the first dimension it may wrap: nobody reads it there
  for (size_t i = sizes.size(); i-- > 0;) {
    out[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

Dims infer_size(IntArrayRef a, IntArrayRef b, const char* op) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out;
  int64_t* const sizes = out.resize(static_cast<int>(rank));
  // From the innermost dimension on, since shapes are aligned at their ends.
  for (size_t i = 1; i <= rank; ++i) {
    const int64_t size_a = i <= a.size() ? a[a.size() - i] : 1;
    const int64_t size_b = i <= b.size() ? b[b.size() - i] : 1;
    TAPER_CHECK(size_a == size_b || size_a == 1 || size_b == 1, op, ": The size of tensor a (",
                size_a, ") must match the size of tensor b (", size_b,
                ") at non-singleton dimension ", rank - i, ". The shapes are ", a, " and ", b, ".");
    sizes[rank - i] = size_a == 1 ? size_b : size_a;
  }
  return out;
}

bool is_expandable_to(IntArrayRef sizes, IntArrayRef target) {
  if (sizes.size() > target.size()) return false;
  const size_t lead = target.size() - sizes.size();
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != 1 && sizes[d] != target[lead + d]) return false;
  }
  return true;
}

Dims expanded_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef target) {
  Dims out;
  int64_t* const to = out.resize(static_cast<int>(target.size()));
  const size_t added = target.size() - sizes.size();
  for (size_t i = 0; i < target.size(); ++i) {
    const bool repeated = i < added || (sizes[i - added] == 1 && target[i] != 1);
    to[i] = repeated ? 0 : strides[i - added];
  }
  return out;
}

void fail_dim(int64_t dim, int64_t rank) {
  const int64_t range = std::max<int64_t>(rank, 1);
  detail::fail<IndexError>("Dimension out of range (expected to be in range of [", -range, ", ",
                           range - 1, "], but got ", dim, ")");
}

uint32_t dim_set(OptionalIntArrayRef dims, int64_t rank, const char* op) {
  if (!dims.has_value() || dims->empty()) return (1u << rank) - 1;
  uint32_t set = 0;
  for (const int64_t given : *dims) {
    const int64_t dim = wrap_dim(given, rank);
    TAPER_CHECK(!(set >> dim & 1), op, ": dim ", dim,
                " appears multiple times in the list of dims");
    set |= 1u << dim;
  }
  return rank == 0 ? 0 : set;
}

Dims infer_view_size(IntArrayRef shape, int64_t numel, const char* op) {
  Dims out(shape);
  int inferred = -1;
  int64_t known = 1;
  bool overflow = false;
  for (int i = 0; i < out.size(); ++i) {
    TAPER_CHECK(out[i] >= -1, op, ": invalid shape dimension ", out[i], " at index ", i,
                " of shape ", shape);
    if (out[i] == -1) {
      TAPER_CHECK(inferred < 0, op, ": only one dimension can be inferred, but the shape is ",
                  shape);
      inferred = i;
    } else {
      overflow |= __builtin_mul_overflow(known, out[i], &known);
    }
  }
  if (inferred >= 0 && known > 0 && numel % known == 0 && !overflow) {
    out[inferred] = numel / known;
    return out;
  }
  TAPER_CHECK(inferred < 0 || known != 0 || numel != 0, op,
              ": cannot reshape tensor of 0 elements into shape ", shape,
              " because the unspecified dimension size -1 can be any value and is ambiguous");
  TAPER_CHECK(inferred < 0 && known == numel && !overflow, op, ": shape '", shape,
              "' is invalid for input of size ", numel);
  return out;
}

std::optional<Dims> compute_view_strides(IntArrayRef sizes, IntArrayRef strides,
                                         IntArrayRef new_sizes) {
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  std::optional<Dims> out(std::in_place, new_sizes);  // the same in all returns: it is not moved
  if (numel == 0) {
    out = sizes == new_sizes ? Dims(strides) : contiguous_strides(new_sizes);
    return out;
  }
  int64_t* const to = out->data();
  int next = static_cast<int>(new_sizes.size()) - 1;
  int dim = static_cast<int>(sizes.size()) - 1;
  // Runs of old dimensions that are one walk through memory, innermost first; each must be used up
  // exactly by some of the new dimensions. Dimensions of size 1 join the run inside them, as in
  // PyTorch.
  while (dim >= 0) {
    const int64_t step = strides[dim];
    int64_t run = 1;
    do {
      run *= sizes[dim--];
    } while (dim >= 0 && (sizes[dim] == 1 || strides[dim] == run * step));
    int64_t used = 1;
    while (next >= 0 && (used < run || new_sizes[next] == 1)) {
      to[next] = used * step;
      used *= new_sizes[next--];
    }
    if (used != run) {
      out.reset();
      return out;
    }
  }
  for (; next >= 0; --next) to[next] = 1;  // a 0-dim tensor has no stride to hand on
  return out;
}

bool is_contiguous(IntArrayRef sizes, IntArrayRef strides) {
  int64_t expected = 1;
  bool dense = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    dense &= sizes[i] == 1 || strides[i] == expected;
    expected *= sizes[i];
  }
  return dense;
}

bool is_non_overlapping_and_dense(IntArrayRef sizes, IntArrayRef strides) {
  // Picks the dimensions in ascending order of stride: each must start where the ones before end.
  int64_t numel = 1;
  size_t left = 0;
  for (const int64_t size : sizes) {
    numel *= size;
    left += size != 1;
  }
  if (numel == 0) return true;
  int64_t expected = 1;
  for (; left > 0; --left) {
    bool found = false;
    for (size_t i = 0; i < sizes.size() && !found; ++i) {
      if (sizes[i] == 1 || strides[i] != expected) continue;
      expected *= sizes[i];
      found = true;
    }
    if (!found) return false;
  }
  return true;
}

Dims preserved_strides(IntArrayRef sizes, IntArrayRef strides) {
  if (is_non_overlapping_and_dense(sizes, strides)) return Dims(strides);
  // Insertion from the innermost dimension outwards: `order` ascends by stride, then by size.
  const int rank = static_cast<int>(sizes.size());
  Dims order;
  for (int d = rank - 1; d >= 0; --d) order.push_back(d);
  const auto belongs_inside = [&](int64_t d, int64_t inner) {
    if (strides[d] == 0 || strides[inner] == 0) return 0;
    if (strides[d] != strides[inner]) return strides[d] < strides[inner] ? 1 : -1;
    return sizes[d] < sizes[inner] ? 1 : 0;
  };
  for (int i = 1; i < rank; ++i) {
    for (int at = i, below = i - 1; below >= 0; --below) {
      const int answer = belongs_inside(order[at], order[below]);
      if (answer < 0) break;
      if (answer > 0) {
        std::swap(order[at], order[below]);
        at = below;
      }
    }
  }
  Dims packed;
  packed.resize(rank);
  int64_t next = 1;
  for (const int64_t d : order) {
    packed[static_cast<int>(d)] = next;
    next *= std::max<int64_t>(sizes[d], 1);
  }
  return packed;
}

bool has_internal_overlap(IntArrayRef sizes, IntArrayRef strides) {
  for (const int64_t size : sizes) {
    if (size == 0) return false;
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > 1 && strides[i] == 0) return true;
  }
  return false;
}

bool may_overlap_itself(IntArrayRef sizes, IntArrayRef strides) {
  // In ascending order of strides, each step must lead beyond all that the steps before reach.
  Dims order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return false;
    if (sizes[i] > 1) order.push_back(static_cast<int64_t>(i));
  }
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return strides[static_cast<size_t>(a)] < strides[static_cast<size_t>(b)];
  });
  int64_t reach = 0;
  for (const int64_t i : order) {
    const size_t d = static_cast<size_t>(i);
    if (strides[d] <= reach) return true;
    reach += (sizes[d] - 1) * strides[d];
  }
  return false;
}

Overlap overlap_of(const TensorImpl& a, const TensorImpl& b) {
  if (&a == &b) return Overlap::kFull;
  if (a.numel == 0 || b.numel == 0 || a.storage.get() != b.storage.get()) return Overlap::kNone;
  const auto extent = [](const TensorImpl& t, int64_t* end) {
    const int64_t size = static_cast<int64_t>(element_size(t.dtype));
    int64_t last = t.offset;
    for (int i = 0; i < t.dim(); ++i) last += (t.sizes[i] - 1) * t.strides[i];
    *end = (last + 1) * size;
    return t.offset * size;
  };
  int64_t end_a, end_b;
  const int64_t begin_a = extent(a, &end_a), begin_b = extent(b, &end_b);
  if (end_a <= begin_b || end_b <= begin_a) return Overlap::kNone;
  const IntArrayRef sizes_a = a.sizes, sizes_b = b.sizes, strides_a = a.strides,
                    strides_b = b.strides;
  if (begin_a == begin_b && sizes_a == sizes_b && strides_a == strides_b && a.dtype == b.dtype) {
    return Overlap::kFull;
  }
  const bool gapless = is_non_overlapping_and_dense(sizes_a, strides_a) &&
                       is_non_overlapping_and_dense(sizes_b, strides_b);
  return gapless ? Overlap::kPartial : Overlap::kUnknown;
}

void check_no_internal_overlap(const TensorImpl& out) {
  if (out.is_contiguous || !has_internal_overlap(out.sizes, out.strides)) return;
  detail::fail<Error>(
      "unsupported operation: more than one element of the written-to tensor refers to a single "
      "memory location. Please clone() the tensor before performing the operation.");
}

namespace {

[[noreturn]] TAPER_COLD void fail_overlap() {
  detail::fail<Error>(
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
      "a "
      "single memory location. Please clone() the tensor before performing the operation.");
}

}  // namespace

void check_no_partial_overlap(const TensorImpl& out, const TensorImpl& in) {
  if (out.storage.get() != in.storage.get()) return;
  if (overlap_of(out, in) == Overlap::kPartial) fail_overlap();
}

void check_no_overlap(const TensorImpl& out, const TensorImpl& in) {
  if (out.storage.get() != in.storage.get()) return;
  const Overlap overlap = overlap_of(out, in);
  if (overlap == Overlap::kPartial || overlap == Overlap::kFull) fail_overlap();
}

}  // namespace taper
