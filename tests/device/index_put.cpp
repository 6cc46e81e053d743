#include "device.h"
#include "support/tensors.h"
#include "taper/core/factories.h"
#include "taper/core/tensor.h"

// What index_put_ takes from another device: a copy everything, index tensors a single number.

using namespace taper;
using namespace taper::indexing;

using namespace device_tests;

TEST_CASE("integers and slices take values from any device") {
  Tensor g = zeros({3, 3}, on_cuda());
  g.index_put_({0, 0}, tensor(3.f));
  g.index_put_({Slice(), 1}, arange(3, kFloat));
  g.index_put_({2, Slice(1, None)}, full({1, 2}, 7.f));
  CHECK(support::values(g.cpu()) == std::vector<double>{3, 0, 0, 0, 1, 0, 0, 7, 7});
  g.index_put_({"..."}, ones({3, 3}, kDouble));
  CHECK(g.cpu().equal(ones({3, 3})));
  Tensor on_host = zeros({2, 3});
  on_host.index_put_({1}, g[0]);
  CHECK(support::values(on_host) == std::vector<double>{0, 0, 0, 1, 1, 1});
  Tensor elsewhere = zeros({3}, TensorOptions(kFloat).device(last_device()));
  elsewhere.index_put_({Slice(0, 2)}, g[0].slice(0, 0, 2));
  CHECK(support::values(elsewhere.cpu()) == std::vector<double>{1, 1, 0});
}

TEST_CASE("index tensors take a number from any device, and no more than that") {
  Tensor g = zeros({4}, on_cuda());
  const Tensor rows = tensor({0, 2}, kLong).to(kCUDA);
  g.index_put_({rows}, tensor(1.f));
  g.index_put_({rows}, tensor({2.f}), /*accumulate=*/true);
  CHECK(support::values(g.cpu()) == std::vector<double>{3, 0, 3, 0});
  g.index_put_({g > 0}, tensor(5.f));
  g.index_put_({g == 0}, tensor({6.f}));
  CHECK(support::values(g.cpu()) == std::vector<double>{5, 6, 5, 6});
  for (const Tensor& index : {rows, g > 5}) {
    contains(error_of([&] { g.index_put_({index}, ones({2})); }), "same device");
  }
  CHECK(support::values(g.cpu()) == std::vector<double>{5, 6, 5, 6});
}

TEST_CASE("the gradient of values that index_put_ takes from the host is on the host") {
  const Tensor rows = tensor({0, 2}, kLong).to(kCUDA);
  const Tensor row = ones({3}).requires_grad_(), number = tensor(2.f).requires_grad_(),
               masked = tensor(2.f).requires_grad_();
  const Tensor weight = arange(1, 10, kFloat).reshape({3, 3}).to(kCUDA);
  Tensor g = zeros({3, 3}, on_cuda());
  g.index_put_({Slice(), 0}, row);
  g.index_put_({1, rows}, number);  // and so the middle one of `row` does not count
  g.index_put_({tensor({false, false, true}).to(kCUDA), 1}, masked);
  (g * weight).sum().backward();
  CHECK(row.grad().equal(tensor({1.f, 0.f, 7.f})));
  CHECK(number.grad().equal(tensor(4.f + 6.f)));
  CHECK(masked.grad().equal(tensor(8.f)));
}
