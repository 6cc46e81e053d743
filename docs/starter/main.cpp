// Finds the line y = 3x - 1 in noisy points: tensors, a module, an optimizer, the tape.
#include <taper/taper.h>

#include <cmath>
#include <iostream>

int main() {
  using namespace taper;
  manual_seed(0);

  Tensor x = rand({256, 1}) * 2 - 1;
  Tensor y = 3 * x - 1 + 0.1 * randn({256, 1});

  nn::Linear line(1, 1);
  optim::SGD optimizer(line->parameters(), optim::SGDOptions(0.1));
  for (int step = 1; step <= 200; ++step) {
    optimizer.zero_grad();
    Tensor loss = nn::functional::mse_loss(line->forward(x), y);
    loss.backward();
    optimizer.step();
    if (step % 50 == 0) std::cout << "step " << step << "  loss " << loss.item<float>() << "\n";
  }

  float slope = line->weight.item<float>(), offset = line->bias.item<float>();
  std::cout << "y = " << slope << " x + " << offset << "\n";
  return std::abs(slope - 3) < 0.1f && std::abs(offset + 1) < 0.1f ? 0 : 1;
}
