// The engine: runs the tape backwards, newest node first, without recursion.

#include <algorithm>
#include <atomic>
#include <memory>
#include <unordered_map>

#include "taper/autograd/autograd.h"
#include "taper/autograd/grad_mode.h"
#include "taper/autograd/node.h"
#include "taper/autograd/streams.h"
#include "taper/core/factories.h"
#include "taper/core/ops.h"
#include "taper/core/shape.h"
#include "taper/core/thread_state.h"

namespace taper::autograd {

namespace {

// ---- Where a pass keeps its counters: in the nodes themselves, or, when another pass has them,
// beside.

class InNodes {
 public:
  Scratch& of(Node* node) { return node->scratch; }
  Tensor* grads(Node* node) { return node->grads(); }
  void clear(Node* node) {
    node->scratch = Scratch();
    for (int i = 0; i < node->output_count; ++i) node->grads()[i].reset();
  }
};

class Aside {
 public:
  Scratch& of(Node* node) { return entries_[node].scratch; }
  Tensor* grads(Node* node) {
    Entry& entry = entries_[node];
    if (!entry.grads) entry.grads = std::make_unique<Tensor[]>(node->output_count);
    return entry.grads.get();
  }
  void clear(Node*) {}

 private:
  struct Entry {
    Scratch scratch;
    std::unique_ptr<Tensor[]> grads;
  };
  std::unordered_map<Node*, Entry> entries_;
};

std::atomic_flag nodes_in_use = ATOMIC_FLAG_INIT;

struct Capture {
  Node* node;
  uint32_t output;
  Tensor grad;
};

struct Request {
  std::vector<Edge> roots;
  std::vector<Tensor> root_grads;
  std::vector<Capture> captures;  // where the caller wants gradients returned
  bool only_captures = false;     // nothing else is computed, and no leaf accumulates
  bool accumulate_captures = false;
  bool keep_graph = false;
  bool create_graph = false;
};

bool may_write(const Tensor& tensor) {
  const TensorImpl& impl = tensor.impl();
  return impl.references == 1 && impl.storage->references == 1 && impl.is_contiguous &&
         !impl.grad_fn && !impl.base;
}

// buffer += grad, reusing the buffer's memory where nobody else can see it.
void add_to(Tensor& buffer, Tensor&& grad) {
  if (!buffer.defined()) {
    buffer = std::move(grad);
  } else if (!grad_enabled() && may_write(buffer) && buffer.scalar_type() == grad.scalar_type()) {
    buffer.add_(grad);
  } else {
    buffer = buffer + grad;
  }
}

// What a gradient that goes along an edge has to look like; accumulators ask their leaf.
struct Expected {
  IntArrayRef sizes;
  ScalarType dtype;
  Device device;
};
Expected expected_at(const Edge& edge) {
  Node& node = *edge.node;
  if (node.is_accumulator) {
    const TensorImpl& leaf = *leaf_of(node);
    return {leaf.sizes, leaf.dtype, leaf.storage->device};
  }
  const OutputInfo& output = node.outputs()[edge.index];
  return {node.output_sizes(static_cast<int>(edge.index)), output.dtype, output.device};
}

// The gradient in the shape and dtype of the output it belongs to, and where that is.
Tensor conform(Tensor grad, const Expected& expected, const Node& from, int index) {
  const IntArrayRef sizes = expected.sizes;
  if (TAPER_UNLIKELY(!grad.sizes().equals(sizes))) {
    TAPER_CHECK(is_expandable_to(sizes, grad.sizes()), "Function ", from.name,
                " returned an invalid gradient at index ", index, " - got ", grad.sizes(),
                " but expected shape compatible with ", sizes);
    grad = grad.sum_to_size(sizes);
  }
  if (TAPER_UNLIKELY(grad.scalar_type() != expected.dtype)) grad = grad.to(expected.dtype);
  if (TAPER_UNLIKELY(grad.device() != expected.device)) {
    TAPER_CHECK(grad.dim() == 0, "Function ", from.name, " returned an invalid gradient at index ",
                index, " - expected device ", expected.device, " but got ", grad.device());
    grad = grad.to(expected.device);
  }
  return grad;
}

class LeafLock {
 public:
  explicit LeafLock(uint32_t& word) : word_(word) {
    while (__atomic_exchange_n(&word_, 1u, __ATOMIC_ACQUIRE)) {
    }
  }
  ~LeafLock() { __atomic_store_n(&word_, 0u, __ATOMIC_RELEASE); }

 private:
  uint32_t& word_;
};

// A buffer that may become a leaf's .grad as it is: nobody else sees it, and it is dense.
Tensor as_grad(Tensor&& grad) {
  if (grad_enabled()) return grad.clone();  // two leaves must not share one tensor
  if (may_write(grad)) return std::move(grad);
  return grad.detach().clone(MemoryFormat::Contiguous);
}

void accumulate(Node& accumulator, Tensor&& grad) {
  TensorImpl* leaf = leaf_of(accumulator);
  AutogradMeta& meta = *leaf->meta;
  const LeafLock lock(meta.lock);
  if (!meta.grad) meta.grad = std::make_shared<Tensor>();
  Tensor& total = *meta.grad;
  if (!total.defined()) {
    total = as_grad(std::move(grad));
  } else if (!grad_enabled()) {
    total.add_(grad);
  } else {
    total = total + grad;
  }
}

void run_hooks(Node& node, Tensor* grads) {
  if (TAPER_LIKELY(!node.extras)) return;
  for (const Hook& hook : node.extras->hooks) {
    Tensor& grad = grads[hook.output];
    if (!grad.defined()) continue;
    Tensor replaced = hook.call(grad);
    if (!replaced.defined()) continue;
    TAPER_CHECK(replaced.sizes() == grad.sizes(),
                "a hook has changed the size of the gradient from ", grad.sizes(), " to ",
                replaced.sizes());
    TAPER_CHECK(replaced.device() == grad.device(),
                "a hook has changed the device of the gradient from ", grad.device(), " to ",
                replaced.device());
    grad = std::move(replaced);
  }
  for (const auto& [output, cell] : node.extras->retained) {
    const Tensor& grad = grads[output];
    if (grad.defined()) *cell = cell->defined() ? *cell + grad : Tensor(grad).clone();
  }
}

void check_no_nan(Node& node, const Tensor& grad, int index) {
  if (!grad.defined() || !is_floating_point(grad.scalar_type())) return;
  const NoGradGuard quiet;
  TAPER_CHECK(!isnan(grad).any().item<bool>(), "Function '", node.name,
              "' returned nan values in its ", index,
              "th output: the gradient of an input of the forward op ", forward_name(node),
              " with result shape ", node.output_sizes(0), ".");
}

// ---- One backward pass.

template <class Where>
class Pass {
 public:
  Pass(Request& request, Where& where) : request_(request), where_(where) {}
  ~Pass() {
    for (Node* node : visited_) {
      where_.clear(node);
      release(node);
    }
  }

  void run() {
    discover();
    if (request_.only_captures) mark_needed();
    const AutoGradMode mode(request_.create_graph);
    for (size_t i = 0; i < request_.roots.size(); ++i) {
      deliver(request_.roots[i], std::move(request_.root_grads[i]));
    }
    // Roots have no senders: those that nothing else points to can go at once.
    for (const Edge& root : request_.roots) {
      Scratch& scratch = where_.of(root.node);
      if (scratch.pending == 0 && !is_queued(root.node)) make_ready(root.node);
    }
    while (Node* node = pop_ready()) execute(node);
  }

 private:
  void discover() {
    std::vector<Node*> stack;
    const auto visit = [&](Node* node) {
      Scratch& scratch = where_.of(node);
      if (scratch.visited) return;
      scratch.visited = 1;
      retain(node);
      visited_.push_back(node);
      stack.push_back(node);
    };
    for (const Edge& root : request_.roots) visit(root.node);
    while (!stack.empty()) {
      Node* node = stack.back();
      stack.pop_back();
      for (uint32_t i = 0; i < node->edge_count; ++i) {
        if (Node* next = node->edges()[i].node) {
          ++where_.of(next).pending;
          visit(next);
        }
      }
    }
  }

  // A node is needed when it, or something it points to, is captured.
  void mark_needed() {
    for (Node* node : visited_) where_.of(node).needed = 0;
    for (const Capture& capture : request_.captures) {
      Scratch& scratch = where_.of(capture.node);
      if (scratch.visited) scratch.needed = 1;
    }
    std::vector<Node*> order(visited_);
    std::sort(order.begin(), order.end(), [](const Node* a, const Node* b) {
      return a->is_accumulator != b->is_accumulator ? a->is_accumulator : a->sequence < b->sequence;
    });
    for (Node* node : order) {
      Scratch& scratch = where_.of(node);
      for (uint32_t i = 0; i < node->edge_count && !scratch.needed; ++i) {
        if (Node* next = node->edges()[i].node) scratch.needed = where_.of(next).needed;
      }
    }
  }

  void deliver(const Edge& edge, Tensor&& grad) {
    if (grad.defined()) add_to(where_.grads(edge.node)[edge.index], std::move(grad));
  }

  bool is_queued(const Node* node) const {
    return node == best_ || std::find(heap_.begin(), heap_.end(), node) != heap_.end();
  }

  // Newest first; the best one is kept out of the heap, so that a chain never touches it.
  void make_ready(Node* node) {
    if (node->is_accumulator) {
      execute(node);
      return;
    }
    if (!best_) {
      best_ = node;
      return;
    }
    if (node->sequence > best_->sequence) std::swap(node, best_);
    heap_.push_back(node);
    std::push_heap(heap_.begin(), heap_.end(), older);
  }
  Node* pop_ready() {
    if (best_ && (heap_.empty() || heap_.front()->sequence < best_->sequence)) {
      return std::exchange(best_, nullptr);
    }
    if (heap_.empty()) return nullptr;
    std::pop_heap(heap_.begin(), heap_.end(), older);
    Node* node = heap_.back();
    heap_.pop_back();
    return node;
  }
  static bool older(const Node* a, const Node* b) { return a->sequence < b->sequence; }

  void execute(Node* node) {
    Tensor* const grads = where_.grads(node);
    bool any = false;
    for (int i = 0; i < node->output_count; ++i) any |= grads[i].defined();
    if (any) run_hooks(*node, grads);
    capture(node, grads);
    if (node->is_accumulator) {
      if (any && (!request_.only_captures || is_accumulating(node))) {
        accumulate(*node, std::move(grads[0]));
      }
      grads[0].reset();
      return;
    }
    if (any && where_.of(node).needed && wants_more(node)) {
      apply(node, grads);
    } else {
      pass_nothing(node);
    }
    for (int i = 0; i < node->output_count; ++i) grads[i].reset();
    if (!request_.keep_graph) release_saved(*node);
  }

  bool is_accumulating(const Node* node) const {
    return request_.accumulate_captures &&
           std::any_of(request_.captures.begin(), request_.captures.end(),
                       [&](const Capture& capture) { return capture.node == node; });
  }

  void capture(Node* node, Tensor* grads) {
    for (Capture& capture : request_.captures) {
      if (capture.node == node) capture.grad = grads[capture.output];
    }
  }

  bool wants_more(Node* node) const {
    if (!request_.only_captures) return true;
    for (uint32_t i = 0; i < node->edge_count; ++i) {
      Node* const next = node->edges()[i].node;
      if (next && where_.of(next).needed) return true;
    }
    return false;
  }

  void apply(Node* node, Tensor* grad_outputs) {
    constexpr uint32_t kInline = 4;
    Tensor inline_grads[kInline];
    std::unique_ptr<Tensor[]> many;
    Tensor* grads = inline_grads;
    if (node->edge_count > kInline) {
      many = std::make_unique<Tensor[]>(node->edge_count);
      grads = many.get();
    }
    Backward backward(*node, grad_outputs, grads);
    node->functions->apply(*node, backward);
    // What came in is no longer needed: a buffer that a rule passed on has one owner again.
    for (int i = 0; i < node->output_count; ++i) grad_outputs[i].reset();
    const bool anomaly = (taper::detail::thread_state.mode & taper::detail::kModeAnomaly) != 0;
    for (int i = 0; i < backward.input_count(); ++i) {
      const Edge& edge = node->edges()[i];
      if (!edge.node) continue;
      if (TAPER_UNLIKELY(anomaly)) check_no_nan(*node, grads[i], i);
      if (grads[i].defined()) {
        deliver(edge, conform(std::move(grads[i]), expected_at(edge), *node, i));
      }
      settle(edge.node);
    }
  }

  void pass_nothing(Node* node) {
    for (uint32_t i = 0; i < node->edge_count; ++i) {
      if (Node* next = node->edges()[i].node) settle(next);
    }
  }

  void settle(Node* node) {
    if (--where_.of(node).pending == 0) make_ready(node);
  }

  Request& request_;
  Where& where_;
  std::vector<Node*> visited_;  // each holds a reference
  std::vector<Node*> heap_;
  Node* best_ = nullptr;
};

void execute(Request& request) {
  if (!nodes_in_use.test_and_set(std::memory_order_acquire)) {
    struct Unlock {
      ~Unlock() { nodes_in_use.clear(std::memory_order_release); }
    } unlock;
    InNodes where;
    Pass<InNodes>(request, where).run();
  } else {
    Aside where;
    Pass<Aside>(request, where).run();
  }
}

// Roots of a request: an edge per output, with the gradient that arrives there.
void add_root(Request& request, const Tensor& output, const Tensor& grad) {
  TAPER_CHECK(output.defined(), "backward: an output is undefined");
  TAPER_CHECK(output.requires_grad(),
              "element 0 of tensors does not require grad and does not have a grad_fn");
  Tensor start = grad;
  if (start.defined()) {
    TAPER_CHECK(start.sizes().equals(output.sizes()),
                "Mismatch in shape: grad_output[0] has a shape of ", start.sizes(),
                " and output[0] has a shape of ", output.sizes(), ".");
    if (TAPER_UNLIKELY(start.device() != output.device())) {
      // As everywhere, a number on the CPU may stand for one on a device.
      TAPER_CHECK(start.dim() == 0, "invalid gradient at index ", request.roots.size(),
                  " - expected device ", output.device(), " but got ", start.device());
      start = start.to(output.device());
    }
    if (start.scalar_type() != output.scalar_type()) start = start.to(output.scalar_type());
  } else {
    TAPER_CHECK(output.numel() == 1,
                "grad can be implicitly created only for scalar outputs, but this "
                "one has shape ",
                output.sizes(), ". Pass a gradient of that shape to backward().");
    const NoGradGuard quiet;
    start = ones_like(output);
  }
  request.roots.push_back(gradient_edge(output));
  request.root_grads.push_back(std::move(start));
}

struct OwnedEdges {
  Request& request;
  ~OwnedEdges() {
    for (const Edge& root : request.roots) release(root.node);
    for (const Capture& capture : request.captures) {
      if (capture.node) release(capture.node);
    }
  }
};

void add_roots(Request& request, const variable_list& outputs, const variable_list& grads) {
  TAPER_CHECK(grads.empty() || grads.size() == outputs.size(), "got ", outputs.size(),
              " tensors and ", grads.size(), " gradients");
  for (size_t i = 0; i < outputs.size(); ++i) {
    add_root(request, outputs[i], grads.empty() ? Tensor() : grads[i]);
  }
}

}  // namespace

void backward(const variable_list& tensors, const variable_list& grad_tensors,
              std::optional<bool> retain_graph, bool create_graph, const variable_list& inputs) {
  const StreamsOfBackward streams;
  Request request;
  const OwnedEdges owned{request};
  request.create_graph = create_graph;
  request.keep_graph = retain_graph.value_or(create_graph);
  add_roots(request, tensors, grad_tensors);
  request.only_captures = request.accumulate_captures = !inputs.empty();
  for (const Tensor& input : inputs) {
    TAPER_CHECK(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    input.retain_grad();
    const Edge edge = gradient_edge(input);
    request.captures.push_back({edge.node, edge.index, {}});
  }
  execute(request);
}

variable_list grad(const variable_list& outputs, const variable_list& inputs,
                   const variable_list& grad_outputs, std::optional<bool> retain_graph,
                   bool create_graph, bool allow_unused) {
  TAPER_CHECK(!inputs.empty(), "grad requires non-empty inputs.");
  const StreamsOfBackward streams;
  Request request;
  const OwnedEdges owned{request};
  request.create_graph = create_graph;
  request.keep_graph = retain_graph.value_or(create_graph);
  request.only_captures = true;
  add_roots(request, outputs, grad_outputs);
  for (const Tensor& input : inputs) {
    TAPER_CHECK(input.requires_grad(), "One of the differentiated Tensors does not require grad");
    const Edge edge = gradient_edge(input);
    request.captures.push_back({edge.node, edge.index, {}});
  }
  execute(request);
  variable_list out;
  for (Capture& capture : request.captures) {
    TAPER_CHECK(capture.grad.defined() || allow_unused,
                "One of the differentiated Tensors appears to not have been used in the graph. Set "
                "allow_unused=true if this is the desired behavior.");
    out.push_back(std::move(capture.grad));
  }
  return out;
}

}  // namespace taper::autograd

namespace taper {

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  autograd::backward(
      {*this}, gradient.defined() ? autograd::variable_list{gradient} : autograd::variable_list{},
      retain_graph, create_graph, inputs ? inputs->vec() : autograd::variable_list{});
}

}  // namespace taper
