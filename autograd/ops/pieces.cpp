// A tensor in pieces: split, chunk, unbind. The pieces are views that share one node; PyTorch does
// not let such views be changed in place where gradients are recorded.

#include <algorithm>
#include <limits>

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

using Join = Tensor (*)(TensorList, int64_t);

// A node has at most so many outputs; more pieces than that have a node each.
bool too_many(const Tensor& self, size_t pieces) {
  return pieces > std::numeric_limits<uint16_t>::max() && recording(self);
}

// Records the pieces as outputs of one node, whose gradient puts theirs together again.
void record_pieces(const char* name, const Tensor& self, const std::vector<Tensor>& pieces,
                   int64_t dim, Join join) {
  for (const Tensor& piece : pieces) piece.impl().view_of_many = true;
  if (!recording(self) || pieces.empty() || too_many(self, pieces.size())) return;
  record_views(pieces, name, inputs(self), [dim, join](Backward& b) {
    std::vector<Tensor> grads;
    for (int i = 0; i < b.output_count(); ++i) grads.push_back(b.grad_output(i));
    b.grad(0) = join(grads, dim);
  });
}

// The pieces of self along `dim` with these lengths, from the first element on.
std::vector<Tensor> cut(const char* name, const Tensor& self, IntArrayRef lengths, int64_t dim) {
  dim = wrap_dim(dim, self.dim());
  std::vector<Tensor> pieces;
  Dims sizes(self.sizes());
  int64_t start = 0;
  for (const int64_t length : lengths) {
    if (too_many(self, lengths.size())) {
      pieces.push_back(self.slice(dim, start, start + length));
    } else {
      const int64_t offset = self.storage_offset() + start * self.stride(dim);
      sizes[static_cast<int>(dim)] = length;
      pieces.push_back(make_view(self, sizes, self.strides(), offset));
    }
    start += length;
  }
  record_pieces(name, self, pieces, dim, taper::cat);
  return pieces;
}

}  // namespace

std::vector<Tensor> split_with_sizes(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  TAPER_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  const int64_t length = self.size(dim);
  int64_t total = 0;
  bool overflow = false;
  for (const int64_t size : split_sizes) {
    TAPER_CHECK(size >= 0,
                "split_with_sizes expects split_sizes have only non-negative entries, but "
                "got split_sizes=",
                split_sizes);
    overflow |= __builtin_add_overflow(total, size, &total);
  }
  TAPER_CHECK(!overflow && total == length,
              "split_with_sizes expects split_sizes to sum exactly to ", length,
              " (input tensor's size at dimension ", dim, "), but got split_sizes=", split_sizes);
  return cut("SplitWithSizesBackward0", self, split_sizes, dim);
}

std::vector<Tensor> split(const Tensor& self, IntArrayRef split_sizes, int64_t dim) {
  return self.split_with_sizes(split_sizes, dim);
}

std::vector<Tensor> split(const Tensor& self, int64_t split_size, int64_t dim) {
  TAPER_CHECK(self.dim() != 0, "split expects at least a 1-dimensional tensor");
  TAPER_CHECK(split_size >= 0,
              "split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t length = self.size(dim);
  TAPER_CHECK(split_size > 0 || length == 0,
              "split_size can only be 0 if dimension size is 0, but got dimension size of ",
              length);
  std::vector<int64_t> lengths;
  for (int64_t left = length; left > 0; left -= lengths.back()) {
    lengths.push_back(std::min(left, split_size));
  }
  if (length == 0) lengths.push_back(0);
  return cut("SplitBackward0", self, lengths, dim);
}

std::vector<Tensor> chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TAPER_CHECK(self.dim() > 0, "chunk expects at least a 1-dimensional tensor");
  TAPER_CHECK(chunks > 0, "chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t length = self.size(dim);
  const int64_t size = length / chunks + (length % chunks != 0);
  if (size == 0) {
    return self.split_with_sizes(std::vector<int64_t>(static_cast<size_t>(chunks), 0), dim);
  }
  return self.split(size, dim);
}

std::vector<Tensor> tensor_split(const Tensor& self, int64_t sections, int64_t dim) {
  TAPER_CHECK(self.dim() > 0,
              "tensor_split expected at least a 1-dimensional tensor, but got a tensor "
              "with 0 dims");
  TAPER_CHECK(sections > 0, "number of sections must be larger than 0, got ", sections);
  // Slices one by one, as in PyTorch: these may be changed in place.
  const int64_t length = self.size(dim);
  std::vector<Tensor> pieces;
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t size = length / sections + (i < length % sections ? 1 : 0);
    pieces.push_back(self.slice(dim, start, start + size));
    start += size;
  }
  return pieces;
}

std::vector<Tensor> unbind(const Tensor& self, int64_t dim) {
  TAPER_CHECK(self.dim() > 0, "unbind() cannot be applied to a 0-dim tensor.");
  dim = wrap_dim(dim, self.dim());
  Dims sizes, strides;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (d == dim) continue;
    sizes.push_back(self.size(d));
    strides.push_back(self.stride(d));
  }
  std::vector<Tensor> pieces;
  const int64_t count = self.size(dim);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t offset = self.storage_offset() + i * self.stride(dim);
    pieces.push_back(too_many(self, static_cast<size_t>(count))
                         ? self.select(dim, i)
                         : make_view(self, sizes, strides, offset));
  }
  record_pieces("UnbindBackward0", self, pieces, dim, taper::stack);
  return pieces;
}

}  // namespace taper::ops
