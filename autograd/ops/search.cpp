// Counting and finding: bincount, unique, searchsorted. No gradients here.

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, int64_t minlength) {
  check_defined("bincount", self, "self");
  TAPER_CHECK_TYPE(is_integral(self.scalar_type(), false),
                   "bincount only supports integral inputs, but got ", self.scalar_type());
  TAPER_CHECK(minlength >= 0, "minlength should be >= 0, but got ", minlength);
  TAPER_CHECK(self.dim() == 1 && (self.numel() == 0 || self.min().item<int64_t>() >= 0),
              "bincount only supports 1-d non-negative integral inputs.");
  if (weights) {
    check_same_device("bincount", self, *weights);
    TAPER_CHECK(weights->sizes().equals(self.sizes()),
                "weights should be 1-d and have the same length as input, but got ",
                weights->sizes(), " and ", self.sizes());
  }
  int64_t bins = minlength;
  if (self.numel() > 0) {
    const int64_t largest = self.max().item<int64_t>();
    TAPER_CHECK(largest < INT64_MAX,
                "bincount: Storage size calculation overflowed: the largest "
                "value is ",
                largest);
    bins = std::max(bins, largest + 1);
  }
  const ScalarType dtype = !weights || self.numel() == 0      ? kLong
                           : weights->scalar_type() == kFloat ? kFloat
                                                              : kDouble;
  const Tensor out = zeros({bins}, TensorOptions(dtype).device(self.device()));
  if (self.numel() == 0) return out;
  const Tensor in = row_major(cast(self, kLong));
  const Tensor weight = weights ? row_major(*weights) : Tensor();
  check(kernels_of(in).bincount(
            out.data_ptr(), in.data_ptr<int64_t>(), weights ? weight.data_ptr() : nullptr,
            weights ? weight.scalar_type() : kLong, in.numel(), bins, stream_of(in, "bincount")),
        "bincount");
  return out;
}

// Sorted, equal values stand together: each run of them is one unique value.
TensorTriple _unique2(const Tensor& self, bool, bool return_inverse, bool return_counts) {
  check_defined("_unique2", self, "self");
  const NoGradGuard quiet;
  const TensorOptions positions = TensorOptions(kLong).device(self.device());
  const Tensor flat = self.reshape({-1});
  const int64_t n = flat.numel();
  Tensor inverse = empty({0}, positions), counts = empty({0}, positions);
  if (n == 0) {
    return {flat.clone(), return_inverse ? zeros(self.sizes(), positions) : inverse, counts};
  }
  const auto [values, order] = flat.sort(/*stable=*/std::optional<bool>(true), 0);
  const Tensor changes = values.narrow(0, 1, n - 1).ne(values.narrow(0, 0, n - 1));
  const Tensor starts = taper::cat({ones({1}, changes.options()), changes});
  if (return_inverse) {
    inverse = empty({n}, positions).scatter_(0, order, starts.cumsum(0) - 1).reshape(self.sizes());
  }
  if (return_counts) {
    const Tensor first = starts.nonzero().reshape({-1});
    const Tensor end = full({1}, n, positions);
    counts = taper::cat({first.narrow(0, 1, first.numel() - 1), end}) - first;
  }
  return {values.masked_select(starts), inverse, counts};
}

// Binary search for all values at once: every step halves the interval of each.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right) {
  check_defined("searchsorted", sorted_sequence, "sorted_sequence");
  check_defined("searchsorted", self, "self");
  check_same_device("searchsorted", sorted_sequence, self);
  TAPER_CHECK(
      sorted_sequence.scalar_type() == self.scalar_type(),
      "torch.searchsorted(): boundary tensor and input value tensor should have same dtype, but "
      "got boundary tensor dtype ",
      sorted_sequence.scalar_type(), " and input value tensor dtype ", self.scalar_type());
  const int64_t rank = sorted_sequence.dim();
  bool fits = rank == 1 || (rank > 1 && rank == self.dim());
  for (int64_t d = 0; fits && rank > 1 && d + 1 < rank; ++d) {
    fits = sorted_sequence.size(d) == self.size(d);
  }
  TAPER_CHECK(
      fits,
      "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
      "dimensions of boundaries tensor and input value tensor must match, but we got boundaries "
      "tensor ",
      sorted_sequence.sizes(), " and input value tensor ", self.sizes());
  const NoGradGuard quiet;
  const int64_t length = sorted_sequence.size(-1);
  const TensorOptions positions = TensorOptions(kLong).device(self.device());
  Tensor low = zeros(self.sizes(), positions), high = full(self.sizes(), length, positions);
  for (int64_t left = length; left > 0; left /= 2) {
    const Tensor middle = (low + high).bitwise_right_shift(1);
    // Where the search is over, middle may be one past the end.
    const Tensor at = middle.clamp_max(length - 1);
    const Tensor found = rank == 1 ? sorted_sequence.take(at) : sorted_sequence.gather(-1, at);
    // Not "less": a NaN among the values then counts as the largest.
    const Tensor before = (right ? found.gt(self) : found.ge(self)).logical_not();
    const Tensor open = low.lt(high);
    low = taper::where(open.logical_and(before), middle + 1, low);
    high = taper::where(open.logical_and(before.logical_not()), middle, high);
  }
  return out_int32 ? low.to(kInt) : low;
}

}  // namespace taper::ops
