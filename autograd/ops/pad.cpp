// Padding: with a number, by reflection, by repeating the edge. Pads are given from the last
// dimension on, as (before, after) pairs; negative ones crop.

#include <algorithm>

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/op.h"

namespace taper::ops {

Tensor constant_pad_nd(const Tensor& self, IntArrayRef pad, const Scalar& value) {
  check_defined("constant_pad_nd", self, "self");
  const int64_t rank = self.dim(), pairs = static_cast<int64_t>(pad.size()) / 2;
  TAPER_CHECK(pad.size() % 2 == 0, "Length of pad must be even but instead it equals ", pad.size());
  TAPER_CHECK(pairs <= rank,
              "Length of pad should be no more than twice the number of dimensions of the "
              "input. Pad length is ",
              pad.size(), " while the input has ", rank, " dimensions.");
  Dims sizes(self.sizes());
  for (int64_t i = 0; i < pairs; ++i) {
    int64_t& size = sizes[static_cast<int>(rank - 1 - i)];
    const int64_t before = pad[static_cast<size_t>(2 * i)],
                  after = pad[static_cast<size_t>(2 * i + 1)];
    int64_t padded;
    TAPER_CHECK(!__builtin_add_overflow(before, after, &padded) &&
                    !__builtin_add_overflow(size, padded, &padded),
                "constant_pad_nd: Storage size calculation overflowed with padding ", before,
                " and ", after, " of size ", size);
    TAPER_CHECK(padded >= 0, "The input size ", size, ", plus negative padding ", before, " and ",
                after, ", resulted in a negative output size, which is invalid. Check dimension ",
                rank - 1 - i, " of your input.");
    size = padded;
  }
  const Tensor out = full(sizes, value, self.options());
  {
    const NoGradGuard quiet;
    Tensor from = self.detach(), to = out;
    for (int64_t i = 0; i < pairs; ++i) {
      const int64_t d = rank - 1 - i;
      const int64_t before = pad[static_cast<size_t>(2 * i)],
                    after = pad[static_cast<size_t>(2 * i + 1)];
      const int64_t kept = std::max<int64_t>(
          0, self.size(d) + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
      from = from.narrow(d, std::min(self.size(d) - kept, std::max<int64_t>(0, -before)), kept);
      to = to.narrow(d, std::min(sizes[static_cast<int>(d)] - kept, std::max<int64_t>(0, before)),
                     kept);
    }
    copy_values(to, from);
  }
  if (recording(self)) {
    std::vector<int64_t> back = pad.vec();
    for (int64_t& amount : back) amount = -amount;
    record(out, "ConstantPadNdBackward0", inputs(self), saving_nothing(),
           [back = std::move(back)](Backward& b) {
             b.grad(0) = taper::constant_pad_nd(b.grad_output(), back, 0);
           });
  }
  return out;
}

namespace {

enum class Edge { kReflect, kReplicate };

int64_t source_position(Edge edge, int64_t i, int64_t size) {
  if (edge == Edge::kReplicate) return std::clamp<int64_t>(i, 0, size - 1);
  const int64_t inside = i < 0 ? -i : i;
  return inside < size ? inside : 2 * (size - 1) - inside;
}

// Pads the last `count` dimensions, each by picking positions along it.
Tensor pad_edges(const char* op, Edge edge, const Tensor& self, IntArrayRef padding, int count) {
  check_defined(op, self, "self");
  TAPER_CHECK(static_cast<int>(padding.size()) == 2 * count, op,
              ": padding size is expected to be ", 2 * count, ", but got: ", padding.size());
  TAPER_CHECK(self.dim() == count + 1 || self.dim() == count + 2, op, ": Expected ", count + 1,
              "D or ", count + 2, "D input tensor, but got shape ", self.sizes());
  Tensor out = self;
  for (int i = 0; i < count; ++i) {
    const int64_t dim = self.dim() - 1 - i, size = self.size(dim);
    const int64_t before = padding[static_cast<size_t>(2 * i)];
    const int64_t after = padding[static_cast<size_t>(2 * i + 1)];
    TAPER_CHECK(size > 0, op, ": Expected non-zero size for dimension ", dim, " of input ",
                self.sizes());
    TAPER_CHECK(
        edge != Edge::kReflect || (before < size && after < size),
        "Argument #4: Padding size should be less than the corresponding input dimension, but got: "
        "padding (",
        before, ", ", after, ") at dimension ", dim, " of input ", self.sizes(), " (", op, ")");
    int64_t length;
    TAPER_CHECK(!__builtin_add_overflow(before, after, &length) &&
                    !__builtin_add_overflow(size, length, &length),
                op, ": Storage size calculation overflowed with padding ", before, " and ", after);
    TAPER_CHECK(length >= 1, op, ": input size ", size, " with padding (", before, ", ", after,
                ") is too small. Calculated output size: ", length);
    if (before == 0 && after == 0) continue;
    std::vector<int64_t> positions;
    for (int64_t o = 0; o < length; ++o) {
      positions.push_back(source_position(edge, o - before, size));
    }
    const Tensor index = tensor(positions, TensorOptions(kLong).device(self.device()));
    out = out.index_select(dim, index);
  }
  return out.is_same(self) ? self.clone() : out;
}

}  // namespace

Tensor reflection_pad1d(const Tensor& self, IntArrayRef padding) {
  return pad_edges("reflection_pad1d", Edge::kReflect, self, padding, 1);
}
Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad_edges("reflection_pad2d", Edge::kReflect, self, padding, 2);
}
Tensor replication_pad1d(const Tensor& self, IntArrayRef padding) {
  return pad_edges("replication_pad1d", Edge::kReplicate, self, padding, 1);
}
Tensor replication_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad_edges("replication_pad2d", Edge::kReplicate, self, padding, 2);
}

}  // namespace taper::ops
