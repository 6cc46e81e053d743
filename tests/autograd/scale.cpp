#include <atomic>
#include <thread>

#include "support/rows.h"
#include "taper/autograd/grad_mode.h"

// Very long graphs, and several threads.

using namespace taper;
using namespace support;

namespace {

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}).requires_grad_(true);
}

}  // namespace

TEST_CASE("a million recorded ops run backward and are freed") {
  Tensor x = leaf({1});
  const int64_t n = scaled(1000000);
  {
    Tensor y = x;
    for (int64_t i = 0; i < n; ++i) y = y + 1;
    CHECK(y.item<int64_t>() == n + 1);
    y.backward();
    CHECK(near(x.grad(), {1}));
  }
  Tensor y = x;
  for (int64_t i = 0; i < n; ++i) y = y * 1;
  y.reset();  // freed without a backward
  CHECK(x.requires_grad());
}

TEST_CASE("a million in-place ops on one tensor") {
  Tensor x = leaf({1});
  Tensor y = x * 1;
  for (int64_t i = scaled(1000000); i > 0; --i) y.add_(1);
  y.backward();
  CHECK(near(x.grad(), {1}));
}

TEST_CASE("a wide graph: 100,000 branches") {
  Tensor x = leaf({1});
  std::vector<Tensor> branches;
  const int64_t n = scaled(100000);
  for (int64_t i = 0; i < n; ++i) branches.push_back(x * 2);
  stack(branches).sum().backward();
  CHECK(near(x.grad(), {2. * static_cast<double>(n)}));
}

TEST_CASE("graphs recorded by several threads, joined in one") {
  Tensor x = leaf({1, 2});
  std::vector<Tensor> parts(4);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Tensor y = x;
      for (int i = 0; i < 100; ++i) y = y + x;
      parts[t] = y * (t + 1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  (parts[0] + parts[1] + parts[2] + parts[3]).sum().backward();
  CHECK(near(x.grad(), {1010, 1010}));
}

TEST_CASE("several threads run backward into one leaf") {
  Tensor x = leaf({1, 2});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) (x * 2).sum().backward();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(near(x.grad(), {2000, 2000}));
}

TEST_CASE("several threads run backward through one shared graph") {
  Tensor x = leaf({1, 2});
  Tensor shared = x;
  for (int i = 0; i < 50; ++i) shared = shared * 1;
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Tensor gradient = autograd::grad({(shared * 3).sum()}, {x}, {}, true)[0];
        if (near(gradient, {3, 3})) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 200);
}

TEST_CASE("several threads run inference on one model") {
  const Tensor weight = make({1, 2, 3, 4, 5, 6}, {2, 3}).requires_grad_(true);
  const Tensor bias = leaf({1, 1});
  const Tensor input = make({1, 0, 2}, {1, 3});
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      NoGradGuard no_grad;
      for (int i = 0; i < 200; ++i) {
        if (near(relu(linear(input, weight, bias)), {8, 17})) ++right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 800);
  CHECK(GradMode::is_enabled());
}

TEST_CASE("modes belong to their thread") {
  NoGradGuard no_grad;
  bool enabled = false;
  std::thread([&] { enabled = GradMode::is_enabled(); }).join();
  CHECK(enabled);
}

TEST_CASE("a hook may run backward itself") {
  Tensor x = leaf({2}), inner = leaf({3});
  const Tensor y = x * 2;
  y.register_hook([&](const Tensor&) {
    EnableGradGuard enable;  // backward itself runs without recording
    (inner * inner).sum().backward();
  });
  (y * y).sum().backward();
  CHECK(near(x.grad(), {16}));
  CHECK(near(inner.grad(), {6}));
}

TEST_CASE("short-lived threads leave nothing behind that breaks later ones") {
  Tensor x = leaf({1});
  for (int i = 0; i < 200; ++i) {
    Tensor y;
    std::thread([&] { y = (x * 2) + 1; }).join();
    y.backward();
  }
  CHECK(near(x.grad(), {400}));
}
