#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "taper/core/tensor.h"

// The tape: a node per recorded op, pointing to the nodes that made its inputs. A node and all that
// belongs to it is one block of memory, so small that long tapes are cheap:
// [Node][edges][saved][gradients][outputs][sizes of the outputs][backward function].

namespace taper::autograd {

class Backward;

/// Where a gradient goes: to the node that made an input (or to the leaf's accumulator), as the
/// gradient of that node's output `index`. `node` is null where no gradient is wanted. Owns a
/// reference.
struct Edge {
  Node* node = nullptr;
  uint32_t index = 0;
};

/// Shape and type of one output of a node: what its gradient has to look like.
struct OutputInfo {
  uint32_t first_size = 0;  ///< index among the sizes of all outputs
  uint8_t rank = 0;
  ScalarType dtype = ScalarType::Undefined;
  Device device{kCPU};
};

/// A tensor that backward needs, with the version it had.
struct SavedTensor {
  TensorImplRef impl;
  uint32_t version = 0;
  /// Of an output of the node itself, which is kept without its history, to make no cycle.
  int32_t output_nr = -1;
};

/// The engine's counters for one node during one backward pass.
struct Scratch {
  uint32_t pending : 30 = 0;  ///< gradients still to come
  uint32_t visited : 1 = 0;
  uint32_t needed : 1 = 1;  ///< leads to an input that the caller asked for
};

/// A hook on the gradient of one of a node's outputs.
struct Hook {
  uint32_t output;
  unsigned id;
  std::function<Tensor(const Tensor&)> call;
};

/// What few nodes have.
struct NodeExtras {
  std::vector<Hook> hooks;                                             ///< in order of registration
  std::vector<std::pair<uint32_t, std::shared_ptr<Tensor>>> retained;  ///< retain_grad
  Node* wrapped = nullptr;  ///< owned; the in-place op whose view this node rewrites: inplace.cpp
};

/// How to call, and how to destroy, the backward function at the end of a node's block.
struct NodeFunctions {
  void (*apply)(Node&, Backward&);
  void (*destroy)(Node&);  ///< null where there is nothing to do
};

struct Node {
  uint32_t references = 1;
  uint32_t block_bytes = 0;
  uint32_t edge_count = 0, saved_count = 0;
  uint16_t output_count = 0;
  bool is_accumulator = false;  ///< lives in a leaf's metadata; references count on the leaf
  bool released = false;        ///< saved tensors were freed by a backward pass
  Scratch scratch;
  uint64_t sequence = 0;       ///< larger than that of every node it points to
  const char* name = nullptr;  ///< "MulBackward0", as in PyTorch
  const NodeFunctions* functions = nullptr;
  NodeExtras* extras = nullptr;

  Edge* edges() { return reinterpret_cast<Edge*>(this + 1); }
  SavedTensor* saved() { return reinterpret_cast<SavedTensor*>(edges() + edge_count); }
  /// The engine's: the gradients that have come so far, one per output.
  Tensor* grads() { return reinterpret_cast<Tensor*>(saved() + saved_count); }
  OutputInfo* outputs() { return reinterpret_cast<OutputInfo*>(grads() + output_count); }
  int64_t* sizes() { return reinterpret_cast<int64_t*>(outputs() + output_count); }
  IntArrayRef output_sizes(int i) {
    const OutputInfo& output = outputs()[i];
    return {sizes() + output.first_size, output.rank};
  }
  char* block_end() { return reinterpret_cast<char*>(this) + block_bytes; }
};

/// What a leaf, or a tensor whose gradient is retained, has beyond its impl.
struct AutogradMeta {
  Node accumulator;
  Tensor incoming;  ///< where `accumulator.grads()` points
  TensorImpl* owner = nullptr;
  std::shared_ptr<Tensor> grad;  ///< shared with the retain_grad hook of a non-leaf
  uint32_t lock = 0;             ///< guards `grad` while several passes accumulate
  bool retains_grad = false;
};

void retain(Node* node);
void release(VersionCounter* counter);
/// A new impl with the same memory, geometry and version counter, and without history.
TensorImplRef alias_impl(const TensorImpl& impl);
/// The same with another geometry.
TensorImplRef alias_impl(const TensorImpl& impl, IntArrayRef sizes, IntArrayRef strides,
                         int64_t offset);
/// Frees the node with its last reference; chains of any length without recursion.
void release(Node* node);
/// Metadata of `impl`, made on first use. Safe to call from several threads.
AutogradMeta& meta_of(TensorImpl& impl);
/// The edge to whatever made `tensor`: its node, its accumulator, or nothing.
Edge gradient_edge(const Tensor& tensor);
NodeExtras& extras_of(Node& node);
/// The leaf that an accumulator adds to.
TensorImpl* leaf_of(Node& accumulator);
/// "MulBackward0" -> "mul"
std::string forward_name(const Node& node);

/// The tensor as it was saved. Throws when it was changed in place since, or freed.
Tensor unpack(Node& node, int index);
/// Frees what backward needs; a second pass through the node then fails.
void release_saved(Node& node);

/// Handed to a backward rule: the gradients of the outputs come in, those of the inputs go out.
class Backward {
 public:
  Backward(Node& node, Tensor* grad_outputs, Tensor* grad_inputs)
      : node_(node), grad_outputs_(grad_outputs), grad_inputs_(grad_inputs) {}

  /// Gradient of output i; zeros where nothing depended on it.
  const Tensor& grad_output(int i = 0);
  bool has_grad_output(int i = 0) const { return grad_outputs_[i].defined(); }
  Tensor saved(int i) { return unpack(node_, i); }
  bool has_saved(int i) const { return static_cast<bool>(node_.saved()[i].impl); }
  /// Whether anybody wants the gradient of input i.
  bool wants(int i) const { return node_.edges()[i].node != nullptr; }
  /// To be assigned. The engine sums it down to the input's shape and casts it to the input's
  /// dtype, so rules need not care about broadcasting or promotion.
  Tensor& grad(int i) { return grad_inputs_[i]; }
  int input_count() const { return static_cast<int>(node_.edge_count); }
  int output_count() const { return node_.output_count; }
  IntArrayRef output_sizes(int i = 0) const { return node_.output_sizes(i); }
  Node& node() { return node_; }

 private:
  Node& node_;
  Tensor* grad_outputs_;
  Tensor* grad_inputs_;
};

/// A list of tensors by reference: `inputs(a, b)`, `saving(x)`.
struct Refs {
  const Tensor* const* data = nullptr;
  size_t size = 0;
};
template <size_t N>
struct RefArray {
  const Tensor* items[N];
  operator Refs() const { return {items, N}; }
};
struct RefVector {
  std::vector<const Tensor*> items;
  operator Refs() const { return {items.data(), items.size()}; }
};
inline const Tensor* reference(const Tensor& tensor) { return &tensor; }
inline const Tensor* reference(const Tensor* tensor) { return tensor; }
inline const Tensor* reference(const std::optional<Tensor>& tensor) {
  return tensor ? &*tensor : nullptr;
}

template <class... T>
RefArray<sizeof...(T)> inputs(const T&... tensors) {
  return {{reference(tensors)...}};
}
inline RefVector inputs(TensorList tensors) {
  RefVector refs;
  for (const Tensor& tensor : tensors) refs.items.push_back(&tensor);
  return refs;
}
template <class... T>
RefArray<sizeof...(T)> saving(const T&... tensors) {
  return {{reference(tensors)...}};
}
inline RefVector saving(TensorList tensors) { return inputs(tensors); }
inline Refs saving_nothing() { return {}; }
/// `saving(when(other.requires_grad(), self))`: nothing is saved for a gradient that nobody wants.
inline const Tensor* when(bool condition, const Tensor& tensor) {
  return condition ? &tensor : nullptr;
}

namespace detail {
/// Makes a node with room at its end for a backward function of the given size; no outputs are
/// attached yet.
Node* new_node(const char* name, size_t function_size, Refs inputs, Refs saved, Refs outputs);
void attach_fresh(Node* node, Refs outputs);
void attach_inplace(Node* node, const Tensor& self);
void attach_view(Node* node, const Tensor& out);
void attach_views(Node* node, Refs outputs);

template <class Function>
Function* function_of(Node& node) {
  return reinterpret_cast<Function*>(node.block_end()) - 1;
}

template <class Function>
constexpr NodeFunctions kFunctionsOf = {
    [](Node& node, Backward& backward) { (*function_of<Function>(node))(backward); },
    std::is_trivially_destructible_v<Function>
        ? nullptr
        : +[](Node& node) { function_of<Function>(node)->~Function(); }};

template <class F>
Node* make_node(Refs outputs, const char* name, Refs inputs, Refs saved, F&& function) {
  using Function = std::decay_t<F>;
  static_assert(alignof(Function) <= 8);
  Node* node = new_node(name, sizeof(Function), inputs, saved, outputs);
  new (function_of<Function>(*node)) Function(std::forward<F>(function));
  node->functions = &kFunctionsOf<Function>;
  return node;
}
}  // namespace detail

bool grad_enabled();
/// True when an op on these tensors has to be recorded.
template <class... T>
bool recording(const T&... tensors) {
  const auto wants = [](const Tensor* tensor) {
    return tensor && tensor->defined() && tensor->requires_grad();
  };
  return (wants(reference(tensors)) || ...) && grad_enabled();
}
bool recording_any(TensorList tensors);

/// Records that `out`, just made, came from `inputs`, and how to go back. `backward` is called as
/// backward(Backward&); it may capture numbers and shapes by value, but tensors only through
/// `saved`.
template <class F>
void record(const Tensor& out, const char* name, Refs inputs, Refs saved, F&& backward) {
  const auto outputs = taper::autograd::inputs(out);
  detail::attach_fresh(detail::make_node(outputs, name, inputs, saved, std::forward<F>(backward)),
                       outputs);
}
/// The same for several outputs (`inputs(a, b)` makes the list).
template <class F>
void record_all(Refs outputs, const char* name, Refs inputs, Refs saved, F&& backward) {
  detail::attach_fresh(detail::make_node(outputs, name, inputs, saved, std::forward<F>(backward)),
                       outputs);
}
/// The same for an op that has overwritten `self`: its history is replaced, or, where it is a view,
/// that of its base is rewritten. `begin_inplace` (ops/op.h) must have been called before the
/// write, `finish_write` after it.
template <class F>
void record_inplace(const Tensor& self, const char* name, Refs inputs, Refs saved, F&& backward) {
  const auto outputs = taper::autograd::inputs(self);
  detail::attach_inplace(detail::make_node(outputs, name, inputs, saved, std::forward<F>(backward)),
                         self);
}
/// The same for a view made by `make_view` (ops/op.h).
template <class F>
void record_view(const Tensor& out, const char* name, Refs inputs, F&& backward) {
  const auto outputs = taper::autograd::inputs(out);
  detail::attach_view(
      detail::make_node(outputs, name, inputs, saving_nothing(), std::forward<F>(backward)), out);
}
/// The same for all views that one op makes of a tensor.
template <class F>
void record_views(TensorList out, const char* name, Refs inputs, F&& backward) {
  const RefVector outputs = taper::autograd::inputs(out);
  detail::attach_views(
      detail::make_node(outputs, name, inputs, saving_nothing(), std::forward<F>(backward)),
      outputs);
}

}  // namespace taper::autograd
