// x[i], x.index({...}) and x.index_put_({...}, v). Integers, slices, None and "..." are views; what
// tensors and masks are left is handed to index_advanced.cpp.

#include "taper/autograd/ops/indexing.h"

namespace taper {

namespace {

using Kind = TensorIndex::Kind;

bool is_mask(const Tensor& tensor) {
  return tensor.scalar_type() == kBool || tensor.scalar_type() == kByte;
}

void check_index_tensor(const Tensor& tensor) {
  ops::check_defined("index", tensor, "indices");
  TAPER_CHECK_INDEX(
      tensor.scalar_type() == kLong || tensor.scalar_type() == kInt || is_mask(tensor),
      "tensors used as indices must be long, int, byte or bool tensors, but got ",
      tensor.scalar_type());
}

// How many dimensions of self an entry stands for.
int64_t consumed_dims(const TensorIndex& index) {
  switch (index.kind()) {
    case Kind::kInteger:
    case Kind::kSlice:
      return 1;
    case Kind::kTensor:
      check_index_tensor(index.tensor());
      return is_mask(index.tensor()) ? index.tensor().dim() : 1;
    default:
      return 0;
  }
}

Tensor select_position(const Tensor& self, int64_t dim, int64_t index, int64_t real_dim) {
  TAPER_CHECK_INDEX(self.dim() > 0,
                    "invalid index of a 0-dim tensor. Use `tensor.item<T>()` to convert a "
                    "0-dim tensor to a number");
  const int64_t size = self.size(dim);
  TAPER_CHECK_INDEX(index >= -size && index < size, "index ", index,
                    " is out of bounds for dimension ", real_dim, " with size ", size);
  return self.select(dim, index);
}

// The view that the basic entries make, and the dimensions of it that tensors index.
struct Region {
  Tensor view;
  ops::DimIndices at;
  Tensor mask;  ///< set where one mask is the only tensor and covers the leading dimensions
};

class RegionBuilder {
 public:
  RegionBuilder(const Tensor& self, ArrayRef<TensorIndex> indices) : self_(self) {
    ops::check_defined("index", self, "self");
    TAPER_CHECK_INDEX(!indices.empty(),
                      "Passing an empty index list to Tensor::index() is not valid syntax");
    int64_t consumed = 0, tensors = 0;
    for (const TensorIndex& index : indices) {
      consumed += consumed_dims(index);
      tensors += index.kind() == Kind::kTensor || index.kind() == Kind::kBool;
    }
    TAPER_CHECK_INDEX(consumed <= self.dim(), "too many indices for tensor of dimension ",
                      self.dim());
    region_.view = self;
    for (const TensorIndex& index : indices) add(index, self.dim() - consumed, tensors == 1);
  }
  Region finish() && { return std::move(region_); }

 private:
  void add(const TensorIndex& index, int64_t left_over, bool is_only_tensor) {
    Tensor& view = region_.view;
    switch (index.kind()) {
      case Kind::kNone:
        view = view.unsqueeze(dim_++);
        break;
      case Kind::kEllipsis:
        dim_ += left_over;
        real_dim_ += left_over;
        break;
      case Kind::kInteger:
        view = select_position(view, dim_, index.integer(), real_dim_++);
        break;
      case Kind::kSlice: {
        const indexing::Slice& s = index.slice();
        const bool whole = s.start_.value_or(0) == 0 && !s.stop_ && s.step_.value_or(1) == 1;
        if (!whole) view = view.slice(dim_, s.start_, s.stop_, s.step_.value_or(1));
        ++dim_;
        ++real_dim_;
        break;
      }
      case Kind::kBool:
        add_bool(index.boolean());
        break;
      case Kind::kTensor:
        add_tensor(index.tensor(), is_only_tensor);
        break;
    }
  }

  // A new dimension of size 1, of which everything or nothing is taken.
  void add_bool(bool on) {
    region_.view = region_.view.unsqueeze(dim_);
    region_.at.add(dim_++, zeros({on ? 1 : 0}, TensorOptions(kLong).device(self_.device())));
  }

  void add_tensor(const Tensor& given, bool is_only_tensor) {
    Tensor& view = region_.view;
    if (given.dim() == 0 && is_mask(given)) return add_bool(given.item().toBool());
    // One number is a basic index: the result is a view.
    if (given.dim() == 0) {
      view = select_position(view, dim_, given.item().toLong(), real_dim_++);
      return;
    }
    TAPER_CHECK(given.device() == self_.device() || given.is_cpu(),
                "indices should be either on cpu or on the same device as the indexed tensor (",
                self_.device(), "), but got ", given.device());
    if (!is_mask(given)) {
      region_.at.add(dim_++, given.detach().to(self_.device(), kLong));
      ++real_dim_;
      return;
    }
    for (int64_t d = 0; d < given.dim(); ++d) {
      TAPER_CHECK_INDEX(given.size(d) == view.size(dim_ + d), "The shape of the mask ",
                        given.sizes(), " at index ", d,
                        " does not match the shape of the indexed tensor ", self_.sizes(),
                        " at index ", real_dim_ + d);
    }
    const Tensor mask = given.to(self_.device(), kBool);
    if (is_only_tensor && dim_ == 0) {
      region_.mask = mask;
      dim_ += mask.dim();
      real_dim_ += mask.dim();
      return;
    }
    add_mask(mask);
  }

  void add_mask(const Tensor& mask) {
    for (const Tensor& index : mask.nonzero().unbind(1)) region_.at.add(dim_++, index);
    real_dim_ += mask.dim();
  }

  const Tensor& self_;
  Region region_;
  int64_t dim_ = 0;       // of the view
  int64_t real_dim_ = 0;  // of self, for messages
};

// The mask as the positions it selects.
ops::DimIndices positions_of(const Tensor& mask) {
  ops::DimIndices at;
  int64_t dim = 0;
  for (const Tensor& index : mask.nonzero().unbind(1)) at.add(dim++, index);
  return at;
}

// The mask with dimensions of size 1 at its end, to broadcast against a tensor of that rank.
Tensor widen(const Tensor& mask, int64_t rank) {
  Dims sizes(mask.sizes());
  while (sizes.size() < rank) sizes.push_back(1);
  return mask.reshape(sizes);
}

// Leading dimensions of size 1 do not count in an assignment.
Tensor without_leading_ones(const Tensor& values, int64_t rank) {
  int64_t extra = 0;
  while (values.dim() - extra > rank && values.size(extra) == 1) ++extra;
  return extra == 0 ? values : values.reshape(values.sizes().slice(static_cast<size_t>(extra)));
}

}  // namespace

Tensor Tensor::operator[](int64_t index) const { return select_position(*this, 0, index, 0); }

Tensor Tensor::operator[](const Scalar& index) const {
  TAPER_CHECK_INDEX(index.isIntegral(false), "Can only index tensors with integral scalars");
  return (*this)[index.toLong()];
}

Tensor Tensor::operator[](const Tensor& index) const {
  TAPER_CHECK_INDEX(index.defined(), "Can only index with tensors that are defined");
  TAPER_CHECK_INDEX(
      index.dim() == 0,
      "Can only index with tensors that are scalars (zero-dim). Use index({...}) for others");
  return (*this)[index.item()];
}

Tensor Tensor::index(ArrayRef<TensorIndex> indices) const {
  const Region region = RegionBuilder(*this, indices).finish();
  if (region.mask.defined()) {
    if (region.mask.dim() == region.view.dim()) return region.view.masked_select(region.mask);
    return ops::index_get(region.view, positions_of(region.mask));
  }
  if (!region.at.empty()) return ops::index_get(region.view, region.at);
  return region.view.is_same(*this) ? view(sizes()) : region.view;
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Tensor& given, bool accumulate) {
  ops::check_defined("index_put_", given, "values");
  Region region = RegionBuilder(*this, indices).finish();
  if (!region.mask.defined() && region.at.empty()) {
    const Tensor source = without_leading_ones(given, region.view.dim());
    accumulate ? region.view.add_(source) : region.view.copy_(source);
    return *this;
  }
  // A copy comes from any device; through index tensors only a single number does.
  const Tensor values = given.numel() == 1 ? given.to(device()) : given;
  ops::check_same_device("index_put_", *this, values);
  if (region.mask.defined()) {
    if (!accumulate && values.dim() == 0 && values.scalar_type() == scalar_type()) {
      region.view.masked_fill_(widen(region.mask, region.view.dim()), values);
      return *this;
    }
    region.at = positions_of(region.mask);
  }
  // The rank of what is written: indexed dimensions give way to those of the indices.
  int64_t index_rank = 0;
  for (const Tensor& index : region.at.indices) index_rank = std::max(index_rank, index.dim());
  const int64_t rank = region.view.dim() - static_cast<int64_t>(region.at.dims.size()) + index_rank;
  const Tensor source = without_leading_ones(values, rank);
  ops::index_put(region.view, region.at, source, accumulate);
  return *this;
}

Tensor Tensor::index_put(ArrayRef<TensorIndex> indices, const Tensor& values,
                         bool accumulate) const {
  Tensor out = clone();
  return out.index_put_(indices, values, accumulate);
}

Tensor index_put(const Tensor& self, ArrayRef<TensorIndex> indices, const Tensor& values,
                 bool accumulate) {
  return self.index_put(indices, values, accumulate);
}

Tensor& Tensor::index_put_(ArrayRef<TensorIndex> indices, const Scalar& value) {
  Region region = RegionBuilder(*this, indices).finish();
  if (region.mask.defined()) {
    region.view.masked_fill_(widen(region.mask, region.view.dim()), value);
  } else if (region.at.empty()) {
    region.view.fill_(value);
  } else {
    ops::index_put(region.view, region.at, full({}, value, options()));
  }
  return *this;
}

}  // namespace taper
