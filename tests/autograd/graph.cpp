#include "taper/autograd/graph.h"

#include "support/rows.h"
#include "taper/nn/modules/linear.h"

using namespace taper;
using namespace support;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("to_dot draws ops and leaves with names and shapes") {
  Tensor w = ones({2, 3}).requires_grad_(true), x = ones({2, 3}, kDouble).requires_grad_(true);
  const std::string dot = to_dot((w * w + x).sum(), {{"weight \"w\"", w}});
  INFO(dot);
  CHECK(dot.find("digraph") == 0);
  CHECK(count(dot, "MulBackward0\\n[2, 3]") == 1);
  CHECK(count(dot, "weight \\\"w\\\"\\n[2, 3]") == 1);
  CHECK(count(dot, "\"[2, 3] Double\"") == 1);
  CHECK(count(dot, "shape=box") == 3);
  CHECK(count(dot, " -> ") == 6);
}

TEST_CASE("to_dot takes a module's parameters") {
  nn::Linear linear(2, 1);
  const std::string dot = to_dot(linear->forward(ones({1, 2})), linear->named_parameters());
  INFO(dot);
  CHECK(count(dot, "weight\\n[1, 2]") == 1);
  CHECK(count(dot, "bias\\n[1]") == 1);
}

TEST_CASE("to_dot of a deep graph, and of no graph") {
  Tensor x = ones({1}).requires_grad_(true);
  Tensor y = x;
  for (int i = 0; i < 20000; ++i) y = y + 1;
  CHECK(count(to_dot(y), "shape=box") == 20000);
  CHECK(count(to_dot(ones({2})), " -> ") == 0);
  CHECK_FALSE(error_of([] { to_dot(Tensor()); }).empty());
}

TEST_CASE("nodes have PyTorch's names") {
  const Tensor x = ones({3, 4}).requires_grad_(true);
  const auto name = [](const Tensor& out) { return out.grad_fn().name(); };
  CHECK(name(x * x) == "MulBackward0");
  CHECK(name(x.sum()) == "SumBackward0");
  CHECK(name(x.sum(0)) == "SumBackward1");
  CHECK(name(x.max()) == "MaxBackward1");
  CHECK(name(std::get<0>(x.max(0))) == "MaxBackward0");
  CHECK(name(x.pow(2)) == "PowBackward0");
  CHECK(name(x.pow(x)) == "PowBackward1");
  CHECK(name(x.t()) == "TBackward0");
  CHECK(name(x.transpose(0, 1)) == "TransposeBackward0");
  CHECK(name(x.unfold(0, 2, 1)) == "UnfoldBackward0");
  CHECK(name(x.clamp(0, 1)) == "ClampBackward1");
  CHECK(name(x.clamp_min(0)) == "ClampMinBackward0");
  CHECK(name(x.norm()) == "LinalgVectorNormBackward0");
  CHECK(name(x.fmod(2)) == "FmodBackward0");
  CHECK(name(x.fmod(x)) == "FmodBackward1");
  CHECK(name(x.scatter(0, zeros({1, 4}, kLong), 1)) == "ScatterBackward1");
}
