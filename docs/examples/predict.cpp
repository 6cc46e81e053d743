// Loads the weights that train_cnn wrote and names what is on a picture.

#include <taper/taper.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "support/cnn.h"
#include "support/options.h"

using namespace taper;

// Draws a picture of [height, width] in [0, 1] with characters, two columns per pixel.
void draw(const Tensor& picture) {
  const char shades[] = " .:-=+*#%@";
  const auto pixels = picture.accessor<float, 2>();
  for (int64_t y = 0; y < pixels.size(0); ++y) {
    for (int64_t x = 0; x < pixels.size(1); ++x) {
      const char c = shades[std::clamp(static_cast<int>(pixels[y][x] * 9.99f), 0, 9)];
      std::cout << c << c;
    }
    std::cout << '\n';
  }
}

int main(int argc, char** argv) {
  std::string run = "runs/latest", folder, name;
  int64_t index = 0;
  examples::CommandLine line(
      "Names what is on a picture of the test set, with the model that train_cnn made.");
  line.text("--run", run, "Folder that train_cnn wrote (its --out)");
  line.data(folder);
  line.whole("--index", index, 0, "Which picture of the test set");
  line.device("--device", name);
  return line.run(argc, argv, [&] {
    const Device device(name);
    const auto images = data::datasets::find_mnist_like(folder);
    data::datasets::MNIST test_set(images.root, data::datasets::MNIST::Mode::kTest);
    TAPER_CHECK(index < static_cast<int64_t>(*test_set.size()), "--index ", index,
                ": the test set has ", *test_set.size(), " pictures");

    examples::CNN model(static_cast<int64_t>(images.classes.size()));
    OrderedDict<std::string, Tensor> weights;
    for (auto& [name, value] : data::load_safetensors(run + "/model.safetensors"))
      weights.insert(name, value);
    model->load_state_dict(weights);
    model->to(device);
    model->eval();

    const auto sample = test_set.get(static_cast<size_t>(index));
    draw(sample.data[0]);
    const InferenceMode guard;
    const Tensor picture = ((sample.data - 0.5) / 0.5).unsqueeze(0).to(device);
    const Tensor scores = model(picture).softmax(1)[0];
    const auto [best, classes] = scores.topk(3);
    for (int64_t i = 0; i < 3; ++i) {
      std::printf("%5.1f %%  %s\n", 100 * best[i].item<double>(),
                  images.classes[static_cast<size_t>(classes[i].item<int64_t>())].c_str());
    }
    std::cout << "It is: " << images.classes[static_cast<size_t>(sample.target.item<int64_t>())]
              << '\n';
    return 0;
  });
}
