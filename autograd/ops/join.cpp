// Several tensors to one: cat and stack with their kin; and to a common shape: broadcast_tensors,
// meshgrid.

#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

void check_list(const char* op, TensorList tensors) {
  TAPER_CHECK(!tensors.empty(), op, ": expected a non-empty list of Tensors");
  for (const Tensor& tensor : tensors) {
    check_defined(op, tensor, "tensors");
    check_same_device(op, tensors[0], tensor);
  }
}

// The part of `out` that starts at `start` along `dim`, with the shape `sizes`, as a plain target.
void copy_part(const Tensor& out, int64_t dim, int64_t start, IntArrayRef sizes,
               IntArrayRef strides, const Tensor& from) {
  const int64_t offset = out.storage_offset() + start * out.stride(dim);
  copy_values(make_view(out, sizes, strides, offset), from);
}

// As NumPy once had it, PyTorch lets a tensor of shape [0] join tensors of any rank.
bool is_skipped(const Tensor& tensor) { return tensor.dim() == 1 && tensor.size(0) == 0; }

}  // namespace

Tensor cat(TensorList tensors, int64_t dim) {
  check_list("torch.cat()", tensors);
  const Tensor* model = nullptr;  // the first that counts
  for (size_t i = 0; i < tensors.size(); ++i) {
    TAPER_CHECK(tensors[i].dim() > 0, "torch.cat(): zero-dimensional tensor (at position ", i,
                ") cannot be concatenated");
    if (!model && !is_skipped(tensors[i])) model = &tensors[i];
  }
  dim = wrap_dim(dim, model ? model->dim() : 1);
  Dims sizes(model ? model->sizes() : tensors[0].sizes());
  int64_t& total = sizes[static_cast<int>(dim)];
  std::vector<int64_t> lengths(tensors.size(), 0);
  total = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (is_skipped(tensor)) continue;
    TAPER_CHECK(tensor.dim() == model->dim(),
                "torch.cat(): Tensors must have same number of dimensions: got ", model->dim(),
                " and ", tensor.dim());
    for (int64_t d = 0; d < tensor.dim(); ++d) {
      TAPER_CHECK(d == dim || tensor.size(d) == model->size(d),
                  "torch.cat(): Sizes of tensors must match except in dimension ", dim,
                  ". Expected size ", model->size(d), " but got size ", tensor.size(d),
                  " for tensor number ", i, " in the list.");
    }
    lengths[i] = tensor.size(dim);
    TAPER_CHECK(!__builtin_add_overflow(total, lengths[i], &total),
                "torch.cat(): Storage size calculation overflowed with tensor number ", i,
                " in the list, of shape ", tensor.sizes());
  }
  const Tensor out = new_result(sizes, result_type_of(tensors), tensors[0].device(), "torch.cat()");
  for (size_t i = 0, start = 0; i < tensors.size(); start += static_cast<size_t>(lengths[i++])) {
    if (tensors[i].numel() == 0) continue;
    copy_part(out, dim, static_cast<int64_t>(start), tensors[i].sizes(), out.strides(), tensors[i]);
  }
  if (recording_any(tensors)) {
    record(out, "CatBackward0", inputs(tensors), saving_nothing(),
           [dim, lengths = std::move(lengths)](Backward& b) {
             const Tensor& g = b.grad_output();
             int64_t start = 0;
             for (int i = 0; i < b.input_count(); ++i) {
               const int64_t length = lengths[static_cast<size_t>(i)];
               // Of what had no elements there is no gradient; it may have had another rank.
               if (b.wants(i) && length > 0) b.grad(i) = g.narrow(dim, start, length);
               start += length;
             }
           });
  }
  return out;
}

Tensor concat(TensorList tensors, int64_t dim) { return taper::cat(tensors, dim); }

Tensor concatenate(TensorList tensors, int64_t dim) { return taper::cat(tensors, dim); }

Tensor stack(TensorList tensors, int64_t dim) {
  check_list("stack", tensors);
  const Tensor& first = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i) {
    TAPER_CHECK(tensors[i].sizes().equals(first.sizes()),
                "stack expects each tensor to be equal size, "
                "but got ",
                first.sizes(), " at entry 0 and ", tensors[i].sizes(), " at entry ", i);
  }
  dim = wrap_dim(dim, first.dim() + 1);
  Dims sizes, part_strides;
  for (int64_t d = 0; d <= first.dim(); ++d) {
    if (d == dim) sizes.push_back(static_cast<int64_t>(tensors.size()));
    if (d < first.dim()) sizes.push_back(first.size(d));
  }
  const Tensor out = new_result(sizes, result_type_of(tensors), first.device(), "stack");
  for (int64_t d = 0; d <= first.dim(); ++d) {
    if (d != dim) part_strides.push_back(out.stride(d));
  }
  for (size_t i = 0; i < tensors.size() && first.numel() > 0; ++i) {
    copy_part(out, dim, static_cast<int64_t>(i), first.sizes(), part_strides, tensors[i]);
  }
  if (recording_any(tensors)) {
    record(out, "StackBackward0", inputs(tensors), saving_nothing(), [dim](Backward& b) {
      const Tensor& g = b.grad_output();
      for (int i = 0; i < b.input_count(); ++i) {
        if (b.wants(i)) b.grad(i) = g.select(dim, i);
      }
    });
  }
  return out;
}

namespace {

// Each tensor with at least `rank` dimensions (1 or 2): a number becomes [1], a vector a row.
std::vector<Tensor> at_least(const char* op, TensorList tensors, int64_t rank) {
  check_list(op, tensors);
  std::vector<Tensor> out;
  for (const Tensor& tensor : tensors) {
    Tensor grown = tensor.dim() == 0 ? tensor.reshape({1}) : tensor;
    if (grown.dim() < rank) grown = grown.unsqueeze(0);
    out.push_back(grown);
  }
  return out;
}

}  // namespace

Tensor hstack(TensorList tensors) {
  const std::vector<Tensor> parts = at_least("hstack", tensors, 1);
  return taper::cat(parts, parts[0].dim() == 1 ? 0 : 1);
}

Tensor vstack(TensorList tensors) { return taper::cat(at_least("vstack", tensors, 2), 0); }

std::vector<Tensor> broadcast_tensors(TensorList tensors) {
  Dims shape;
  for (const Tensor& tensor : tensors) {
    check_defined("broadcast_tensors", tensor, "tensors");
    shape = infer_size(shape, tensor.sizes(), "broadcast_tensors");
  }
  std::vector<Tensor> out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.expand(shape));
  return out;
}

std::vector<Tensor> meshgrid(TensorList tensors, const std::string& indexing) {
  check_list("meshgrid", tensors);
  TAPER_CHECK(indexing == "ij" || indexing == "xy",
              "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but received: ", indexing);
  const int64_t rank = static_cast<int64_t>(tensors.size());
  // "xy" is "ij" with the first two dimensions exchanged.
  const bool swaps = indexing == "xy" && rank >= 2;
  const auto dim_of = [swaps](int64_t i) { return swaps && i < 2 ? 1 - i : i; };
  Dims shape;
  shape.resize(static_cast<int>(rank));
  for (int64_t i = 0; i < rank; ++i) {
    const Tensor& tensor = tensors[static_cast<size_t>(i)];
    TAPER_CHECK(tensor.dim() <= 1,
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ",
                tensor.dim(), "D of shape ", tensor.sizes());
    check_same_dtype("meshgrid", tensors[0], tensor);
    shape[static_cast<int>(dim_of(i))] = tensor.numel();
  }
  std::vector<Tensor> out;
  for (int64_t i = 0; i < rank; ++i) {
    Dims own(std::vector<int64_t>(static_cast<size_t>(rank), 1));
    own[static_cast<int>(dim_of(i))] = tensors[static_cast<size_t>(i)].numel();
    out.push_back(tensors[static_cast<size_t>(i)].reshape(own).expand(shape));
  }
  return out;
}

}  // namespace taper::ops
