// Indexing by tensors: where the results go, the kernel's walk over them, and the gradients.

#include <algorithm>

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/indexing.h"

namespace taper::ops {

namespace {

using kernels::AdvancedIndexArgs;
using kernels::kMaxRank;

// One of the kernel's places goes to the order in which it walks.
constexpr int kMaxIndices = kernels::kMaxIndexTensors - 1;

std::string shapes_of(const std::vector<Tensor>& tensors) {
  taper::detail::MessageBuilder text;
  for (size_t k = 0; k < tensors.size(); ++k) text << (k ? ", " : "") << tensors[k].sizes();
  return text.take();
}

Dims common_shape(const std::vector<Tensor>& indices) {
  Dims shape(indices[0].sizes());
  for (const Tensor& index : indices) {
    for (int d = 1; d <= std::min<int>(shape.size(), static_cast<int>(index.dim())); ++d) {
      const int64_t a = shape[shape.size() - d], b = index.size(-d);
      TAPER_CHECK_INDEX(a == b || a == 1 || b == 1,
                        "shape mismatch: indexing tensors could not be "
                        "broadcast together with shapes ",
                        shapes_of(indices));
    }
    shape = infer_size(shape, index.sizes(), "index");
  }
  return shape;
}

// The shape of the result, and what each of its dimensions is: a dimension of self, or one of the
// indices.
struct Arrangement {
  Dims index_shape;
  Dims sizes;
  int64_t index_start;  ///< where index_shape stands in `sizes`
  Dims self_strides;    ///< per dimension of the result; 0 for those of the indices

  Arrangement(IntArrayRef self_sizes, IntArrayRef strides, const DimIndices& at)
      : index_shape(common_shape(at.indices)) {
    const size_t count = at.dims.size();
    const bool neighbours = at.dims[count - 1] - at.dims[0] == static_cast<int64_t>(count) - 1;
    index_start = neighbours ? at.dims[0] : 0;
    const auto put_indices = [&] {
      for (const int64_t size : index_shape) {
        sizes.push_back(size);
        self_strides.push_back(0);
      }
    };
    if (!neighbours) put_indices();
    size_t next = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(self_sizes.size()); ++d) {
      if (next < count && at.dims[next] == d) {
        if (neighbours && next == 0) put_indices();
        ++next;
        continue;
      }
      sizes.push_back(self_sizes[d]);
      self_strides.push_back(strides[d]);
    }
    checked_numel(sizes, "index");
  }
};

// `values` broadcasts to the arrangement's shape.
AdvancedIndexArgs make_args(const Tensor& self, const DimIndices& at, const Arrangement& shape,
                            const Tensor& values) {
  const int rank = shape.sizes.size();
  AdvancedIndexArgs args;
  args.dtype = self.scalar_type();
  args.self = self.data_ptr();
  args.values = values.data_ptr();
  args.count = static_cast<int32_t>(at.dims.size());

  // The plan walks in the order of its operand 0: a row-major result, also where values are
  // stretched.
  const Dims order = contiguous_strides(shape.sizes);
  const Dims value_strides = expanded_strides(values.sizes(), values.strides(), shape.sizes);
  int64_t index_strides[kMaxIndices][kMaxRank] = {};
  const int64_t* strides[3 + kMaxIndices] = {order.data(), value_strides.data(),
                                             shape.self_strides.data()};
  for (int k = 0; k < kMaxIndices; ++k) {
    strides[3 + k] = index_strides[k];
    if (k >= args.count) continue;
    const Tensor& index = at.indices[static_cast<size_t>(k)];
    const int64_t dim = at.dims[static_cast<size_t>(k)];
    const Dims own = expanded_strides(index.sizes(), index.strides(), shape.index_shape);
    std::copy(own.begin(), own.end(), index_strides[k] + shape.index_start);
    args.indices[k] = index.data_ptr<int64_t>();
    args.self_sizes[k] = self.size(dim);
    args.self_strides[k] = self.stride(dim);
  }
  kernels::ElementwisePlan<2 + kMaxIndices> plan;
  kernels::make_elementwise_plan<2 + kMaxIndices>(plan, rank, shape.sizes.data(), strides);
  args.plan.numel = plan.numel;
  args.plan.rank = plan.rank;
  args.plan.contiguous = false;
  std::copy_n(plan.sizes, plan.rank, args.plan.sizes);
  for (int k = 0; k < 2; ++k) std::copy_n(plan.strides[1 + k], plan.rank, args.plan.strides[k]);
  for (int k = 0; k < args.count; ++k) {
    std::copy_n(plan.strides[3 + k], plan.rank, args.index_strides[k]);
  }
  return args;
}

void check_count(const DimIndices& at) {
  TAPER_CHECK_INDEX(at.dims.size() <= kMaxIndices, "index: at most ", kMaxIndices,
                    " dimensions can be indexed by tensors at once, but got ", at.dims.size());
}

void check_values(IntArrayRef wanted, const Tensor& values) {
  TAPER_CHECK(is_expandable_to(values.sizes(), wanted), "shape mismatch: value tensor of shape ",
              values.sizes(), " cannot be broadcast to indexing result of shape ", wanted);
}

DimIndices saved_indices(Backward& b, const std::vector<int64_t>& dims) {
  DimIndices at;
  for (size_t k = 0; k < dims.size(); ++k) at.add(dims[k], b.saved(static_cast<int>(k)));
  return at;
}

// Among several indexed dimensions the kernel does not say which: the first that holds the value.
void check_indexed(const kernels::Status& status, const char* op, const DimIndices& at,
                   IntArrayRef sizes) {
  if (TAPER_LIKELY(status.ok())) return;
  int64_t dim = at.dims[0];
  if (status.code == kernels::Code::kIndexOutOfRange) {
    const NoGradGuard quiet;
    for (size_t k = at.dims.size(); k-- > 0;) {
      const bool fits = sizes[static_cast<size_t>(at.dims[k])] == status.limit;
      if (fits && at.indices[k].eq(status.value).any().item<bool>()) dim = at.dims[k];
    }
  }
  check_along(status, op, dim);
}

}  // namespace

Tensor index_get(const Tensor& self, const DimIndices& at, const char* op) {
  check_count(at);
  const Arrangement shape(self.sizes(), self.strides(), at);
  const Tensor out = new_result(shape.sizes, self.scalar_type(), self.device(), op);
  check_indexed(kernels_of(self).index_get(make_args(self, at, shape, out), stream_of(self, op)),
                op, at, self.sizes());
  if (recording(self)) {
    record(out, "IndexBackward0", inputs(self), saving(TensorList(at.indices)),
           [sizes = Dims(self.sizes()), dims = at.dims](Backward& b) {
             b.grad(0) = index_scatter(sizes, saved_indices(b, dims), b.grad_output());
           });
  }
  return out;
}

Tensor index_scatter(IntArrayRef sizes, const DimIndices& at, const Tensor& values) {
  check_count(at);
  const Tensor out = zeros(sizes, values.options());
  const Arrangement shape(sizes, out.strides(), at);
  check_values(shape.sizes, values);
  check_indexed(kernels_of(out).index_put(make_args(out, at, shape, values), true,
                                          stream_of(out, "index_put_")),
                "index_put_", at, sizes);
  if (recording(values)) {
    record(out, "IndexScatterBackward0", inputs(values), saving(TensorList(at.indices)),
           [dims = at.dims](Backward& b) {
             b.grad(0) = index_get(b.grad_output(), saved_indices(b, dims));
           });
  }
  return out;
}

void index_put(Tensor& self, const DimIndices& at, const Tensor& values, bool accumulate,
               const char* op) {
  check_count(at);
  TAPER_CHECK_INDEX(self.scalar_type() == values.scalar_type(),
                    "Index put requires the source and destination dtypes match, got ",
                    self.scalar_type(), " for the destination and ", values.scalar_type(),
                    " for the source.");
  if (accumulate) {
    self.add_(index_scatter(self.sizes(), at, values));
    return;
  }
  const Arrangement shape(self.sizes(), self.strides(), at);
  check_values(shape.sizes, values);
  // What is read may not change under the writing.
  DimIndices own = at;
  for (Tensor& index : own.indices) {
    if (index.is_alias_of(self)) index = index.detach().clone();
  }
  const Tensor source = values.is_alias_of(self) ? values.detach().clone() : values;
  begin_inplace(op, self);
  check_indexed(
      kernels_of(self).index_put(make_args(self, own, shape, source), false, stream_of(self, op)),
      op, own, self.sizes());
  finish_write(self);
  if (recording(self, values)) {
    record_inplace(self, "IndexPutBackward0", inputs(self, values), saving(TensorList(own.indices)),
                   [dims = at.dims](Backward& b) {
                     const DimIndices at = saved_indices(b, dims);
                     const Tensor& g = b.grad_output();
                     if (b.wants(0)) {
                       Tensor rest = g.clone();
                       index_put(rest, at, zeros({}, g.options()));
                       b.grad(0) = rest;
                     }
                     if (b.wants(1)) b.grad(1) = index_get(g, at);
                   });
  }
}

}  // namespace taper::ops
