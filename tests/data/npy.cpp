#include "taper/data/formats/npy.h"

#include "support.h"

using namespace data_test;

namespace {

constexpr ScalarType kDtypes[] = {kBool, kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble};

// A file with this header and this many bytes of data.
std::string npy(const std::string& header, size_t bytes, char version = 1) {
  std::string text("\x93NUMPY", 6);
  text += {version, 0};
  text += {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  if (version > 1) text += std::string(2, '\0');
  return text + header + std::string(bytes, '\0');
}

}  // namespace

TEST_CASE("npy: arrays of NumPy are read, and written byte for byte as NumPy writes them") {
  const TempFolder folder;
  for (const ScalarType dtype : kDtypes) {
    CAPTURE(dtype_name(dtype));
    const std::string file = golden(std::string(dtype_name(dtype)) + ".npy");
    const Tensor expected = counting({3, 4}, dtype);
    CHECK(same_bytes(data::load_npy(file), expected));
    data::save_npy(expected, folder / "out.npy");
    CHECK(read_file(folder / "out.npy") == read_file(file));
  }
}

TEST_CASE("npy: shapes, byte orders and versions") {
  const TempFolder folder;
  CHECK(same_bytes(data::load_npy(golden("fortran.npy")), counting({2, 3, 4}, kFloat)));
  CHECK(same_bytes(data::load_npy(golden("big_endian.npy")), counting({3, 4}, kInt)));
  CHECK(same_bytes(data::load_npy(golden("version2.npy")), counting({3, 4}, kFloat)));
  CHECK(data::load_npy(golden("scalar.npy")).item<double>() == 3.5);
  CHECK(data::load_npy(golden("empty.npy")).sizes() == IntArrayRef({0, 3}));
  for (const char* name : {"scalar.npy", "vector.npy", "empty.npy"}) {
    data::save_npy(data::load_npy(golden(name)), folder / "out.npy");
    CHECK(read_file(folder / "out.npy") == read_file(golden(name)));
  }
}

TEST_CASE("npy: views and tensors with history are written by value") {
  const TempFolder folder;
  Tensor x = counting({4, 3}, kFloat);
  x.requires_grad_();
  data::save_npy(x.t().slice(1, 0, 4, 2), folder / "a.npy");
  CHECK(ints(data::load_npy(folder / "a.npy")) == std::vector<int64_t>{0, 6, 1, 7, 2, 8});
}

TEST_CASE("npy: what doesn't fit is refused with a message") {
  const TempFolder folder;
  const std::string path = folder / "bad.npy";
  const auto load = [&](const std::string& text) {
    write_file(path, text);
    return error_of([&] { data::load_npy(path); });
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  write_file(path, npy(good, 24));
  CHECK(data::load_npy(path).sizes() == IntArrayRef({2, 3}));

  CHECK_THAT(error_of([&] { data::load_npy(folder / "none.npy"); }),
             ContainsSubstring("No such file or directory"));
  CHECK_THAT(error_of([&] { data::load_npy(folder.path()); }), ContainsSubstring("Is a directory"));
  CHECK_THAT(load(""), ContainsSubstring("not an npy file"));
  CHECK_THAT(load("hello, hello, hello"), ContainsSubstring("not an npy file"));
  CHECK_THAT(load(npy(good, 23)), ContainsSubstring("needs 24 bytes, and there are 23"));
  CHECK_THAT(load(npy(good, 25)), ContainsSubstring("needs 24 bytes, and there are 25"));
  CHECK_THAT(load(npy(good, 24, 9)), ContainsSubstring("version 9"));
  CHECK_THAT(load(npy(good, 0).substr(0, 30)), ContainsSubstring("truncated"));
  CHECK_THAT(load(npy("{'descr': '<f4'}", 0)), ContainsSubstring("damaged npy header"));
  CHECK_THAT(load(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }", 24)),
             ContainsSubstring("lies"));
  CHECK_THAT(
      load(
          npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 16), }", 8)),
      ContainsSubstring("lies"));
  CHECK_THAT(load(npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,), }", 8)),
             ContainsSubstring("damaged npy header"));
  CHECK_THAT(load(npy("{'descr': '<f4', 'descr': '<f4', 'shape': (2,), }", 8)),
             ContainsSubstring("damaged npy header"));
  CHECK_THAT(load(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8)),
             ContainsSubstring("records"));
  CHECK_THAT(load(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", 0) + "\x02"),
             ContainsSubstring("holds a bool that is 2"));
  CHECK_THAT(error_of<TypeError>([&] { data::load_npy(golden("complex.npy")); }),
             ContainsSubstring("'<c8'"));
  CHECK_THAT(error_of<TypeError>([&] { data::save_npy(counting({2}, kBFloat16), path); }),
             ContainsSubstring("NumPy has no bfloat16"));
}

TEST_CASE("npy: every truncation of a good file is an error and never a crash") {
  const TempFolder folder;
  const std::string text = read_file(golden("int16.npy"));
  for (size_t size = 0; size < text.size(); ++size) {
    write_file(folder / "cut.npy", text.substr(0, size));
    CHECK_THROWS_AS(data::load_npy(folder / "cut.npy"), Error);
  }
}
