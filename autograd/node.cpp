#include "taper/autograd/node.h"

#include <new>
#include <string_view>

#include "taper/core/factories.h"
#include "taper/core/small_alloc.h"
#include "taper/core/thread_state.h"

namespace taper::autograd {

using taper::detail::thread_state;

namespace {

constexpr size_t align16(size_t bytes) { return (bytes + 15) & ~size_t{15}; }

void* allocate_block(size_t bytes) {
  return bytes <= taper::detail::kSmallLimit ? taper::detail::small_alloc(bytes)
                                             : ::operator new(bytes, std::align_val_t{16});
}

void free_block(void* block, size_t bytes) {
  if (bytes <= taper::detail::kSmallLimit) {
    taper::detail::small_free(block, bytes);
  } else {
    ::operator delete(block, std::align_val_t{16});
  }
}

AutogradMeta& meta_of_accumulator(Node& node) {
  return *reinterpret_cast<AutogradMeta*>(reinterpret_cast<char*>(&node) -
                                          offsetof(AutogradMeta, accumulator));
}

void release_saved_slots(Node& node) {
  for (int i = 0; i < node.saved_count; ++i) node.saved[i].impl = TensorImplRef();
}

// Frees one node; what it pointed to joins the dead list, so that chains unwind in a loop.
void destroy(Node* node) {
  if (node->destroy_function) node->destroy_function(*node);
  if (node->wrapped) release(node->wrapped);
  for (int i = 0; i < node->saved_count; ++i) node->saved[i].~SavedTensor();
  for (int i = 0; i < node->edge_count; ++i) {
    if (node->edges[i].node) release(node->edges[i].node);
  }
  for (int i = 0; i < node->output_count; ++i) node->scratch.grads[i].~Tensor();
  delete node->hooks;
  const size_t bytes = node->block_size;
  node->~Node();
  free_block(node, bytes);
}

}  // namespace

void retain(Node* node) {
  if (node->is_accumulator) {
    taper::detail::retain(meta_of_accumulator(*node).owner->references);
  } else {
    taper::detail::retain(node->references);
  }
}

void release(Node* node) {
  if (node->is_accumulator) {
    taper::detail::TensorTraits::release(meta_of_accumulator(*node).owner);
    return;
  }
  if (!taper::detail::release(node->references)) return;
  // `sequence` is not needed any more: it links the list of the dead.
  node->sequence = reinterpret_cast<uint64_t>(thread_state.dead_nodes);
  thread_state.dead_nodes = node;
  if (thread_state.draining) return;
  thread_state.draining = true;
  while (Node* dead = static_cast<Node*>(thread_state.dead_nodes)) {
    thread_state.dead_nodes = reinterpret_cast<void*>(dead->sequence);
    destroy(dead);
  }
  thread_state.draining = false;
}

void release(VersionCounter* counter) {
  if (counter && taper::detail::release(counter->references)) delete counter;
}

TensorImplRef alias_impl(const TensorImpl& impl) {
  TensorImplRef alias(new TensorImpl);
  alias->dtype = impl.dtype;
  alias->storage = impl.storage;
  alias->offset = impl.offset;
  alias->is_inference = impl.is_inference;
  alias->set_geometry(impl.sizes, impl.strides);
  alias->version_override = impl.version_override;
  if (alias->version_override) taper::detail::retain(alias->version_override->references);
  return alias;
}

AutogradMeta& meta_of(TensorImpl& impl) {
  AutogradMeta* meta = __atomic_load_n(&impl.meta, __ATOMIC_ACQUIRE);
  if (meta) return *meta;
  auto* fresh = new AutogradMeta;
  fresh->owner = &impl;
  fresh->accumulator.is_accumulator = true;
  fresh->accumulator.name = "AccumulateGrad";
  fresh->accumulator.output_count = 1;
  fresh->accumulator.scratch.grads = new Tensor[1];
  AutogradMeta* expected = nullptr;
  if (__atomic_compare_exchange_n(&impl.meta, &expected, fresh, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return *fresh;
  }
  delete[] fresh->accumulator.scratch.grads;
  delete fresh;
  return *expected;
}

void release_tape(TensorImpl& impl) {
  if (impl.grad_fn) {
    Node* node = impl.grad_fn;
    impl.grad_fn = nullptr;
    release(node);
  }
  if (impl.meta) {
    delete impl.meta->accumulator.hooks;
    delete[] impl.meta->accumulator.scratch.grads;
    delete impl.meta;
    impl.meta = nullptr;
  }
  if (impl.base) {
    TensorImpl* base = impl.base;
    impl.base = nullptr;
    taper::detail::TensorTraits::release(base);
  }
  release(impl.version_override);
  impl.version_override = nullptr;
}

TensorImpl* leaf_of(Node& accumulator) { return meta_of_accumulator(accumulator).owner; }

std::string forward_name(const Node& node) {
  std::string_view name = node.name;
  if (name.ends_with("Backward")) name.remove_suffix(std::string_view("Backward").size());
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

NodeHooks& hooks_of(Node& node) {
  if (!node.hooks) node.hooks = new NodeHooks;
  return *node.hooks;
}

bool grad_enabled() { return (thread_state.mode & taper::detail::kModeNoGrad) == 0; }

bool recording_any(TensorList tensors) {
  if (!grad_enabled()) return false;
  for (const Tensor& tensor : tensors) {
    if (tensor.defined() && tensor.requires_grad()) return true;
  }
  return false;
}

const Tensor& Backward::grad_output(int i) {
  if (!grad_outputs_[i].defined()) {
    const OutputInfo& info = node_.outputs[i];
    grad_outputs_[i] = zeros(output_sizes(i), TensorOptions(info.dtype).device(info.device));
  }
  return grad_outputs_[i];
}

Tensor unpack(Node& node, int index) {
  const SavedTensor& saved = node.saved[index];
  TAPER_CHECK(
      !node.released,
      "Trying to backward through the graph a second time (or directly access saved tensors "
      "after they have already been freed). Saved intermediate values of the graph are freed "
      "when you call .backward() or autograd.grad(). Specify retain_graph=true if you need "
      "to backward through the graph a second time or if you need to access saved tensors "
      "after calling backward. The node is ",
      node.name, ".");
  if (!saved.impl) return {};
  TensorImpl& impl = *saved.impl.get();
  TAPER_CHECK(
      impl.version() == saved.version,
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [",
      taper::to_string(impl.dtype), "Tensor ", IntArrayRef(impl.sizes),
      saved.is_output ? "], which is output " : "], which was saved by ",
      saved.is_output ? saved.output_nr : 0u, saved.is_output ? " of " : " of ", node.name,
      ", is at version ", impl.version(), "; expected version ", saved.version,
      " instead. Hint: enable anomaly detection to find the operation that failed to compute "
      "its gradient, with autograd::DetectAnomalyGuard.");
  if (!saved.is_output) return Tensor(saved.impl);
  // An output was kept without its history; hand out an alias that has it again.
  TensorImplRef alias = alias_impl(impl);
  alias->grad_fn = &node;
  alias->output_nr = saved.output_nr;
  retain(&node);
  return Tensor(std::move(alias));
}

void release_saved(Node& node) {
  if (node.is_accumulator) return;
  if (node.saved_count > 0) {
    release_saved_slots(node);
    node.released = true;
  }
  if (node.wrapped) release_saved(*node.wrapped);
}

namespace detail {

Node* new_node(const char* name, size_t function_size, Refs inputs, Refs saved, Refs outputs,
               void** function) {
  for (size_t i = 0; i < saved.size; ++i) {
    const Tensor* tensor = saved.data[i];
    TAPER_CHECK(
        !tensor || !tensor->defined() || !tensor->is_inference(),
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around this, you can make "
        "a clone to get a normal tensor and use it in autograd, or use a NoGradGuard instead "
        "of InferenceMode.");
  }
  size_t dims = 0;
  for (size_t i = 0; i < outputs.size; ++i) dims += static_cast<size_t>(outputs.data[i]->dim());
  const size_t function_at = sizeof(Node);
  const size_t edges_at = function_at + align16(function_size);
  const size_t outputs_at = edges_at + inputs.size * sizeof(Edge);
  const size_t grads_at = outputs_at + outputs.size * sizeof(OutputInfo);
  const size_t saved_at = grads_at + outputs.size * sizeof(Tensor);
  const size_t sizes_at = saved_at + saved.size * sizeof(SavedTensor);
  const size_t bytes = sizes_at + dims * sizeof(int64_t);

  char* block = static_cast<char*>(allocate_block(bytes));
  Node* node = new (block) Node;
  node->name = name;
  node->block_size = static_cast<uint32_t>(bytes);
  node->edges = reinterpret_cast<Edge*>(block + edges_at);
  node->outputs = reinterpret_cast<OutputInfo*>(block + outputs_at);
  node->scratch.grads = reinterpret_cast<Tensor*>(block + grads_at);
  node->saved = reinterpret_cast<SavedTensor*>(block + saved_at);
  int64_t* sizes = reinterpret_cast<int64_t*>(block + sizes_at);
  *function = block + function_at;

  uint64_t sequence = thread_state.sequence;
  for (size_t i = 0; i < inputs.size; ++i) {
    Edge* edge = new (&node->edges[i]) Edge;
    const Tensor* input = inputs.data[i];
    if (input && input->defined()) *edge = gradient_edge(*input);
    if (edge->node && !edge->node->is_accumulator && edge->node->sequence > sequence) {
      sequence = edge->node->sequence;
    }
  }
  node->edge_count = static_cast<uint16_t>(inputs.size);
  node->sequence = thread_state.sequence = sequence + 1;

  for (size_t i = 0; i < outputs.size; ++i) {
    const TensorImpl& out = outputs.data[i]->impl();
    OutputInfo* info = new (&node->outputs[i]) OutputInfo;
    info->sizes = sizes;
    info->rank = out.dim();
    info->dtype = out.dtype;
    info->device = out.storage->device;
    for (const int64_t size : out.sizes) *sizes++ = size;
    new (&node->scratch.grads[i]) Tensor;
  }
  node->output_count = static_cast<uint16_t>(outputs.size);

  for (size_t i = 0; i < saved.size; ++i) {
    SavedTensor* slot = new (&node->saved[i]) SavedTensor;
    const Tensor* tensor = saved.data[i];
    if (!tensor || !tensor->defined()) continue;
    TensorImpl& impl = tensor->impl();
    slot->impl = tensor->impl_ref();
    slot->version = impl.version();
    for (size_t k = 0; k < outputs.size; ++k) {
      if (outputs.data[k]->unsafe_impl() != &impl) continue;
      // Its own history would be a cycle: keep an alias without one.
      slot->impl = alias_impl(impl);
      slot->is_output = true;
      slot->output_nr = static_cast<uint32_t>(k);
    }
  }
  node->saved_count = static_cast<uint16_t>(saved.size);
  return node;
}

void attach_fresh(Node* node, Refs outputs) {
  for (size_t i = 0; i < outputs.size; ++i) {
    TensorImpl& out = outputs.data[i]->impl();
    if (!is_floating_point(out.dtype)) continue;  // indices: no gradient
    if (out.grad_fn) release(out.grad_fn);
    out.grad_fn = node;
    out.output_nr = static_cast<uint32_t>(i);
    retain(node);
  }
  release(node);
}

void attach_view(Node* node, const Tensor& out) {
  TensorImpl& impl = out.impl();
  impl.grad_fn = node;
  impl.output_nr = 0;
  impl.view_version = impl.version();
}

}  // namespace detail
}  // namespace taper::autograd
