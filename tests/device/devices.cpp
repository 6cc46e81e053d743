#include <cstdlib>
#include <thread>

#include "device.h"
#include "support/tensors.h"
#include "taper/autograd/autograd.h"

// Several devices. These tests run with one, two and four, with and without access to each other's
// memory.

using namespace device_tests;

namespace {

Device device(int index) { return Device(kCUDA, static_cast<DeviceIndex>(index)); }
TensorOptions on(int index) { return TensorOptions(kFloat).device(device(index)); }

}  // namespace

TEST_CASE("tensors go from any device to any", "[devices]") {
  const int count = cuda::device_count();
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      INFO("cuda:" << from << " to cuda:" << to);
      const Tensor x = arange(24, on(from)).reshape({4, 6});
      for (const Tensor& source : {x, x.t(), x.slice(1, 1, 5, 2), x.select(0, 2), x.to(kHalf)}) {
        const Tensor there = source.to(device(to));
        CHECK(there.device() == device(to));
        CHECK(support::values(there) == support::values(source));
      }
      const Tensor target = zeros({4, 6}, on(to));
      target.copy_(x, /*non_blocking=*/true);
      target.add_(1);  // after the copy
      x.fill_(0);      // after it as well, though on the other device
      CHECK(target.sum().item<float>() == 24 * 23 / 2 + 24);
      if (!cuda::is_emulated()) continue;  // cards have the peers that they have
      const char* const given = std::getenv("TAPER_EMULATOR");
      const std::string settings = given ? given : "";
      CHECK(cuda::can_device_access_peer(static_cast<DeviceIndex>(from),
                                         static_cast<DeviceIndex>(to)) ==
            (from != to && settings.find("peers=off") == std::string::npos));
    }
  }
}

TEST_CASE("copies between devices heed the streams of both", "[devices]") {
  const int last = cuda::device_count() - 1;
  const cuda::Stream there(0), here(static_cast<DeviceIndex>(last));
  Tensor x, y;
  {
    const cuda::StreamGuard on_there(there), on_here(here);
    x = full({10000}, 3, on(0));
    x.mul_(2);
    y = x.to(device(last), /*non_blocking=*/true, /*copy=*/true);
    x.fill_(7);
    y.add_(1);
  }
  here.synchronize();
  CHECK(y.sum().item<float>() == 70000);
}

TEST_CASE("what belongs to a device is kept apart", "[devices]") {
  const int count = cuda::device_count();
  manual_seed(5);
  std::vector<double> first;
  for (int i = 0; i < count; ++i) {
    const cuda::DeviceGuard guard(static_cast<DeviceIndex>(i));
    CHECK(cuda::current_device() == i);
    CHECK(cuda::current_stream().device() == device(i));
    CHECK(cuda::Stream().device() == device(i));
    const int64_t before = cuda::memory_allocated();
    const Tensor x = rand({100}, TensorOptions(kFloat).device(kCUDA));
    CHECK(x.device() == device(i));
    CHECK(cuda::memory_allocated() - before == (kCached ? 512 : 400));
    // The same seed gives the same numbers, wherever they are drawn.
    if (i == 0) first = support::values(x);
    CHECK(support::values(x) == first);
  }
  CHECK(cuda::current_device() == 0);
  for (int i = 1; i < count; ++i) {
    const Tensor a = ones({2}, on(0)), b = ones({2}, on(i));
    contains(error_of([&] { a + b; }), "Expected all tensors to be on the same device");
    contains(error_of([&] { a + b; }), "cuda:" + std::to_string(i));
  }
}

TEST_CASE("an index out of range is reported by the device that found it", "[devices]") {
  const int last = cuda::device_count() - 1;
  embedding(ones({3, 2}, on(last)), full({1}, 5, on(last).dtype(kLong)));
  for (int i = 0; i < last; ++i) cuda::synchronize(i);
  contains(error_of([&] { cuda::synchronize(last); }),
           "embedding(): index 5 is out of bounds for dimension with size 3 (found on cuda:" +
               std::to_string(last));
}

TEST_CASE("a network over two devices trains", "[devices]") {
  const int last = cuda::device_count() - 1;
  const Tensor x = ones({4, 8}, on(0)), first = full({8, 8}, 0.1, on(0)).requires_grad_();
  const Tensor second = full({8, 1}, 0.1, on(last)).requires_grad_();
  const Tensor loss = x.mm(first).relu().to(device(last)).mm(second).sum();
  loss.backward();
  CHECK(first.grad().device() == device(0));
  CHECK(second.grad().device() == device(last));
  CHECK(loss.item<float>() == Approx(4 * 8 * 0.8 * 0.1));
  CHECK(first.grad().sum().item<float>() == Approx(64 * 4 * 0.1));
  CHECK(second.grad().sum().item<float>() == Approx(8 * 4 * 0.8));
}

TEST_CASE("a device that does not exist is named, with those that do", "[devices]") {
  const int count = cuda::device_count();
  const std::string message = error_of([] { empty({1}, TensorOptions().device("cuda:7")); });
  contains(message, "there is no device cuda:7; this machine has " +
                        (count == 1 ? std::string("one: cuda:0")
                                    : std::to_string(count) +
                                          ", cuda:0 to cuda:" + std::to_string(count - 1)));
  const std::string mps = error_of([] { Device("mps"); });
  contains(mps, "mps");
  contains(mps, "cuda");
}

TEST_CASE("backward is ordered after the streams of its graph, and before their later work",
          "[devices]") {
  for (int i = 0; i < 10; ++i) {
    const cuda::Stream side(last_device().index());
    Tensor weight, loss;
    {
      const cuda::StreamGuard guard(side);
      weight = full({1000}, 2.0f, kCUDA).requires_grad_(true);
      const Tensor tripled = weight * 3;
      loss = (tripled * tripled).sum();
    }
    const auto backward = [&] {
      loss.backward();
      CHECK(weight.grad().sum().item<float>() == 36000);
    };
    if (i % 2 == 0) {
      std::thread(backward).join();
    } else {
      backward();
    }
    const cuda::StreamGuard guard(side);  // and what the graph held may be reused there
    CHECK((full({1000}, 1.0f, kCUDA) + weight.grad()).sum().item<float>() == 37000);
  }
}
