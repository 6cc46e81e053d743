#include <functional>

#include "support/rows.h"
#include "taper/autograd/grad_mode.h"

// Elements that are one place in memory: windows, expanded targets, views that come together; and
// what an op that is refused leaves behind.

using namespace taper;
using namespace support;
using Catch::Matchers::ContainsSubstring;

namespace {

Tensor expanded() { return zeros({1}).expand({3}); }
Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}, kFloat).requires_grad_(true);
}

const char* const kWrittenTwice =
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location";
const char* const kPartly =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to "
    "a single memory location";

}  // namespace

TEST_CASE("overlap: windows hand back the sum of their gradients") {
  check_rows(std::vector<ValueRow>{
      GIVES(GRADIENT(x.unfold(0, 2, 1), ones({5})), {1, 2, 2, 2, 1}),
      GIVES(GRADIENT(x.unfold(0, 3, 2), ones({7})), {1, 1, 2, 1, 2, 1, 1}),
      GIVES(GRADIENT(x.unfold(1, 2, 1) * 1, ones({2, 3})), {1, 2, 1, 1, 2, 1}),
      GIVES(GRADIENT(x.as_strided({4, 2}, {1, 1}), ones({5})), {1, 2, 2, 2, 1}),
      GIVES(GRADIENT((x * 1).as_strided({2, 2, 2}, {1, 1, 2}), ones({5})), {1, 2, 2, 2, 1}),
  });
  // Three positions of the input are one place: each has its share of the gradient.
  CHECK(near(GRADIENT(x.expand({3}).as_strided({2}, {0}), ones({1})), {2}));
}

TEST_CASE("overlap: out= into a tensor that is written to twice, or read from in part") {
  Tensor row = expanded(), square = zeros({1}).expand({2, 2});
  CHECK_THAT(error_of([&] { add_out(row, ones({3}), ones({3})); }),
             ContainsSubstring(kWrittenTwice));
  CHECK_THAT(error_of([&] { exp_out(row, ones({3})); }), ContainsSubstring(kWrittenTwice));
  CHECK_THAT(error_of([&] { mm_out(square, ones({2, 2}), ones({2, 2})); }),
             ContainsSubstring(kWrittenTwice));
  CHECK_THAT(error_of([&] { row.copy_(ones({3})); }), ContainsSubstring(kWrittenTwice));
  CHECK(near(row.fill_(2), {2, 2, 2}));

  const Tensor all = arange(4.), first = all.slice(0, 0, 3), matrix = all.view({2, 2});
  Tensor last = all.slice(0, 1, 4);
  CHECK_THAT(error_of([&] { exp_out(last, first); }), ContainsSubstring(kPartly));
  CHECK_THAT(error_of([&] { last.copy_(first); }), ContainsSubstring(kPartly));
  CHECK_THAT(error_of([&] { matrix.copy_(matrix.t()); }), ContainsSubstring(kPartly));
  CHECK(near(all, {0, 1, 2, 3}));
}

TEST_CASE("overlap: views that come several at a time are not changed in place") {
  const char* const words = "This view is the output of a function that returns multiple views";
  check_rows(std::vector<ErrorRow>{
      THROWS((leaf({1, 2}) * 1).chunk(2)[1].mul_(2), "Output 1 of Split is a view"),
      THROWS((leaf({1, 2}) * 1).split({1, 1})[0].mul_(2), "Output 0 of SplitWithSizes is a view"),
      THROWS((leaf({1, 2}) * 1).unbind()[1].mul_(2), "Output 1 of Unbind is a view"),
      THROWS((leaf({1, 2}) * 1).unbind()[1].view({1}).mul_(2), words),
      THROWS(leaf({1, 2}).chunk(2)[0].mul_(2), words),
  });
  CHECK(near((leaf({1, 2}) * 1).tensor_split(2)[1].mul_(2), {4}));
  CHECK(near(ones({2}).unbind()[1].mul_(2), {2}));
  const NoGradGuard quiet;
  CHECK(near((leaf({1, 2}) * 1).unbind()[1].mul_(2), {4}));
}

TEST_CASE("overlap: pieces share a node, however many there are") {
  Tensor x = leaf({1, 2, 3});
  const std::vector<Tensor> parts = (x * 1).split(2);
  CHECK(parts[0].grad_fn().name() == "SplitBackward0");
  (parts[1] * 5).sum().backward();
  CHECK(near(x.grad(), {0, 0, 5}));
  Tensor many = ones({70000}).requires_grad_(true);
  many.unbind()[69999].backward();
  CHECK(many.grad().sum().item<double>() == 1);
  CHECK(many.grad()[69999].item<double>() == 1);
}

namespace {

// Whether the op throws, and leaves alone what it would have changed.
bool refused(const std::function<void(const Tensor&)>& op) {
  Tensor w = ones({3}).requires_grad_(true);
  const Tensor a = w * 2, y = (a * a).sum();
  const uint32_t version = a._version();
  const bool threw = !error_of([&] { op(a); }).empty();
  y.backward();
  return threw && a._version() == version && near(w.grad(), {8, 8, 8});
}

}  // namespace

TEST_CASE("a refused op leaves the version, and with it earlier graphs") {
  CHECK(refused([&](const Tensor& a) { a.masked_scatter_(ones({3}, kBool), ones({2})); }));
  CHECK(refused([&](const Tensor& a) { a.fill_(1e50); }));
  CHECK(refused([&](const Tensor& a) { a.add_(ones({4})); }));
  CHECK(refused([&](const Tensor& a) { a.uniform_(2, 1); }));
  CHECK(refused([&](const Tensor& a) { a.copy_(ones({4})); }));
}

TEST_CASE("an index out of range leaves the version, too") {
  CPU_ONLY("a device finds it when the op has been queued");
  const Tensor beyond = tensor({0, 7});
  CHECK(refused([&](const Tensor& a) { a.scatter_(0, beyond, 9); }));
  CHECK(refused([&](const Tensor& a) { a.scatter_(0, beyond, ones({2})); }));
  CHECK(refused([&](const Tensor& a) { a.scatter_add_(0, beyond, ones({2})); }));
  CHECK(refused([&](const Tensor& a) { a.index_add_(0, beyond, ones({2})); }));
  CHECK(refused([&](const Tensor& a) { a.index_copy_(0, beyond, ones({2})); }));
  CHECK(refused([&](const Tensor& a) { a.index_fill_(0, beyond, 1); }));
  CHECK(refused([&](const Tensor& a) { Tensor(a).index_put_({beyond}, 1); }));
}

TEST_CASE("a dimension out of range is named") {
  check_rows(std::vector<ErrorRow>{
      THROWS(gather(ones({2, 3}), 1, tensor({{7}})),
             "index 7 is out of bounds for dimension 1 with size 3"),
      THROWS(scatter(ones({2, 3}), 1, tensor({{7}}), 1),
             "index 7 is out of bounds for dimension 1 with size 3"),
      THROWS(index_select(ones({2, 3}), 1, tensor({7})),
             "index 7 is out of bounds for dimension 1 with size 3"),
      THROWS(ones({2, 3}).index({tensor({0}), tensor({7})}),
             "index 7 is out of bounds for dimension 1 with size 3"),
      THROWS(ones({3, 3}).index({tensor({0}), tensor({7})}),
             "index 7 is out of bounds for dimension 1 with size 3"),
      THROWS(embedding(ones({2, 3}), tensor({7})),
             "index 7 is out of bounds for dimension 0 with size 2"),
  });
}
