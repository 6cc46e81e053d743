// Views: tensors that look at self's memory with another shape. Nothing is copied; the gradient
// goes the same way back.

#include "taper/autograd/view.h"

#include <algorithm>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

// The gradient of a part: zeros in the whole's shape with `g` where the part was.
template <class Part>
Tensor embed(const Tensor& g, const Dims& sizes, const Part& part) {
  const Tensor whole = zeros(sizes, g.options());
  part(whole).copy_(g);
  return whole;
}

// Records a view whose gradient is `g` reshaped to the input's shape.
void record_reshape(const Tensor& out, const char* name, const Tensor& self) {
  if (!recording(self)) return;
  record_view(out, name, inputs(self), [sizes = Dims(self.sizes())](Backward& b) {
    b.grad(0) = b.grad_output().reshape(sizes);
  });
}

// a * b modulo 2^64: strides of dimensions of size 1, which nobody follows, may not fit.
int64_t wrapped_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Tensor view_as_shape(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, const char* name) {
  const Tensor out = make_view(self, sizes, strides, self.storage_offset());
  record_reshape(out, name, self);
  return out;
}

}  // namespace

// ---- Another shape for the same elements.

Tensor view(const Tensor& self, IntArrayRef size) {
  check_defined("view", self, "self");
  const Dims shape = infer_view_size(size, self.numel(), "view");
  const auto strides = compute_view_strides(self.sizes(), self.strides(), shape);
  TAPER_CHECK(
      strides,
      "view: view size is not compatible with input tensor's size and stride (at least one "
      "dimension spans across two contiguous subspaces). Use .reshape(...) instead. The tensor "
      "has shape ",
      self.sizes(), " and strides ", self.strides(), "; asked for was ", size);
  return view_as_shape(self, shape, *strides, "ViewBackward0");
}

Tensor view_as(const Tensor& self, const Tensor& other) { return self.view(other.sizes()); }

Tensor reshape(const Tensor& self, IntArrayRef size) {
  check_defined("reshape", self, "self");
  const Dims shape = infer_view_size(size, self.numel(), "reshape");
  if (const auto strides = compute_view_strides(self.sizes(), self.strides(), shape)) {
    return view_as_shape(self, shape, *strides, "ViewBackward0");
  }
  return self.contiguous().view(shape);
}

Tensor reshape_as(const Tensor& self, const Tensor& other) { return self.reshape(other.sizes()); }

Tensor flatten(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  if (self.dim() == 0) return self.reshape({1});
  start_dim = wrap_dim(start_dim, self.dim());
  end_dim = wrap_dim(end_dim, self.dim());
  TAPER_CHECK(start_dim <= end_dim,
              "flatten() has invalid args: start_dim cannot come after end_dim");
  if (start_dim == end_dim) return self;
  Dims shape;
  int64_t merged = 1;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d < start_dim || d > end_dim) {
      shape.push_back(self.size(d));
      continue;
    }
    merged *= self.size(d);
    if (d == end_dim) shape.push_back(merged);
  }
  return self.reshape(shape);
}

Tensor unflatten(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  dim = wrap_dim(dim, self.dim());
  int64_t product = 1;
  bool inferred = false;
  for (const int64_t size : sizes) size == -1 ? void(inferred = true) : void(product *= size);
  TAPER_CHECK(inferred ? product != 0 && self.size(dim) % product == 0 : product == self.size(dim),
              "unflatten: Provided sizes ", sizes, " don't multiply up to the size of dim ", dim,
              " (", self.size(dim), ") in the input tensor");
  const Dims inner = infer_view_size(sizes, self.size(dim), "unflatten");
  Dims shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != dim) {
      shape.push_back(self.size(d));
    } else {
      for (const int64_t size : inner) shape.push_back(size);
    }
  }
  return self.view(shape);
}

Tensor ravel(const Tensor& self) { return self.contiguous().view({-1}); }

Tensor unsqueeze(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim() + 1);
  Dims sizes, strides;
  for (int64_t d = 0; d <= self.dim(); ++d) {
    if (d == dim) {
      sizes.push_back(1);
      strides.push_back(d < self.dim() ? self.size(d) * self.stride(d) : 1);
    }
    if (d < self.dim()) {
      sizes.push_back(self.size(d));
      strides.push_back(self.stride(d));
    }
  }
  return view_as_shape(self, sizes, strides, "UnsqueezeBackward0");
}

namespace {

template <class Drop>
Tensor squeeze_where(const Tensor& self, const Drop& drop) {
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (self.size(d) == 1 && drop(d)) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  return view_as_shape(self, sizes, strides, "SqueezeBackward0");
}

}  // namespace

Tensor squeeze(const Tensor& self) {
  return squeeze_where(self, [](int64_t) { return true; });
}
Tensor squeeze(const Tensor& self, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  return squeeze_where(self, [dim](int64_t d) { return d == dim; });
}

// ---- Another order of dimensions.

Tensor permute(const Tensor& self, IntArrayRef dims) {
  const int64_t rank = self.dim();
  TAPER_CHECK(static_cast<int64_t>(dims.size()) == rank,
              "permute(): number of dimensions in the tensor input does not match the length "
              "of the desired ordering of dimensions i.e. input.dim() = ",
              rank, " is not equal to len(dims) = ", dims.size());
  Dims sizes, strides, inverse;
  inverse.resize(static_cast<int>(rank));
  uint32_t seen = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t from = wrap_dim(dims[d], rank);
    TAPER_CHECK(!(seen >> from & 1), "permute(): duplicate dims are not allowed.");
    seen |= 1u << from;
    sizes.push_back(self.size(from));
    strides.push_back(self.stride(from));
    inverse[static_cast<int>(from)] = d;
  }
  const Tensor out = make_view(self, sizes, strides, self.storage_offset());
  if (recording(self)) {
    record_view(out, "PermuteBackward0", inputs(self),
                [inverse](Backward& b) { b.grad(0) = b.grad_output().permute(inverse); });
  }
  return out;
}

namespace {

Tensor transpose_as(const char* name, const Tensor& self, int64_t dim0, int64_t dim1) {
  dim0 = wrap_dim(dim0, self.dim());
  dim1 = wrap_dim(dim1, self.dim());
  Dims sizes(self.sizes()), strides(self.strides());
  if (self.dim() > 0) {
    std::swap(sizes[static_cast<int>(dim0)], sizes[static_cast<int>(dim1)]);
    std::swap(strides[static_cast<int>(dim0)], strides[static_cast<int>(dim1)]);
  }
  const Tensor out = make_view(self, sizes, strides, self.storage_offset());
  if (recording(self)) {
    record_view(out, name, inputs(self),
                [dim0, dim1](Backward& b) { b.grad(0) = b.grad_output().transpose(dim0, dim1); });
  }
  return out;
}

}  // namespace

Tensor transpose(const Tensor& self, int64_t dim0, int64_t dim1) {
  return transpose_as("TransposeBackward0", self, dim0, dim1);
}

Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) {
  return self.transpose(axis0, axis1);
}

Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) {
  return self.transpose(dim0, dim1);
}
Tensor moveaxis(const Tensor& self, int64_t source, int64_t destination) {
  return self.movedim(source, destination);
}
Tensor movedim(const Tensor& self, int64_t source, int64_t destination) {
  source = wrap_dim(source, self.dim());
  destination = wrap_dim(destination, self.dim());
  if (self.dim() == 0) return self.permute({});
  std::vector<int64_t> order;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d != source) order.push_back(d);
  }
  order.insert(order.begin() + destination, source);
  return self.permute(order);
}

Tensor t(const Tensor& self) {
  TAPER_CHECK(self.dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is ",
              self.dim(), "D");
  return transpose_as("TBackward0", self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor mT(const Tensor& self) {
  TAPER_CHECK(self.dim() >= 2,
              "tensor.mT is only supported on matrices or batches of matrices. Got ", self.dim(),
              "-D tensor.");
  return self.transpose(-2, -1);
}

// ---- Stretched.

Tensor expand(const Tensor& self, IntArrayRef size, bool) {
  const int64_t rank = static_cast<int64_t>(size.size()), lead = rank - self.dim();
  TAPER_CHECK(lead >= 0, "expand(", to_string(self.scalar_type()), "Tensor{", self.sizes(),
              "}, size=", size, "): the number of sizes provided (", rank,
              ") must be greater or equal to the number of dimensions in the tensor (", self.dim(),
              ")");
  Dims sizes, strides;
  for (int64_t d = 0; d < rank; ++d) {
    const bool fresh = d < lead;
    const int64_t own = fresh ? 1 : self.size(d - lead);
    int64_t wanted = size[d];
    if (wanted == -1) {
      TAPER_CHECK(!fresh,
                  "expand: The expanded size of the tensor (-1) isn't allowed in a leading, "
                  "non-existing dimension ",
                  d);
      wanted = own;
    }
    TAPER_CHECK(wanted >= 0 && (own == wanted || own == 1),
                "expand: The expanded size of the tensor (", wanted,
                ") must match the existing size (", own, ") at non-singleton dimension ", d,
                ".  Target sizes: ", size, ".  Tensor sizes: ", self.sizes());
    sizes.push_back(wanted);
    strides.push_back(own == wanted && !fresh ? self.stride(d - lead) : 0);
  }
  checked_numel(sizes, "expand");
  const Tensor out = make_view(self, sizes, strides, self.storage_offset());
  if (recording(self)) {
    // The engine sums a gradient down to the input's shape.
    record_view(out, "ExpandBackward0", inputs(self),
                [](Backward& b) { b.grad(0) = b.grad_output(); });
  }
  return out;
}

Tensor expand_as(const Tensor& self, const Tensor& other) { return self.expand(other.sizes()); }
Tensor broadcast_to(const Tensor& self, IntArrayRef size) { return self.expand(size); }

// ---- Parts.

Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  TAPER_CHECK_INDEX(self.dim() > 0, "select() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  TAPER_CHECK_INDEX(index >= -size && index < size, "select(): index ", index,
                    " out of range for tensor of size ", self.sizes(), " at dimension ", dim);
  if (index < 0) index += size;
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  const Tensor out =
      make_view(self, sizes, strides, self.storage_offset() + index * self.stride(dim));
  if (recording(self)) {
    record_view(out, "SelectBackward0", inputs(self),
                [whole = Dims(self.sizes()), dim, index](Backward& b) {
                  b.grad(0) = embed(b.grad_output(), whole,
                                    [&](const Tensor& x) { return x.select(dim, index); });
                });
  }
  return out;
}

Tensor slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
             std::optional<int64_t> end, int64_t step) {
  TAPER_CHECK_INDEX(self.dim() > 0, "slice() cannot be applied to a 0-dim tensor.");
  TAPER_CHECK_VALUE(step > 0, "slice(): slice step must be positive, but got ", step);
  dim = wrap_dim(dim, self.dim());
  const int64_t size = self.size(dim);
  const auto bound = [size](int64_t at) {
    return std::clamp(at < 0 ? at + size : at, int64_t{0}, size);
  };
  const int64_t first = bound(start.value_or(0));
  const int64_t last = std::max(first, bound(end.value_or(size)));
  Dims sizes(self.sizes()), strides(self.strides());
  sizes[static_cast<int>(dim)] = (last - first) / step + ((last - first) % step != 0);
  strides[static_cast<int>(dim)] = wrapped_product(self.stride(dim), step);
  const Tensor out =
      make_view(self, sizes, strides, self.storage_offset() + first * self.stride(dim));
  if (recording(self)) {
    record_view(out, "SliceBackward0", inputs(self),
                [whole = Dims(self.sizes()), dim, first, last, step](Backward& b) {
                  b.grad(0) = embed(b.grad_output(), whole, [&](const Tensor& x) {
                    return x.slice(dim, first, last, step);
                  });
                });
  }
  return out;
}

Tensor narrow(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  TAPER_CHECK(self.dim() > 0, "narrow() cannot be applied to a 0-dim tensor.");
  TAPER_CHECK(length >= 0, "narrow(): length must be non-negative.");
  const int64_t size = self.size(dim);
  TAPER_CHECK_INDEX(start >= -size && start <= size,
                    "start out of range (expected to be in range of [", -size, ", ", size,
                    "], but got ", start, ")");
  if (start < 0) start += size;
  TAPER_CHECK(start <= size - length, "start (", start, ") + length (", length,
              ") exceeds dimension size (", size, ").");
  return self.slice(dim, start, start + length);
}

Tensor diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t first = wrap_dim(dim1, self.dim()), second = wrap_dim(dim2, self.dim());
  TAPER_CHECK(first != second, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t length =
      std::max<int64_t>(0, offset >= 0 ? std::min(self.size(first), self.size(second) - offset)
                                       : std::min(self.size(first) + offset, self.size(second)));
  int64_t start = self.storage_offset();
  if (length > 0)
    start += offset >= 0 ? offset * self.stride(second) : -offset * self.stride(first);
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == first || d == second) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  sizes.push_back(length);
  strides.push_back(self.stride(first) + self.stride(second));
  const Tensor out = make_view(self, sizes, strides, start);
  if (recording(self)) {
    record_view(out, "DiagonalBackward0", inputs(self),
                [whole = Dims(self.sizes()), offset, first, second](Backward& b) {
                  b.grad(0) = embed(b.grad_output(), whole, [&](const Tensor& x) {
                    return x.diagonal(offset, first, second);
                  });
                });
  }
  return out;
}

namespace {

// Elements of self's storage in any arrangement, also one in which they come several times.
Tensor strided_view(const char* name, const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                    int64_t offset) {
  const Tensor out = make_view(self, sizes, strides, offset);
  if (recording(self)) {
    record_view(
        out, name, inputs(self),
        [whole = autograd::Geometry(self.impl()), part = autograd::Geometry(out.impl())](
            Backward& b) { b.grad(0) = autograd::scatter_strided(b.grad_output(), whole, part); });
  }
  return out;
}

}  // namespace

Tensor as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                  std::optional<int64_t> storage_offset) {
  TAPER_CHECK(size.size() == stride.size(), "mismatch in length of strides and shape");
  checked_numel(size, "as_strided");
  const int64_t extent = checked_extent(size, stride, "as_strided");
  const int64_t offset = storage_offset.value_or(self.storage_offset());
  for (const int64_t s : stride) {
    TAPER_CHECK(
        s >= 0,
        "as_strided: Negative strides are not supported at the moment, got strides: ", stride);
  }
  TAPER_CHECK(offset >= 0 && offset < INT64_MAX / 16, "as_strided: Tensor: invalid storage offset ",
              offset);
  const size_t bytes = static_cast<size_t>(offset + extent) * element_size(self.scalar_type());
  TAPER_CHECK(extent == 0 || bytes <= self.storage().nbytes(), "setStorage: sizes ", size,
              ", strides ", stride, ", storage offset ", offset, ", and itemsize ",
              element_size(self.scalar_type()), " requiring a storage size of ", bytes,
              " are out of bounds for storage of size ", self.storage().nbytes());
  return strided_view("AsStridedBackward0", self, size, stride, offset);
}

Tensor unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t dim = wrap_dim(dimension, self.dim());
  const int64_t length = self.dim() == 0 ? 1 : self.size(dim);
  TAPER_CHECK(size >= 0 && size <= length, "maximum size for tensor at dimension ", dim, " is ",
              length, " but size is ", size);
  TAPER_CHECK(step > 0, "step is ", step, " but must be > 0");
  Dims sizes(self.sizes()), strides(self.strides());
  const int64_t stride = self.dim() == 0 ? 1 : self.stride(dim);
  if (self.dim() > 0) {
    sizes[static_cast<int>(dim)] = (length - size) / step + 1;
    strides[static_cast<int>(dim)] = wrapped_product(stride, step);
  }
  sizes.push_back(size);
  strides.push_back(stride);
  checked_numel(sizes, "unfold");
  return strided_view("UnfoldBackward0", self, sizes, strides, self.storage_offset());
}

}  // namespace taper::ops
