// The same elements in another order or several times: flip, roll, repeat, triangles and diagonals.
// Copies.

#include <cstdlib>

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

Tensor flip(const Tensor& self, IntArrayRef dims) {
  check_defined("flip", self, "self");
  const uint32_t mask = dims.empty() ? 0 : dim_set(dims, self.dim(), "flip");
  const Tensor out = new_result_like(self);
  if (self.numel() > 0) {
    // A copy that starts at the last element and walks back.
    const TensorImpl& from = self.impl();
    Dims strides(self.strides());
    int64_t start = 0;
    for (int d = 0; d < from.dim(); ++d) {
      if (!(mask >> d & 1)) continue;
      start += (from.sizes[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
    kernels::CopyArgs args;
    args.out_dtype = args.in_dtype = from.dtype;
    args.out = out.data_ptr();
    args.in = static_cast<const char*>(self.data_ptr()) + start * self.element_size();
    kernels::make_elementwise_plan<1>(args.plan, from.dim(), from.sizes.data(),
                                      {out.strides().data(), strides.data()});
    check(kernels_of(self).copy(args, stream_of(self)), "flip");
  }
  if (recording(self)) {
    record(out, "FlipBackward0", inputs(self), saving_nothing(),
           [dims = Dims(dims)](Backward& b) { b.grad(0) = b.grad_output().flip(dims); });
  }
  return out;
}

Tensor roll(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  check_defined("roll", self, "self");
  TAPER_CHECK(!shifts.empty(), "`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    return self.reshape({-1}).roll(shifts, 0).reshape(self.sizes());
  }
  TAPER_CHECK(shifts.size() == dims.size(),
              "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  Tensor out = self;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], self.dim());
    const int64_t size = self.dim() == 0 ? 0 : self.size(dim);
    if (size == 0) continue;
    const int64_t start = ((-shifts[i]) % size + size) % size;  // what comes first afterwards
    if (start == 0) continue;
    out = taper::cat({out.narrow(dim, start, size - start), out.narrow(dim, 0, start)}, dim);
  }
  return out.is_same(self) ? self.clone() : out;
}

Tensor rot90(const Tensor& self, int64_t k, IntArrayRef dims) {
  check_defined("rot90", self, "self");
  TAPER_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  TAPER_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t first = wrap_dim(dims[0], self.dim()), second = wrap_dim(dims[1], self.dim());
  TAPER_CHECK(first != second, "expected rotation dims to be different, but got dim0 = ", dims[0],
              " and dim1 = ", dims[1]);
  switch ((k % 4 + 4) % 4) {
    case 1:
      return self.flip(second).transpose(first, second);
    case 2:
      return self.flip({first, second});
    case 3:
      return self.flip(first).transpose(first, second);
    default:
      return self.clone();
  }
}

// ---- Several times.

Tensor repeat(const Tensor& self, IntArrayRef repeats) {
  check_defined("repeat", self, "self");
  const int64_t rank = static_cast<int64_t>(repeats.size()), lead = rank - self.dim();
  TAPER_CHECK(lead >= 0,
              "Number of dimensions of repeat dims can not be smaller than number of dimensions "
              "of tensor, but got ",
              rank, " and ", self.dim());
  // Every dimension with a new one of size 1 before it, which is then stretched.
  Dims spread, stretched, result;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t own = d < lead ? 1 : self.size(d - lead);
    TAPER_CHECK(repeats[d] >= 0, "Trying to create tensor with negative dimension: repeats are ",
                repeats);
    if (repeats[d] != 1) {
      spread.push_back(1);
      stretched.push_back(repeats[d]);
    }
    spread.push_back(own);
    stretched.push_back(own);
    int64_t length;
    TAPER_CHECK(!__builtin_mul_overflow(own, repeats[d], &length),
                "repeat: Storage size calculation overflowed with repeats=", repeats,
                " of a tensor of shape ", self.sizes());
    result.push_back(length);
  }
  if (self.numel() == 0 || checked_numel(repeats, "repeat") == 0) {
    // Nothing to stretch; the other sizes may be too large to be multiplied on the way.
    const Tensor out = new_result(result, self.scalar_type(), self.device(), "repeat");
    if (recording(self)) {
      record(out, "RepeatBackward0", inputs(self), saving_nothing(),
             [sizes = Dims(self.sizes())](Backward& b) {
               b.grad(0) = zeros(sizes, b.grad_output().options());
             });
    }
    return out;
  }
  return self.reshape(spread).expand(stretched).clone(MemoryFormat::Contiguous).view(result);
}

Tensor tile(const Tensor& self, IntArrayRef dims) {
  std::vector<int64_t> repeats = dims.vec();
  while (static_cast<int64_t>(repeats.size()) < self.dim()) repeats.insert(repeats.begin(), 1);
  return self.repeat(repeats);
}

Tensor repeat_interleave(const Tensor& self, int64_t repeats, std::optional<int64_t> dim) {
  TAPER_CHECK(repeats >= 0, "repeats can not be negative, but got ", repeats);
  const Tensor x = dim && self.dim() > 0 ? self : self.reshape({-1});
  const int64_t axis = wrap_dim(dim.value_or(0), x.dim());
  Dims stretched(x.sizes()), result(x.sizes());
  int64_t& length = result[static_cast<int>(axis)];
  TAPER_CHECK(!__builtin_mul_overflow(length, repeats, &length),
              "repeat_interleave: Storage size calculation overflowed with repeats=", repeats,
              " of a tensor of shape ", self.sizes());
  stretched.push_back(0);
  for (int d = stretched.size() - 1; d > axis + 1; --d) stretched[d] = stretched[d - 1];
  stretched[static_cast<int>(axis) + 1] = repeats;
  return x.unsqueeze(axis + 1).expand(stretched).clone(MemoryFormat::Contiguous).view(result);
}

Tensor repeat_interleave(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim) {
  check_defined("repeat_interleave", repeats, "repeats");
  TAPER_CHECK(repeats.scalar_type() == kLong || repeats.scalar_type() == kInt,
              "repeats has to be Long or Int tensor, but got ", repeats.scalar_type());
  TAPER_CHECK(repeats.dim() <= 1, "repeats must be 0-dim or 1-dim tensor, but got shape ",
              repeats.sizes());
  if (repeats.numel() == 1) return self.repeat_interleave(repeats.item().toLong(), dim);
  const Tensor x = dim && self.dim() > 0 ? self : self.reshape({-1});
  const int64_t axis = wrap_dim(dim.value_or(0), x.dim());
  TAPER_CHECK(repeats.numel() == x.size(axis),
              "repeats must have the same size as input along dim, but got repeats.size(0) = ",
              repeats.numel(), " and input.size(", axis, ") = ", x.size(axis));
  const Tensor counts = cast(repeats, kLong);
  TAPER_CHECK(counts.numel() == 0 || counts.min().item<int64_t>() >= 0,
              "repeats can not be negative");
  // Output j comes from the first input whose copies end after j.
  const Tensor ends = counts.cumsum(0);
  TAPER_CHECK(
      ends.numel() == 0 || ends.min().item<int64_t>() >= 0,
      "repeat_interleave: Storage size calculation overflowed: the repeats' sum is too large");
  const int64_t total = ends.numel() == 0 ? 0 : ends[-1].item<int64_t>();
  const Tensor index =
      taper::searchsorted(ends, arange(total, counts.options()), false, /*right=*/true);
  return x.index_select(axis, index);
}

// ---- Triangles and diagonals.

namespace {

Tensor triangle(const char* op, const Tensor& self, int64_t diagonal, bool lower) {
  check_defined(op, self, "self");
  TAPER_CHECK(self.dim() >= 2, op, ": input tensor must have at least 2 dimensions, but got shape ",
              self.sizes());
  const Tensor in = row_major(self), out = new_result_like(in, op);
  const int64_t rows = self.size(-2), cols = self.size(-1);
  if (self.numel() > 0) {
    check(kernels_of(in).triangle(out.data_ptr(), in.data_ptr(), in.scalar_type(),
                                  self.numel() / (rows * cols), rows, cols, diagonal, lower,
                                  stream_of(in)),
          op);
  }
  if (recording(self)) {
    record(out, lower ? "TrilBackward0" : "TriuBackward0", inputs(self), saving_nothing(),
           [diagonal, lower](Backward& b) {
             const Tensor& g = b.grad_output();
             b.grad(0) = lower ? g.tril(diagonal) : g.triu(diagonal);
           });
  }
  return out;
}

}  // namespace

Tensor tril(const Tensor& self, int64_t diagonal) { return triangle("tril", self, diagonal, true); }
Tensor triu(const Tensor& self, int64_t diagonal) {
  return triangle("triu", self, diagonal, false);
}

Tensor diag(const Tensor& self, int64_t diagonal) {
  check_defined("diag", self, "self");
  TAPER_CHECK(self.dim() == 1 || self.dim() == 2, "diag(): Supports 1D or 2D tensors. Got ",
              self.dim(), "D");
  return self.dim() == 1 ? self.diag_embed(diagonal) : self.diagonal(diagonal).clone();
}

Tensor diag_embed(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  check_defined("diag_embed", self, "self");
  TAPER_CHECK(self.dim() > 0,
              "diag_embed: expected at least one dimension, but got a 0-dim tensor");
  const int64_t rank = self.dim() + 1;
  const int64_t first = wrap_dim(dim1, rank), second = wrap_dim(dim2, rank);
  TAPER_CHECK(first != second, "diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  int64_t side;
  TAPER_CHECK(offset > INT64_MIN && !__builtin_add_overflow(self.size(-1), std::abs(offset), &side),
              "diag_embed: Storage size calculation overflowed with offset ", offset);
  Dims sizes;
  for (int64_t d = 0, from = 0; d < rank; ++d) {
    sizes.push_back(d == first || d == second ? side : self.size(from++));
  }
  const Tensor out = zeros(sizes, self.options());
  {
    const NoGradGuard quiet;
    copy_values(out.diagonal(offset, first, second), self);
  }
  if (recording(self)) {
    record(out, "DiagEmbedBackward0", inputs(self), saving_nothing(),
           [offset, first, second](Backward& b) {
             b.grad(0) = b.grad_output().diagonal(offset, first, second);
           });
  }
  return out;
}

namespace {

// [..., C r r, H, W] as [..., C, H r, W r]: channels become the pixels of a square.
void check_pixels(const char* op, const Tensor& self, int64_t factor) {
  check_defined(op, self, "self");
  TAPER_CHECK(self.dim() >= 3, op,
              " expects input to have at least 3 dimensions, but got input with ", self.dim(),
              " dimension(s)");
  TAPER_CHECK(factor > 0, op, " expects a positive factor, but got ", factor);
}

}  // namespace

Tensor pixel_shuffle(const Tensor& self, int64_t upscale_factor) {
  const int64_t r = upscale_factor;
  check_pixels("pixel_shuffle", self, r);
  const int64_t channels = self.size(-3), h = self.size(-2), w = self.size(-1);
  TAPER_CHECK(channels % (r * r) == 0,
              "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
              "of upscale_factor, but input.size(-3)=",
              channels, " is not divisible by ", r * r);
  const Tensor squares = self.reshape({-1, channels / (r * r), r, r, h, w});
  Dims sizes(self.sizes());
  const int rank = static_cast<int>(self.dim());
  sizes[rank - 3] = channels / (r * r);
  sizes[rank - 2] = h * r;
  sizes[rank - 1] = w * r;
  return squares.permute({0, 1, 4, 2, 5, 3}).reshape(sizes);
}

Tensor pixel_unshuffle(const Tensor& self, int64_t downscale_factor) {
  const int64_t r = downscale_factor;
  check_pixels("pixel_unshuffle", self, r);
  const int64_t channels = self.size(-3), h = self.size(-2), w = self.size(-1);
  TAPER_CHECK(h % r == 0 && w % r == 0,
              "pixel_unshuffle expects height and width to be divisible by downscale_factor, but "
              "input has size ",
              h, " x ", w, ", and the factor is ", r);
  const Tensor squares = self.reshape({-1, channels, h / r, r, w / r, r});
  Dims sizes(self.sizes());
  const int rank = static_cast<int>(self.dim());
  sizes[rank - 3] = channels * r * r;
  sizes[rank - 2] = h / r;
  sizes[rank - 1] = w / r;
  return squares.permute({0, 1, 3, 5, 2, 4}).reshape(sizes);
}

}  // namespace taper::ops
