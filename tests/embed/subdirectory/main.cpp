#include <taper/taper.h>

double total(int n);

int main() {
  taper::Tensor a = taper::ones({4, 4});
  return total(3) == 9.0 && taper::matmul(a, a).sum().item<double>() == 64.0 ? 0 : 1;
}
