#include "taper/autograd/node.h"

#include <new>
#include <string_view>

#include "taper/autograd/streams.h"
#include "taper/core/factories.h"
#include "taper/core/small_alloc.h"
#include "taper/core/thread_state.h"

namespace taper::autograd {

using taper::detail::thread_state;

namespace {

void* allocate_block(size_t bytes) {
  return bytes <= taper::detail::kSmallLimit ? taper::detail::small_alloc(bytes)
                                             : ::operator new(bytes);
}

void free_block(void* block, size_t bytes) {
  if (bytes <= taper::detail::kSmallLimit) {
    taper::detail::small_free(block, bytes);
  } else {
    ::operator delete(block);
  }
}

AutogradMeta& meta_of_accumulator(Node& node) {
  static_assert(offsetof(AutogradMeta, accumulator) == 0);
  static_assert(offsetof(AutogradMeta, incoming) == sizeof(Node));
  return reinterpret_cast<AutogradMeta&>(node);
}

void release_saved_slots(Node& node) {
  SavedTensor* const saved = node.saved();
  for (uint32_t i = 0; i < node.saved_count; ++i) saved[i].impl = TensorImplRef();
}

constexpr uintptr_t kPrefetchDistance = 1024;

// Frees one node; what it pointed to joins the dead list, so that chains unwind in a loop.
void destroy(Node* node) {
  // A large graph is not in the cache. What was recorded a little earlier usually lies a little
  // below and is next to die.
  const uintptr_t soon = reinterpret_cast<uintptr_t>(node) - kPrefetchDistance;
  for (uint32_t at = 0; at < node->block_bytes; at += TAPER_CACHE_LINE) {
    __builtin_prefetch(reinterpret_cast<void*>(soon + at), 1);
  }
  Edge* const edges = node->edges();
  if (node->functions->destroy) node->functions->destroy(*node);
  SavedTensor* const saved = node->saved();
  for (uint32_t i = 0; i < node->saved_count; ++i) saved[i].~SavedTensor();
  Tensor* const grads = node->grads();
  for (uint32_t i = 0; i < node->output_count; ++i) grads[i].~Tensor();
  if (TAPER_UNLIKELY(node->extras != nullptr)) {
    if (node->extras->wrapped) release(node->extras->wrapped);
    delete node->extras;
  }
  for (uint32_t i = 0; i < node->edge_count; ++i) {
    if (edges[i].node) release(edges[i].node);
  }
  const size_t bytes = node->block_bytes;
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
  return alias_impl(impl, impl.sizes, impl.strides, impl.offset);
}

TensorImplRef alias_impl(const TensorImpl& impl, IntArrayRef sizes, IntArrayRef strides,
                         int64_t offset) {
  StorageRef storage = impl.storage;  // first: an atomic operation waits for all stores before it
  TensorImplRef alias(new TensorImpl);
  alias->dtype = impl.dtype;
  alias->storage = std::move(storage);
  alias->offset = offset;
  alias->is_inference = impl.is_inference;
  alias->set_geometry(sizes, strides);
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
  AutogradMeta* expected = nullptr;
  if (__atomic_compare_exchange_n(&impl.meta, &expected, fresh, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE)) {
    return *fresh;
  }
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
    delete impl.meta->accumulator.extras;
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
  name = name.substr(0, name.rfind("Backward"));
  std::string out;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (upper && !out.empty()) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

NodeExtras& extras_of(Node& node) {
  if (!node.extras) node.extras = new NodeExtras;
  return *node.extras;
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
    const OutputInfo& info = node_.outputs()[i];
    grad_outputs_[i] = zeros(output_sizes(i), TensorOptions(info.dtype).device(info.device));
  }
  return grad_outputs_[i];
}

namespace {

// The tensor is named by what made it, as in PyTorch; a leaf has no such name.
[[noreturn]] TAPER_COLD void fail_changed(const Node& node, const SavedTensor& saved) {
  const TensorImpl& impl = *saved.impl.get();
  taper::detail::MessageBuilder maker;
  const bool is_output = saved.output_nr >= 0;
  if (const Node* made_by = is_output ? &node : impl.grad_fn) {
    const int64_t number = is_output ? saved.output_nr : int64_t{impl.output_nr};
    maker << ", which is output " << number << " of " << made_by->name << ",";
  }
  taper::detail::fail<Error>(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [",
      taper::to_string(impl.dtype), "Tensor ", IntArrayRef(impl.sizes), "]", maker.take(),
      " is at version ", impl.version(), "; expected version ", saved.version,
      " instead. Hint: enable anomaly detection to find the operation that failed to compute its "
      "gradient, with autograd::DetectAnomalyGuard. The tensor was saved for ",
      node.name, ".");
}

}  // namespace

Tensor unpack(Node& node, int index) {
  const SavedTensor& saved = node.saved()[index];
  const bool is_output = saved.output_nr >= 0;
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
  if (TAPER_UNLIKELY(impl.version() != saved.version)) fail_changed(node, saved);
  if (!is_output) return Tensor(saved.impl);
  // An output was kept without its history; hand out an alias that has it again.
  TensorImplRef alias = alias_impl(impl);
  alias->grad_fn = &node;
  alias->output_nr = static_cast<uint32_t>(saved.output_nr);
  retain(&node);
  return Tensor(std::move(alias));
}

void release_saved(Node& node) {
  if (node.is_accumulator) return;
  if (node.saved_count > 0) {
    release_saved_slots(node);
    node.released = true;
  }
  if (node.extras && node.extras->wrapped) release_saved(*node.extras->wrapped);
}

namespace detail {

Node* new_node(const char* name, size_t function_size, Refs inputs, Refs saved, Refs outputs) {
  for (size_t i = 0; i < saved.size; ++i) {
    const Tensor* tensor = saved.data[i];
    TAPER_CHECK(
        !tensor || !tensor->defined() || !tensor->is_inference(),
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in "
        "inference mode in computation tracked by autograd. To work around this, you can make "
        "a clone to get a normal tensor and use it in autograd, or use a NoGradGuard instead "
        "of InferenceMode.");
  }
  TAPER_CHECK(outputs.size <= UINT16_MAX, name, ": a node has at most ", UINT16_MAX,
              " outputs, but got ", outputs.size);
  size_t dims = 0;
  for (size_t i = 0; i < outputs.size; ++i) dims += static_cast<size_t>(outputs.data[i]->dim());
  const size_t bytes = sizeof(Node) + inputs.size * sizeof(Edge) +
                       saved.size * sizeof(SavedTensor) +
                       outputs.size * (sizeof(Tensor) + sizeof(OutputInfo)) +
                       dims * sizeof(int64_t) + (function_size + 7) / 8 * 8;

  Node* node = new (allocate_block(bytes)) Node;
  node->name = name;
  node->block_bytes = static_cast<uint32_t>(bytes);
  node->edge_count = static_cast<uint32_t>(inputs.size);
  node->saved_count = static_cast<uint32_t>(saved.size);
  node->output_count = static_cast<uint16_t>(outputs.size);

  uint64_t sequence = thread_state.sequence;
  Edge* const edges = node->edges();
  for (size_t i = 0; i < inputs.size; ++i) {
    Edge* edge = new (&edges[i]) Edge;
    const Tensor* input = inputs.data[i];
    if (input && input->defined()) *edge = gradient_edge(*input);
    if (edge->node && !edge->node->is_accumulator && edge->node->sequence > sequence) {
      sequence = edge->node->sequence;
    }
  }
  node->sequence = thread_state.sequence = sequence + 1;

  OutputInfo* const infos = node->outputs();
  int64_t* const sizes = node->sizes();
  uint32_t next_size = 0;
  for (size_t i = 0; i < outputs.size; ++i) {
    const TensorImpl& out = outputs.data[i]->impl();
    OutputInfo* info = new (&infos[i]) OutputInfo;
    info->first_size = next_size;
    info->rank = static_cast<uint8_t>(out.dim());
    info->dtype = out.dtype;
    info->device = out.storage->device;
    if (info->device.is_cuda()) note_recording_stream(info->device.index());
    for (const int64_t size : out.sizes) sizes[next_size++] = size;
    new (&node->grads()[i]) Tensor;
  }

  for (size_t i = 0; i < saved.size; ++i) {
    SavedTensor* slot = new (&node->saved()[i]) SavedTensor;
    const Tensor* tensor = saved.data[i];
    if (!tensor || !tensor->defined()) continue;
    TensorImpl& impl = tensor->impl();
    slot->impl = tensor->impl_ref();
    slot->version = impl.version();
    for (size_t k = 0; k < outputs.size; ++k) {
      if (outputs.data[k]->unsafe_impl() != &impl) continue;
      // Its own history would be a cycle: keep an alias without one.
      slot->impl = alias_impl(impl);
      slot->output_nr = static_cast<int32_t>(k);
    }
  }
  return node;
}

void attach_fresh(Node* node, Refs outputs) {
  bool is_owned = false;  // the first output takes over the reference that the node was made with
  for (size_t i = 0; i < outputs.size; ++i) {
    TensorImpl& out = outputs.data[i]->impl();
    if (!is_floating_point(out.dtype)) continue;  // indices: no gradient
    if (out.grad_fn) release(out.grad_fn);
    out.grad_fn = node;
    out.output_nr = static_cast<uint32_t>(i);
    if (std::exchange(is_owned, true)) retain(node);
  }
  if (!is_owned) release(node);
}

void attach_view(Node* node, const Tensor& out) {
  TensorImpl& impl = out.impl();
  impl.grad_fn = node;
  impl.output_nr = 0;
  impl.view_version = impl.version();
}

void attach_views(Node* node, Refs outputs) {
  attach_fresh(node, outputs);
  for (size_t i = 0; i < outputs.size; ++i) {
    TensorImpl& out = outputs.data[i]->impl();
    out.view_version = out.version();
  }
}

}  // namespace detail
}  // namespace taper::autograd
