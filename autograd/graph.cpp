#include "taper/autograd/graph.h"

#include <unordered_map>

#include "taper/autograd/node.h"

namespace taper::autograd {

namespace {

std::string shape_text(IntArrayRef sizes, ScalarType dtype) {
  taper::detail::MessageBuilder text;
  text << sizes;
  if (dtype != kFloat) text << " " << dtype;
  return text.take();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

class Drawing {
 public:
  explicit Drawing(const NamedTensors& names) {
    for (const auto& [name, tensor] : names) {
      if (tensor.defined()) names_.emplace(tensor.unsafe_impl(), name);
    }
  }

  std::string draw(const Tensor& tensor) {
    const Edge root = gradient_edge(tensor);
    if (!root.node) {
      statement("out", shape_text(tensor.sizes(), tensor.scalar_type()), "shape=ellipse");
      return finish();
    }
    if (!root.node->is_accumulator) {
      statement("out", "result\n" + shape_text(tensor.sizes(), tensor.scalar_type()),
                "shape=ellipse, style=filled, fillcolor=\"#cfe8cf\"");
      body_ += "  " + number(root.node) + " -> out;\n";
    }
    number(root.node);
    // The list grows as nodes are found; the graph may be deep, so there is no recursion.
    for (size_t i = 0; i < found_.size(); ++i) visit(found_[i]);
    release(root.node);
    return finish();
  }

 private:
  std::string number(Node* node) {
    const auto [at, is_new] = numbers_.emplace(node, numbers_.size());
    if (is_new) found_.push_back(node);
    return "n" + std::to_string(at->second);
  }

  void visit(Node* node) {
    const std::string id = number(node);
    if (node->is_accumulator) {
      const TensorImpl* leaf = leaf_of(*node);
      const auto name = names_.find(leaf);
      const std::string shape = shape_text(leaf->sizes, leaf->dtype);
      statement(id, name == names_.end() ? shape : name->second + "\n" + shape,
                "shape=ellipse, style=filled, fillcolor=\"#cfe0f5\"");
      return;
    }
    std::string label = node->name;
    for (int i = 0; i < node->output_count; ++i) {
      label += '\n' + shape_text(node->output_sizes(i), node->outputs()[i].dtype);
    }
    statement(id, label, "shape=box");
    for (uint32_t i = 0; i < node->edge_count; ++i) {
      if (Node* input = node->edges()[i].node) body_ += "  " + number(input) + " -> " + id + ";\n";
    }
  }

  void statement(const std::string& id, const std::string& label, const char* attributes) {
    body_ += "  " + id + " [label=" + quoted(label) + ", " + attributes + "];\n";
  }

  std::string finish() const {
    return "digraph tape {\n  node [fontname=\"Helvetica\", fontsize=11];\n" + body_ + "}\n";
  }

  std::unordered_map<const TensorImpl*, std::string> names_;
  std::unordered_map<Node*, size_t> numbers_;
  std::vector<Node*> found_;
  std::string body_;
};

}  // namespace

std::string to_dot(const Tensor& tensor, const NamedTensors& names) {
  TAPER_CHECK(tensor.defined(), "to_dot: the tensor is undefined");
  return Drawing(names).draw(tensor);
}

}  // namespace taper::autograd
