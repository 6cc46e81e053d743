#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taper/data/datasets/base.h"

namespace taper::data::datasets {

/// Images and labels in MNIST's format: MNIST, Fashion-MNIST, KMNIST and the like. Samples are
/// float32 [1, height, width] in [0, 1] and int64 labels.
class TAPER_API MNIST : public Dataset<MNIST> {
 public:
  enum class Mode { kTrain, kTest };

  /// Reads train-images-idx3-ubyte and train-labels-idx1-ubyte (t10k-... for kTest) from the folder
  /// `root`, or from MNIST/raw or FashionMNIST/raw below it, gzipped or not. Throws `Error` that
  /// names what is missing.
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);

  Example<> get(size_t index) override;
  Example<> get_stacked(ArrayRef<size_t> indices);
  std::optional<size_t> size() const override;

  bool is_train() const noexcept { return mode_ == Mode::kTrain; }
  /// All images, float32 [samples, 1, height, width] in [0, 1]; made on first use, four times the
  /// size of the file.
  const Tensor& images() const;
  /// All labels, int64 [samples].
  const Tensor& targets() const { return targets_; }
  /// Grey levels as stored, uint8 [samples, 1, height, width].
  const Tensor& bytes() const { return bytes_; }

 private:
  struct Converted;

  Mode mode_;
  Tensor bytes_, targets_;
  std::shared_ptr<Converted> converted_;  // shared by copies
};

using FashionMNIST = MNIST;

/// A folder in MNIST's format.
struct MnistFolder {
  std::string root;
  std::string name;                  ///< "Fashion-MNIST"
  std::vector<std::string> classes;  ///< a name per label
};

/// The images to train on when none are named: `root` if given, else Fashion-MNIST where the
/// package dataset-fashion-mnist put it, else the digits that come with Taper.
TAPER_API MnistFolder find_mnist_like(const std::string& root = "");

}  // namespace taper::data::datasets
