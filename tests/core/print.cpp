// What `std::cout << tensor` writes. Every expected text was printed by LibTorch 2.15.
#include <iomanip>
#include <limits>
#include <sstream>

#include "catch.h"
#include "taper/core/factories.h"

using namespace taper;

namespace {

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

Tensor of(std::vector<double>& values, IntArrayRef sizes) {
  return from_blob(values.data(), sizes, kDouble);
}

}  // namespace

TEST_CASE("whole numbers print without a decimal point") {
  std::vector<double> v{0, 1, 2, 3, 4, 5};
  CHECK(printed(of(v, {2, 3})) == " 0  1  2\n 3  4  5\n[ CPUDoubleType{2,3} ]");
  CHECK(printed(of(v, {2})) == " 0\n 1\n[ CPUDoubleType{2} ]");
  int64_t large[] = {123456789, 1};
  CHECK(printed(from_blob(large, {2}, kLong)) == "1.23457e+08\n         1\n[ CPULongType{2} ]");
}

TEST_CASE("fractions print with four digits, large ones under a common factor") {
  std::vector<double> v{-1, -0.5, 0, 0.5};
  CHECK(printed(of(v, {2, 2})) == "-1.0000 -0.5000\n 0.0000  0.5000\n[ CPUDoubleType{2,2} ]");
  std::vector<double> w{123456.25, 123457.25};
  CHECK(printed(of(w, {2})) == "100000 *\n 1.2346\n 1.2346\n[ CPUDoubleType{2} ]");
  std::vector<double> wide{1e-3, 1e3};
  CHECK(printed(of(wide, {2})) == " 1.0000e-03\n 1.0000e+03\n[ CPUDoubleType{2} ]");
}

TEST_CASE("single values print with the digits that tell them apart") {
  const auto one = [](double value) {
    std::vector<double> v{value};
    return printed(of(v, {}));
  };
  CHECK(one(0.1) == "0.1\n[ CPUDoubleType{} ]");
  CHECK(one(1e8) == "100000000\n[ CPUDoubleType{} ]");
  CHECK(one(1.5e-5) == "1.5e-05\n[ CPUDoubleType{} ]");
  CHECK(one(12345678901234567.) == "1.2345678901234568e+16\n[ CPUDoubleType{} ]");
  CHECK(one(std::numeric_limits<double>::infinity()) == "inf\n[ CPUDoubleType{} ]");
  float third = 0.1f;
  CHECK(printed(from_blob(&third, {}, kFloat)) == "0.10000000149011612\n[ CPUFloatType{} ]");
  bool yes = true;
  CHECK(printed(from_blob(&yes, {}, kBool)) == "1\n[ CPUBoolType{} ]");
}

TEST_CASE("more than two dimensions print matrix by matrix, each in its own format") {
  std::vector<double> v{0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5};
  CHECK(printed(of(v, {2, 2, 2})) ==
        "(1,.,.) = \n 0  1\n  2  3\n\n(2,.,.) = \n 0.5000  1.5000\n  2.5000  3.5000\n"
        "[ CPUDoubleType{2,2,2} ]");
  CHECK(printed(of(v, {2, 2, 1, 2})).find("\n\n(2,1,.,.) = \n") != std::string::npos);
}

TEST_CASE("wide matrices print some columns at a time") {
  std::vector<double> v(40);
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i);
  std::ostringstream out;
  print(out, of(v, {2, 20}), 40);
  CHECK(out.str() ==
        "Columns 1 to 10  0   1   2   3   4   5   6   7   8   9\n"
        " 20  21  22  23  24  25  26  27  28  29\n\n"
        "Columns 11 to 20 10  11  12  13  14  15  16  17  18  19\n"
        " 30  31  32  33  34  35  36  37  38  39\n[ CPUDoubleType{2,20} ]");
}

TEST_CASE("empty and undefined tensors") {
  std::vector<double> none(1);
  CHECK(printed(of(none, {0})) == "[ CPUDoubleType{0} ]");
  CHECK(printed(of(none, {2, 0, 2})) == "[ CPUDoubleType{2,0,2} ]");
  CHECK(printed(Tensor()) == "[ Tensor (undefined) ]");
}

TEST_CASE("strides are followed, and the stream's settings come back") {
  std::vector<double> v{0, 1, 2, 3, 4, 5};
  CHECK(printed(from_blob(v.data(), {3, 2}, {1, 3}, kDouble)) ==
        " 0  3\n 1  4\n 2  5\n[ CPUDoubleType{3,2} ]");
  std::ostringstream out;
  out << std::setprecision(2) << std::hex << of(v, {1}) << 0.123456 << ' ' << 255;
  CHECK(out.str() == " 0\n[ CPUDoubleType{1} ]0.12 ff");
}
