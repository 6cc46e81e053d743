#include "device.h"
#include "taper/autograd/function.h"
#include "taper/nn/functional.h"

// Operands on several devices: on a card, a kernel that gets the other's memory ends the program.

using namespace device_tests;

TEST_CASE("every op refuses operands that are apart, but for a number on the CPU") {
  const Tensor c = ones({3}), cc = ones({3, 3}), image = ones({1, 1, 3, 3}), one = ones({1});
  const Tensor g = c.to(kCUDA), gg = cc.to(kCUDA), there = image.to(kCUDA), number = g.sum();
  Tensor total = zeros({}), row = zeros({1, 1});
  namespace F = nn::functional;
  const std::function<void()> calls[] = {
      [&] { total += number; },
      [&] { total.mul_(number); },
      [&] { total.pow_(number); },
      [&] { total.lerp_(number, 0.5); },
      [&] { total.addcmul_(number, number); },
      [&] { row[0][0] += number; },
      [&] { addmm(g, cc, cc); },
      [&] { addmm(c, gg, gg); },
      [&] { addmm(cc, gg, gg); },
      [&] { addmv(c, gg, g); },
      [&] { baddbmm(cc, gg.unsqueeze(0), gg.unsqueeze(0)); },
      [&] { F::linear(cc, cc, g); },
      [&] { F::linear(gg, gg, c); },
      [&] { layer_norm(cc, {3}, g); },
      [&] { layer_norm(gg, {3}, {}, c); },
      [&] { group_norm(image, 1, one.to(kCUDA)); },
      [&] { batch_norm(there, one, {}, {}, {}, true, 0.1, 1e-5, false); },
      [&] { batch_norm(image, {}, {}, one.to(kCUDA), one, false, 0.1, 1e-5, false); },
      [&] { instance_norm(image, {}, {}, one.to(kCUDA), one.to(kCUDA), true, 0.1, 1e-5, false); },
      [&] { cross(cc, gg); },
      [&] { prelu(g, one); }};
  for (const auto& call : calls) {
    INFO("call " << &call - calls);
    contains(error_of(call), "Expected all tensors to be on the same device");
  }
  CHECK(total.item<float>() == 0);
  CHECK((g * tensor(2.0f)).sum().item<float>() == 6);  // a number follows
}

TEST_CASE("a gradient stays where its tensor is") {
  const Tensor w = ones({3}, TensorOptions(kCUDA).requires_grad(true));
  const auto to_cpu = [](const Tensor& grad) { return grad.cpu(); };
  w.register_hook(to_cpu);
  contains(error_of([&] { (w * 2).sum().backward(); }),
           "a hook has changed the device of the gradient from cuda:0 to cpu");
  struct Wrong : autograd::Function<Wrong> {
    static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2; }
    static autograd::variable_list backward(autograd::AutogradContext*,
                                            const autograd::variable_list& grads) {
      return {grads[0].cpu()};
    }
  };
  const Tensor v = ones({3}, TensorOptions(kCUDA).requires_grad(true));
  contains(error_of([&] { Wrong::apply(v).sum().backward(); }),
           "expected device cuda:0 but got cpu");
  CHECK(!v.grad().defined());
}
