#include <taper/taper.h>

int main() {
  taper::Tensor x = taper::ones({3}).requires_grad_(true);
  (x * x).sum().backward();
  return x.grad().sum().item<double>() == 6.0 ? 0 : 1;
}
