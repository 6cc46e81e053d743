// In-place ops and views: how a change through a view becomes part of its base's history.
//
// A view remembers its base and the version at which its own node was made. An in-place op on the
// view gives the base a CopySlices node, which sends the part of the gradient under the view
// through the op and leaves the rest alone. When the view's node is next asked for and the version
// has moved, it is made anew: an as_strided of the base as it is now.

#include "taper/autograd/node.h"
#include "taper/autograd/view.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/core/shape.h"

#include <algorithm>

namespace taper {

bool Tensor::base_requires_grad() const {
  const TensorImpl& self = impl();
  return self.view_version != self.version() && (self.base->requires_grad || self.base->grad_fn);
}

namespace autograd {

namespace {

// The number of each element's place in a buffer that begins at `start`.
Tensor places_of(const Geometry& geometry, int64_t start, int64_t length, Device device) {
  return arange(length, TensorOptions(kLong).device(device))
      .as_strided(geometry.sizes, geometry.strides, geometry.offset - start)
      .reshape({-1});
}

}  // namespace

// A place that the view reaches several times (expanded, or windows that overlap) gets the sum; one
// that the base reaches several times shares its gradient among these positions.
Tensor scatter_strided(const Tensor& grad, const Geometry& base, const Geometry& view) {
  const int64_t start = std::min(base.offset, view.offset);
  const int64_t end = std::max(base.offset + base.extent(), view.offset + view.extent());
  const int64_t offset = view.offset - start;
  Tensor buffer = zeros({end - start}, grad.options());
  // Adding by index is differentiable again, and right where the view overlaps itself.
  if (grad_enabled() || may_overlap_itself(view.sizes, view.strides)) {
    const Tensor places = places_of(view, start, end - start, grad.device());
    buffer = buffer.index_add(0, places, grad.reshape({-1}));
  } else {
    buffer.as_strided(view.sizes, view.strides, offset).copy_(grad);
  }
  if (may_overlap_itself(base.sizes, base.strides)) {
    const Tensor places = places_of(base, start, end - start, grad.device());
    const Tensor once = ones({places.numel()}, grad.options());
    buffer = buffer / zeros({end - start}, grad.options()).index_add_(0, places, once).clamp_min(1);
  }
  return buffer.as_strided(base.sizes, base.strides, base.offset - start);
}

namespace {

// The node of a view whose base has changed: as_strided of the base as it is now.
void renew_view(TensorImpl& view) {
  const Tensor base(TensorImplRef::share(view.base));
  if (view.grad_fn) {
    Node* old = view.grad_fn;
    view.grad_fn = nullptr;
    release(old);
  }
  view.view_version = view.version();
  if (!base.requires_grad()) return;
  const Tensor self(TensorImplRef::share(&view));
  record_view(self, "AsStridedBackward0", inputs(base),
              [base_geometry = Geometry(base.impl()), geometry = Geometry(view)](Backward& b) {
                b.grad(0) = scatter_strided(b.grad_output(), base_geometry, geometry);
              });
}

// Retained gradients and hooks belong to the tensor, not to the node: they move to its new one.
void move_retained(const TensorImpl& impl, Node& to) {
  if (impl.meta && impl.meta->retains_grad) {
    if (impl.grad_fn && impl.grad_fn->extras) {
      std::erase_if(impl.grad_fn->extras->retained,
                    [&](const auto& entry) { return entry.second == impl.meta->grad; });
    }
    extras_of(to).retained.emplace_back(0, impl.meta->grad);
  }
}

void set_history(TensorImpl& impl, Node* node) {
  move_retained(impl, *node);
  Node* old = impl.grad_fn;
  impl.grad_fn = node;
  impl.output_nr = 0;
  impl.requires_grad = false;
  if (old) release(old);
}

// Gradient of the base after an in-place op on a view of it.
struct CopySlices {
  Geometry base, view;

  void operator()(Backward& b) const {
    Node& inner = *b.node().extras->wrapped;
    const Tensor& grad = b.grad_output();
    const int64_t start = view.offset - base.offset;
    Tensor result = empty_strided(base.sizes, base.strides, grad.options());
    result.copy_(grad);
    const Tensor slice = result.as_strided(view.sizes, view.strides, start);
    Tensor inner_out = slice.clone();
    std::vector<Tensor> inner_grads(inner.edge_count);
    {
      Backward inner_backward(inner, &inner_out, inner_grads.data());
      inner.functions->apply(inner, inner_backward);
    }
    // The inner op's input 0 is the view as it was.
    Tensor mutable_slice = slice;
    if (inner.edge_count > 0 && inner_grads[0].defined()) {
      mutable_slice.copy_(inner_grads[0]);
    } else {
      mutable_slice.zero_();
    }
    b.grad(0) = result;
    for (int i = 1; i < b.input_count(); ++i) {
      b.grad(i) = inner_grads[static_cast<size_t>(i)];
    }
  }
};

// The base's new node has the base as input 0 and, after it, what the inner op's node points to.
void rebase_view(Node* inner, TensorImpl& view) {
  const Tensor base(TensorImplRef::share(view.base));
  RefVector refs{std::vector<const Tensor*>(inner->edge_count, nullptr)};
  refs.items[0] = &base;
  Node* node = detail::make_node(inputs(base), "CopySlices", refs, saving_nothing(),
                                 CopySlices{Geometry(base.impl()), Geometry(view)});
  for (uint32_t i = 1; i < inner->edge_count; ++i) {
    const Edge edge = node->edges()[i] = inner->edges()[i];
    if (edge.node) retain(edge.node);
  }
  extras_of(*node).wrapped = inner;
  set_history(base.impl(), node);
  view.view_version = view.version() - 1;  // out of date: its node follows from the base's new one
}

}  // namespace

Edge gradient_edge(const Tensor& tensor) {
  TensorImpl& impl = tensor.impl();
  if (TAPER_UNLIKELY(impl.base && impl.view_version != impl.version())) renew_view(impl);
  if (impl.grad_fn) {
    retain(impl.grad_fn);
    return {impl.grad_fn, impl.output_nr};
  }
  if (!impl.requires_grad) return {};
  Node* accumulator = &meta_of(impl).accumulator;
  retain(accumulator);
  return {accumulator, 0};
}

namespace detail {

void attach_inplace(Node* node, const Tensor& self) {
  TensorImpl& impl = self.impl();
  if (impl.base) {
    rebase_view(node, impl);
  } else {
    set_history(impl, node);
  }
}

}  // namespace detail
}  // namespace autograd
}  // namespace taper
