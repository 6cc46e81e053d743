#include "nn/golden.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace nn_tests {

const std::vector<std::string>& golden_words(const std::string& kind, const std::string& name) {
  static const auto lines = [] {
    std::map<std::string, std::vector<std::string>> out;
    std::ifstream file(std::string(TAPER_GOLDEN_DIR) + "/nn.txt");
    if (!file) throw std::runtime_error("no golden data: run tests/golden/generate_nn.py");
    for (std::string line; std::getline(file, line);) {
      if (line[0] == '#') continue;
      std::istringstream words(line);
      std::string first, second;
      words >> first >> second;
      auto& list = out[first + " " + second];
      for (std::string word; words >> word;) list.push_back(word);
    }
    return out;
  }();
  const auto found = lines.find(kind + " " + name);
  if (found == lines.end()) throw std::runtime_error("nn.txt has no line " + kind + " " + name);
  return found->second;
}

std::vector<double> golden_values(const std::string& name) {
  std::vector<double> out;
  for (const std::string& word : golden_words("values", name)) out.push_back(std::stod(word));
  return out;
}

Tensor wave(const Sizes& sizes, double phase) {
  std::vector<double> elements;
  for (int64_t i = 0; i < count(sizes); ++i) {
    elements.push_back(0.8 * std::sin(0.7 * static_cast<double>(i) + phase));
  }
  return make(elements, sizes, taper::kDouble);
}

void check_values(const std::string& name, const Tensor& tensor) {
  const std::vector<double> expected = golden_values(name);
  INFO(name << " is " << text(tensor) << ", expected " << text(expected));
  CHECK(near(tensor, expected, 1e-9));
}

void check_digest(const std::string& name, const Tensor& tensor) {
  const std::vector<std::string>& words = golden_words("digest", name);
  double sum = 0, dot = 0, i = 0;
  for (const double value : values(tensor)) {
    sum += value;
    dot += value * std::cos(i++);
  }
  INFO(name << " has sum " << sum << " and projection " << dot << ", expected " << words[0]
            << " and " << words[1]);
  CHECK(std::abs(sum - std::stod(words[0])) < 1e-9);
  CHECK(std::abs(dot - std::stod(words[1])) < 1e-9);
}

void check_bits(const std::string& name, const taper::nn::Module& module) {
  for (const auto& item : module.named_parameters()) {
    const Tensor& tensor = item.value();
    REQUIRE(tensor.is_contiguous());
    uint64_t hash = 0xcbf29ce484222325;
    const auto* bytes = static_cast<const unsigned char*>(tensor.data_ptr());
    for (size_t i = 0; i < tensor.nbytes(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3;
    char text[32];
    std::snprintf(text, sizeof text, "%016" PRIx64, hash);
    INFO(name << "." << item.key() << " begins " << support::text(tensor));
    CHECK(text == golden_words("bits", name + "." + item.key())[0]);
  }
}

}  // namespace nn_tests
