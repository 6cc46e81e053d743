#include "taper/data/datasets/mnist.h"

#include <sys/stat.h>

#include <mutex>

#include "taper/core/ops.h"
#include "taper/data/datasets/tensor.h"
#include "taper/data/formats/idx.h"

namespace taper::data::datasets {

struct MNIST::Converted {
  std::once_flag once;
  Tensor images;
};

namespace {

constexpr const char* kFashionFolder = "/usr/share/datasets/fashion-mnist";
constexpr const char* kBelow[] = {"", "/MNIST/raw", "/FashionMNIST/raw"};
constexpr const char* kHelp =
    ". Any folder in MNIST's format will do; Fashion-MNIST comes with the package "
    "dataset-fashion-mnist "
    "(apt-get install dataset-fashion-mnist, in /usr/share/datasets/fashion-mnist), and a small "
    "set of digits "
    "with Taper itself (data/digits).";

bool is_folder(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_file(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// "train", "images", 3: the file train-images-idx3-ubyte or one of its other usual names. Empty if
// there is none.
std::string find_in(const std::string& folder, const std::string& stem, int rank) {
  const std::string kind = "idx" + std::to_string(rank) + "-ubyte";
  for (const char* joint : {"-", "."}) {
    for (const char* ending : {"", ".gz"}) {
      const std::string path = folder + "/" + stem + joint + kind + ending;
      if (is_file(path)) return path;
    }
  }
  return "";
}

std::string find_file(const std::string& root, const std::string& stem, int rank) {
  TAPER_CHECK(is_folder(root), "MNIST: there is no folder '", root, "'", kHelp);
  for (const char* below : kBelow) {
    const std::string found = find_in(root + below, stem, rank);
    if (!found.empty()) return found;
  }
  taper::detail::fail<Error>("MNIST: there is no file ", stem, "-idx", rank, "-ubyte or ", stem,
                             "-idx", rank, "-ubyte.gz in '", root, "'", kHelp);
}

Tensor to_images(const Tensor& bytes) { return bytes.to(kFloat).div_(255); }

bool has_data(const std::string& folder) {
  for (const char* stem : {"train-images", "t10k-images"}) {
    if (find_in(folder, stem, 3).empty()) return false;
  }
  return true;
}

std::vector<std::string> digit_names() {
  return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
}
std::vector<std::string> fashion_names() {
  return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
          "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode)
    : mode_(mode), converted_(std::make_shared<Converted>()) {
  const std::string prefix = mode == Mode::kTrain ? "train-" : "t10k-";
  const std::string images = find_file(root, prefix + "images", 3);
  const std::string labels = find_file(root, prefix + "labels", 1);
  bytes_ = load_idx(images);
  TAPER_CHECK(bytes_.dim() == 3 && bytes_.scalar_type() == kByte, "MNIST: '", images,
              "' holds no images: expected uint8 [samples, height, width], but got ",
              dtype_name(bytes_.scalar_type()), " ", bytes_.sizes());
  bytes_ = bytes_.unsqueeze(1);
  const Tensor numbers = load_idx(labels);
  TAPER_CHECK(numbers.dim() == 1 && numbers.scalar_type() == kByte, "MNIST: '", labels,
              "' holds no labels: expected uint8 [samples], but got ",
              dtype_name(numbers.scalar_type()), " ", numbers.sizes());
  TAPER_CHECK(numbers.size(0) == bytes_.size(0), "MNIST: '", images, "' has ", bytes_.size(0),
              " images, and '", labels, "' has ", numbers.size(0), " labels");
  targets_ = numbers.to(kLong);
}

Example<> MNIST::get(size_t index) {
  return {to_images(detail::take_row(bytes_, index)), detail::take_row(targets_, index)};
}

Example<> MNIST::get_stacked(ArrayRef<size_t> indices) {
  return {to_images(detail::take_rows(bytes_, indices)), detail::take_rows(targets_, indices)};
}

std::optional<size_t> MNIST::size() const { return bytes_.size(0); }

const Tensor& MNIST::images() const {
  std::call_once(converted_->once, [this] { converted_->images = to_images(bytes_); });
  return converted_->images;
}

MnistFolder find_mnist_like(const std::string& root) {
  if (!root.empty()) {
    // Known by its place or name; any other folder is taken as it is.
    const bool fashion = root.find("fashion") != std::string::npos ||
                         root.find("Fashion") != std::string::npos ||
                         (is_folder(root + "/FashionMNIST/raw") && !is_folder(root + "/MNIST/raw"));
    return {root, fashion ? "Fashion-MNIST" : "images in MNIST's format",
            fashion ? fashion_names() : digit_names()};
  }
  if (has_data(kFashionFolder)) return {kFashionFolder, "Fashion-MNIST", fashion_names()};
  for (const char* folder : {TAPER_SOURCE_DATA_DIR "/digits", TAPER_INSTALL_DATA_DIR "/digits"}) {
    if (has_data(folder)) return {folder, "UCI optical digits", digit_names()};
  }
  taper::detail::fail<Error>("find_mnist_like: no images were found in ", kFashionFolder, ", ",
                             TAPER_SOURCE_DATA_DIR "/digits or " TAPER_INSTALL_DATA_DIR "/digits",
                             kHelp);
}

}  // namespace taper::data::datasets
