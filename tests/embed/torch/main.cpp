#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(1);
  auto x = torch::ones({2, 3}, torch::requires_grad());
  auto loss = (x * 2).sum();
  loss.backward();
  std::cout << x.grad() << "\n";
  bool thrown = false;  // an exception must cross the library's border
  try {
    torch::matmul(x, x);
  } catch (const c10::Error& error) {
    thrown = true;
  }
  return thrown && loss.item<float>() == 12.0f ? 0 : 1;
}
