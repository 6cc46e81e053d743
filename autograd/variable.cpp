// What a Tensor knows of the tape: its methods about history and gradients.

#include "taper/autograd/autograd.h"
#include "taper/autograd/node.h"
#include "taper/core/thread_state.h"

namespace taper {

using autograd::AutogradMeta;
using autograd::meta_of;
using autograd::Node;

GradFn::GradFn(autograd::Node* shared) : node_(shared) {
  if (node_) autograd::retain(node_);
}
GradFn::GradFn(const GradFn& other) : GradFn(other.node_) {}
GradFn& GradFn::operator=(const GradFn& other) {
  if (other.node_) autograd::retain(other.node_);
  if (node_) autograd::release(node_);
  node_ = other.node_;
  return *this;
}
GradFn::~GradFn() {
  if (node_) autograd::release(node_);
}
std::string GradFn::name() const {
  TAPER_CHECK(node_, "name: this tensor has no grad_fn");
  return node_->name;
}
std::vector<GradFn> GradFn::next_functions() const {
  TAPER_CHECK(node_, "next_functions: this tensor has no grad_fn");
  std::vector<GradFn> next;
  for (uint32_t i = 0; i < node_->edge_count; ++i) next.emplace_back(node_->edges()[i].node);
  return next;
}

const Tensor& Tensor::set_requires_grad(bool on) const {
  TensorImpl& self = impl();
  TAPER_CHECK(!on || is_floating_point(),
              "Only Tensors of floating point and complex dtype can require gradients, but got ",
              self.dtype);
  TAPER_CHECK(
      !on || !self.is_inference,
      "Setting requires_grad=true on inference tensor outside InferenceMode is not allowed.");
  TAPER_CHECK(on || is_leaf(),
              "you can only change requires_grad flags of leaf variables. If you want to use a "
              "computed variable in a subgraph that doesn't require differentiation use "
              "var_no_grad = var.detach().");
  if (is_leaf()) self.requires_grad = on;
  return *this;
}

uint32_t Tensor::_version() const {
  TAPER_CHECK(!is_inference(), "Inference tensors do not track version counter.");
  return impl().version();
}

GradFn Tensor::grad_fn() const {
  const autograd::Edge edge = autograd::gradient_edge(*this);
  GradFn out(edge.node && !edge.node->is_accumulator ? edge.node : nullptr);
  if (edge.node) autograd::release(edge.node);
  return out;
}

const Tensor& Tensor::grad() const {
  static const Tensor undefined;
  const AutogradMeta* meta = __atomic_load_n(&impl().meta, __ATOMIC_ACQUIRE);
  return meta && meta->grad ? *meta->grad : undefined;
}

Tensor& Tensor::mutable_grad() const {
  AutogradMeta& meta = meta_of(impl());
  if (!meta.grad) meta.grad = std::make_shared<Tensor>();
  return *meta.grad;
}

void Tensor::retain_grad() const {
  TAPER_CHECK(requires_grad(), "can't retain_grad on Tensor that has requires_grad=false");
  if (is_leaf()) return;
  AutogradMeta& meta = meta_of(impl());
  if (meta.retains_grad) return;
  meta.retains_grad = true;
  if (!meta.grad) meta.grad = std::make_shared<Tensor>();
  const autograd::Edge edge = autograd::gradient_edge(*this);
  autograd::extras_of(*edge.node).retained.emplace_back(edge.index, meta.grad);
  autograd::release(edge.node);
}

bool Tensor::retains_grad() const {
  const AutogradMeta* meta = impl().meta;
  return meta && meta->retains_grad;
}

unsigned Tensor::add_hook(std::function<Tensor(const Tensor&)> hook) const {
  TAPER_CHECK(requires_grad(), "cannot register a hook on a tensor that doesn't require gradient");
  const autograd::Edge edge = autograd::gradient_edge(*this);
  std::vector<autograd::Hook>& hooks = autograd::extras_of(*edge.node).hooks;
  const unsigned id = hooks.empty() ? 0 : hooks.back().id + 1;
  hooks.push_back({edge.index, id, std::move(hook)});
  autograd::release(edge.node);
  return id;
}

void Tensor::remove_hook(unsigned position) const {
  const autograd::Edge edge = autograd::gradient_edge(*this);
  TAPER_CHECK(edge.node, "remove_hook: this tensor has no hooks");
  auto& hooks = autograd::extras_of(*edge.node).hooks;
  std::erase_if(hooks, [&](const autograd::Hook& hook) {
    return hook.id == position && hook.output == edge.index;
  });
  autograd::release(edge.node);
}

Tensor Tensor::detach() const { return Tensor(autograd::alias_impl(impl())); }

Tensor Tensor::variable_data() const {
  Tensor out = detach();
  TensorImpl& alias = out.impl();
  autograd::release(alias.version_override);
  alias.version_override = new VersionCounter;
  return out;
}

Tensor& Tensor::detach_() {
  TensorImpl& self = impl();
  TAPER_CHECK(!self.base, "Can't detach views in-place. Use detach() instead.");
  if (self.grad_fn) {
    Node* node = self.grad_fn;
    self.grad_fn = nullptr;
    self.output_nr = 0;
    autograd::release(node);
  }
  self.requires_grad = false;
  return *this;
}

void Tensor::set_data(const Tensor& new_data) const {
  TensorImpl& self = impl();
  const TensorImpl& from = new_data.impl();
  TAPER_CHECK(!self.requires_grad || taper::is_floating_point(from.dtype),
              "set_data: a tensor that requires grad cannot take data of dtype ", from.dtype);
  // The version counter stays with this tensor: what was saved before is still told from what is
  // now.
  if (!self.version_override) self.version_override = new VersionCounter{1, self.version()};
  self.dtype = from.dtype;
  self.storage = from.storage;
  self.offset = from.offset;
  self.set_geometry(from.sizes, from.strides);
}

}  // namespace taper
