#include "taper/autograd/function.h"

#include <algorithm>

#include "taper/autograd/node.h"
#include "taper/core/demangle.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"

namespace taper::autograd {

AutogradContext::AutogradContext() = default;
AutogradContext::~AutogradContext() = default;

variable_list AutogradContext::get_saved_variables() const {
  if (!node_) return to_save_;
  variable_list saved;
  for (int i = 0; i < static_cast<int>(node_->saved_count); ++i) saved.push_back(unpack(*node_, i));
  return saved;
}

void AutogradContext::mark_dirty(const variable_list& inputs) {
  dirty_.clear();
  for (const Tensor& input : inputs) dirty_.insert(&input.impl());
}

void AutogradContext::mark_non_differentiable(const variable_list& outputs) {
  non_differentiable_.clear();
  for (const Tensor& output : outputs) non_differentiable_.insert(&output.impl());
}

bool AutogradContext::needs_input_grad(size_t i) const {
  TAPER_CHECK(node_, "needs_input_grad: only known in backward");
  TAPER_CHECK_INDEX(i < node_->edge_count, "needs_input_grad: ", node_->name, " has ",
                    static_cast<int>(node_->edge_count), " tensors as inputs, there is no number ",
                    i);
  return node_->edges()[i].node != nullptr;
}

namespace detail {

FunctionCall::FunctionCall(const char* name, Rule rule)
    : name(name), rule(rule), context(std::make_shared<AutogradContext>()) {}
FunctionCall::~FunctionCall() = default;

std::string function_name(const char* mangled) {
  std::string name = taper::detail::demangled(mangled);
  // The class alone: a template's arguments may have colons of their own.
  const size_t arguments = name.find('<');
  const size_t colon = name.rfind("::", arguments);
  if (colon != std::string::npos) name.erase(0, colon + 2);
  return name + "Backward";
}

/// The rule of a custom function's node: the gradients in, those of the tensor arguments out.
struct FunctionBackward {
  std::shared_ptr<AutogradContext> context;
  FunctionCall::Rule rule;
  std::vector<bool> is_tensor;

  void operator()(Backward& b) const {
    variable_list grads;
    for (int i = 0; i < b.output_count(); ++i) {
      const bool wanted = context->materialize_grads_ || b.has_grad_output(i);
      grads.push_back(wanted ? b.grad_output(i) : Tensor());
    }
    variable_list results = rule(context.get(), std::move(grads));
    const char* name = b.node().name;
    // As in PyTorch, undefined ones past the end do no harm.
    while (results.size() > is_tensor.size() && !results.back().defined()) results.pop_back();
    TAPER_CHECK(results.size() == is_tensor.size(), "function ", name,
                " returned an incorrect number of gradients (expected ", is_tensor.size(), ", got ",
                results.size(), ")");
    int input = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      if (is_tensor[i]) {
        if (b.wants(input)) b.grad(input) = std::move(results[i]);
        ++input;
      } else {
        TAPER_CHECK(!results[i].defined(), "function ", name,
                    " returned a gradient different than None at position ", i + 1,
                    ", but the corresponding forward input was not a Variable");
      }
    }
  }
};

namespace {

bool contains(const variable_list& tensors, const TensorImpl* impl) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& tensor) { return tensor.unsafe_impl() == impl; });
}

void check_dirty(const std::unordered_set<TensorImpl*>& dirty, const variable_list& inputs,
                 const variable_list& outputs, const char* name) {
  for (TensorImpl* impl : dirty) {
    TAPER_CHECK(contains(outputs, impl), name,
                ": some elements marked as dirty during the forward "
                "method were not returned as output. The inputs that are modified inplace must all "
                "be outputs of the Function.");
    if (!contains(inputs, impl)) continue;
    const Tensor input(TensorImplRef::share(impl));
    TAPER_CHECK(!(input.is_leaf() && input.requires_grad()), name,
                ": a leaf Variable that requires grad has been used in an in-place operation.");
    TAPER_CHECK(!impl->base || outputs.size() == 1, name,
                ": a view that forward changes in place has to be its only output");
  }
}

}  // namespace

variable_list record_function(FunctionCall&& call, variable_list outputs) {
  AutogradContext& context = *call.context;
  if (!recording_any(call.inputs)) return outputs;
  check_dirty(context.dirty_, call.inputs, outputs, call.name);

  // Outputs that are an input, or a view, get an impl of their own, which can have this history.
  variable_list placeholders(outputs.size());
  std::vector<bool> differentiable(outputs.size());
  RefVector refs;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Tensor& output = outputs[i];
    if (!output.defined()) {
      placeholders[i] = empty({0}, kCPU);
      refs.items.push_back(&placeholders[i]);
      continue;
    }
    TensorImpl* impl = output.unsafe_impl();
    const bool dirty = context.dirty_.count(impl) != 0;
    differentiable[i] = output.is_floating_point() && context.non_differentiable_.count(impl) == 0;
    if (!dirty && (impl->base || impl->grad_fn || contains(call.inputs, impl))) {
      output = output.detach();
      for (Tensor& saved : context.to_save_) {
        if (saved.unsafe_impl() == impl && !contains(call.inputs, impl)) saved = output;
      }
    }
    refs.items.push_back(&output);
  }

  Node* node = make_node(refs, call.name, inputs(TensorList(call.inputs)),
                         saving(TensorList(context.to_save_)),
                         FunctionBackward{call.context, call.rule, std::move(call.is_tensor)});
  context.node_ = node;
  context.to_save_.clear();

  const bool single_dirty = outputs.size() == 1 && outputs[0].defined() &&
                            context.dirty_.count(outputs[0].unsafe_impl()) != 0;
  if (single_dirty && differentiable[0]) {
    attach_inplace(node, outputs[0]);
    return outputs;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!differentiable[i]) continue;
    TensorImpl& impl = outputs[i].impl();
    if (impl.grad_fn) release(impl.grad_fn);
    impl.grad_fn = node;
    impl.output_nr = static_cast<uint32_t>(i);
    impl.requires_grad = false;
    retain(node);
  }
  release(node);
  return outputs;
}

}  // namespace detail
}  // namespace taper::autograd
