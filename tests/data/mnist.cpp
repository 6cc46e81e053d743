#include "taper/data/datasets/mnist.h"

#include "support.h"

using namespace data_test;
using data::datasets::MNIST;

namespace {

std::string idx(unsigned char type, std::vector<uint32_t> sizes, const std::string& bytes) {
  std::string text{0, 0, static_cast<char>(type), static_cast<char>(sizes.size())};
  for (const uint32_t size : sizes) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(size >> shift & 255);
  }
  return text + bytes;
}

void append_little(std::string& text, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 255);
}

// A gzip file (RFC 1952) of one stored block, so that the tests need no zlib of their own.
void write_gzip(const std::string& path, const std::string& text) {
  REQUIRE(text.size() < 65536);
  uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (0u - (crc & 1) & 0xedb88320u);
  }
  const auto length = static_cast<uint32_t>(text.size());
  std::string file("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
  append_little(file, length, 2);
  append_little(file, ~length, 2);
  file += text;
  append_little(file, ~crc, 4);
  append_little(file, length, 4);
  write_file(path, file);
}

}  // namespace

TEST_CASE("IDX: all element types, gzipped or not") {
  const TempFolder folder;
  write_file(folder / "a", idx(0x08, {2, 3}, std::string("\0\1\2\3\4\377", 6)));
  CHECK(ints(data::load_idx(folder / "a")) == std::vector<int64_t>{0, 1, 2, 3, 4, 255});
  CHECK(data::load_idx(folder / "a").sizes() == IntArrayRef({2, 3}));
  write_file(folder / "a", idx(0x09, {1}, "\xff"));
  CHECK(ints(data::load_idx(folder / "a")) == std::vector<int64_t>{-1});
  write_file(folder / "a", idx(0x0b, {1}, std::string("\x01\x02", 2)));
  CHECK(ints(data::load_idx(folder / "a")) == std::vector<int64_t>{258});
  write_file(folder / "a", idx(0x0c, {1}, std::string("\xff\xff\xff\xfe", 4)));
  CHECK(ints(data::load_idx(folder / "a")) == std::vector<int64_t>{-2});
  write_file(folder / "a", idx(0x0d, {1}, std::string("\x3f\xc0\0\0", 4)));
  CHECK(data::load_idx(folder / "a").item<float>() == 1.5f);
  write_gzip(folder / "a", idx(0x0e, {1}, std::string("\x3f\xf8\0\0\0\0\0\0", 8)));
  CHECK(data::load_idx(folder / "a").item<double>() == 1.5);
  write_file(folder / "a", idx(0x08, {0, 28, 28}, ""));
  CHECK(data::load_idx(folder / "a").numel() == 0);
}

TEST_CASE("IDX: truncated, oversized and lying files are refused with a message") {
  const TempFolder folder;
  const std::string path = folder / "a";
  const auto load = [&](const std::string& text, bool zipped = false) {
    zipped ? write_gzip(path, text) : write_file(path, text);
    return error_of([&] { data::load_idx(path); });
  };
  CHECK_THAT(load(""), ContainsSubstring("is not an IDX file"));
  CHECK_THAT(load("not an idx file"), ContainsSubstring("is not an IDX file"));
  CHECK_THAT(load(idx(0x0a, {1}, "x")), ContainsSubstring("element type 10"));
  CHECK_THAT(load(idx(0x08, {2, 3}, "").substr(0, 9)), ContainsSubstring("announces 2 sizes"));
  for (const bool zipped : {false, true}) {
    CHECK_THAT(load(idx(0x08, {2, 3}, "12345"), zipped),
               ContainsSubstring("needs 6 bytes, and there are 5"));
    CHECK_THAT(load(idx(0x08, {2, 3}, "1234567"), zipped),
               ContainsSubstring("longer than its header"));
    CHECK_THAT(load(idx(0x08, {60000, 4000000000u, 4000000000u}, "12345"), zipped),
               ContainsSubstring("more than a file of"));
    CHECK_THAT(load(idx(0x0e, {4000000000u, 4000000000u, 4000000000u, 4000000000u}, ""), zipped),
               ContainsSubstring("more than a file of"));
  }
  write_gzip(path, idx(0x08, {1000}, std::string(1000, 'x')));
  const std::string zipped = read_file(path);
  for (size_t size = 0; size < zipped.size(); ++size) {
    write_file(path, zipped.substr(0, size));
    CHECK_THROWS_AS(data::load_idx(path), Error);
  }
  std::string damaged = zipped;
  damaged[damaged.size() - 6] ^= 1;  // the checksum
  CHECK_THAT(load(damaged), ContainsSubstring("cannot read"));
}

TEST_CASE("MNIST: the digits that ship with Taper") {
  const std::string root = std::string(TAPER_GOLDEN_DIR) + "/../../data/digits";
  MNIST train(root), test(root, MNIST::Mode::kTest);
  CHECK(train.size() == 1437u);
  CHECK(test.size() == 360u);
  CHECK(train.is_train());
  CHECK_FALSE(test.is_train());
  CHECK(train.images().sizes() == IntArrayRef({1437, 1, 28, 28}));
  CHECK(train.images().scalar_type() == kFloat);
  CHECK(train.images().max().item<float>() == 1.0f);
  CHECK(train.images().min().item<float>() == 0.0f);
  CHECK(train.targets().scalar_type() == kLong);
  CHECK(ints(train.targets().slice(0, 0, 10)) ==
        std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const data::Example<> sample = train.get(3);
  CHECK(sample.data.sizes() == IntArrayRef({1, 28, 28}));
  CHECK(sample.target.item<int64_t>() == 3);
  CHECK(equal(sample.data, train.images()[3]));
  CHECK_THAT(error_of<IndexError>([&] { train.get(1437); }),
             ContainsSubstring("index 1437 is out of range for 1437 samples"));
  CHECK_THROWS_AS(train.get_stacked(std::vector<size_t>{0, 1437}), IndexError);
}

TEST_CASE("MNIST: other names, folders and what is missing") {
  const TempFolder folder;
  CHECK_THAT(error_of([&] { MNIST(folder / "none"); }),
             ContainsSubstring("there is no folder '" + (folder / "none")) &&
                 ContainsSubstring("dataset-fashion-mnist"));
  CHECK_THAT(error_of([&] { MNIST(folder.path()); }),
             ContainsSubstring("train-images-idx3-ubyte.gz in '" + folder.path()) &&
                 ContainsSubstring("dataset-fashion-mnist"));
  std::filesystem::create_directories(folder / "MNIST/raw");
  write_file(folder / "MNIST/raw/train-images.idx3-ubyte", idx(0x08, {2, 1, 2}, "abcd"));
  CHECK_THAT(error_of([&] { MNIST(folder.path()); }), ContainsSubstring("train-labels-idx1-ubyte"));
  write_gzip(folder / "MNIST/raw/train-labels-idx1-ubyte.gz", idx(0x08, {3}, "\1\2\3"));
  CHECK_THAT(error_of([&] { MNIST(folder.path()); }),
             ContainsSubstring("has 2 images") && ContainsSubstring("has 3 labels"));
  write_gzip(folder / "MNIST/raw/train-labels-idx1-ubyte.gz", idx(0x08, {2}, "\1\2"));
  CHECK(ints(MNIST(folder.path()).targets()) == std::vector<int64_t>{1, 2});
  write_file(folder / "MNIST/raw/train-images.idx3-ubyte", idx(0x08, {2, 2}, "abcd"));
  CHECK_THAT(error_of([&] { MNIST(folder.path()); }), ContainsSubstring("holds no images"));
}

TEST_CASE("find_mnist_like names a folder that can be read") {
  const data::datasets::MnistFolder found = data::datasets::find_mnist_like();
  CHECK(MNIST(found.root, MNIST::Mode::kTest).size().value() > 0);
  CHECK(found.classes.size() == 10);
  CHECK((found.name == "Fashion-MNIST" || found.name == "UCI optical digits"));
  CHECK(data::datasets::find_mnist_like("/some/where").root == "/some/where");
}
