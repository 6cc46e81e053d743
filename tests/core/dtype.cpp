#include "taper/core/dtype.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "catch.h"
#include "taper/core/error.h"
#include "taper/core/scalar.h"

using namespace taper;

namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

}  // namespace

TEST_CASE("promotion follows PyTorch's table") {
  // From PyTorch 2.15: the row's type with the column's.
  const ScalarType columns[] = {kFloat, kDouble, kHalf, kBFloat16, kLong,
                                kInt,   kShort,  kChar, kByte,     kBool};
  const char* rows[10][10] = {
      {"f32", "f64", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32"},
      {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64"},
      {"f32", "f64", "f16", "f32", "f16", "f16", "f16", "f16", "f16", "f16"},
      {"f32", "f64", "f32", "bf16", "bf16", "bf16", "bf16", "bf16", "bf16", "bf16"},
      {"f32", "f64", "f16", "bf16", "i64", "i64", "i64", "i64", "i64", "i64"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "i32", "i32", "i32", "i32"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i16", "i16", "i16"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "i16", "i8"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i16", "u8", "u8"},
      {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"},
  };
  const std::string short_names[] = {"f32", "f64", "f16", "bf16", "i64",
                                     "i32", "i16", "i8",  "u8",   "bool"};
  for (int row = 0; row < 10; ++row) {
    for (int column = 0; column < 10; ++column) {
      const ScalarType common = promote_types(columns[row], columns[column]);
      int position = 0;
      while (columns[position] != common) ++position;
      CAPTURE(dtype_name(columns[row]), dtype_name(columns[column]));
      CHECK(short_names[position] == rows[row][column]);
    }
  }
}

TEST_CASE("dtypes have LibTorch's, Python's and C++'s names") {
  CHECK(printed(kLong) == "Long");
  CHECK(std::string(to_string(kBFloat16)) == "BFloat16");
  CHECK(std::string(dtype_name(kByte)) == "uint8");
  CHECK(printed(TypeMeta(kFloat)) == "float");
  CHECK(printed(TypeMeta(kHalf)) == "c10::Half");
  CHECK(TypeMeta::Make<int64_t>() == kLong);
  CHECK(TypeMeta(kDouble).itemsize() == 8);
  CHECK(dtype_of<long long> == kLong);
}

TEST_CASE("the default dtype can be another floating one only") {
  CHECK(get_default_dtype_as_scalartype() == kFloat);
  set_default_dtype(kDouble);
  CHECK(get_default_dtype_as_scalartype() == kDouble);
  set_default_dtype(kFloat);
  CHECK_THROWS_AS(set_default_dtype(kLong), TypeError);
  CHECK(get_default_dtype_as_scalartype() == kFloat);
}

namespace {

// The value of a pattern by definition: sign, exponent, fraction.
double half_by_definition(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value;
  if (exponent == 31) {
    value = fraction ? std::nan("") : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return bits & 0x8000 ? -value : value;
}

}  // namespace

TEST_CASE("all half patterns survive the way to float and back") {
  int wrong = 0;
  for (uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const uint16_t bits = static_cast<uint16_t>(pattern);
    const float value = Half(bits, true);
    const double expected = half_by_definition(bits);
    if (std::isnan(expected)) {
      wrong += !std::isnan(value) || !std::isnan(static_cast<float>(Half(value)));
    } else {
      wrong += value != expected || std::signbit(value) != std::signbit(expected) ||
               Half(value).bits != bits;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("floats between two halves round to the nearer, ties to even") {
  int wrong = 0;
  for (uint16_t bits = 0; bits < 0x7c00; ++bits) {
    const double low = half_by_definition(bits);
    // Above the largest finite value comes 65536, had it a pattern.
    const double high =
        bits == 0x7bff ? 65536.0 : half_by_definition(static_cast<uint16_t>(bits + 1));
    const float middle = static_cast<float>((low + high) / 2);
    const uint16_t even = bits & 1 ? static_cast<uint16_t>(bits + 1) : bits;
    for (const float sign : {1.0f, -1.0f}) {
      const uint16_t sign_bit = sign < 0 ? 0x8000 : 0;
      wrong += Half(sign * middle).bits != (even | sign_bit);
      wrong += Half(sign * std::nextafter(middle, 0.0f)).bits != (bits | sign_bit);
      wrong += Half(sign * std::nextafter(middle, 1e9f)).bits != ((bits + 1) | sign_bit);
    }
  }
  CHECK(wrong == 0);
  CHECK(std::isinf(static_cast<float>(Half(65520.0f))));
  CHECK(static_cast<float>(Half(65519.9f)) == 65504.0f);
  CHECK(static_cast<float>(Half(2.98e-8f)) == 0.0f);
  CHECK(std::isinf(static_cast<float>(Half(1e30f))));
}

TEST_CASE("bfloat16 rounds to the nearer, ties to even, in the whole range of float") {
  int wrong = 0;
  for (uint32_t pattern = 0; pattern < 0x8000; ++pattern) {
    const uint16_t bits = static_cast<uint16_t>(pattern);
    const float value = BFloat16(bits, true);
    if (std::isnan(value)) {
      wrong += !std::isnan(static_cast<float>(BFloat16(value)));
      continue;
    }
    wrong += BFloat16(value).bits != bits;
    if (std::isinf(value)) continue;
    const uint32_t exact = static_cast<uint32_t>(bits) << 16;
    const uint16_t even = bits & 1 ? static_cast<uint16_t>(bits + 1) : bits;
    wrong += BFloat16(detail::bits_float(exact + 0x7fff)).bits != bits;
    wrong += BFloat16(detail::bits_float(exact + 0x8000)).bits != even;
    wrong += BFloat16(detail::bits_float(exact + 0x8001)).bits != bits + 1;
    wrong += BFloat16(-detail::bits_float(exact + 0x8001)).bits != ((bits + 1) | 0x8000);
  }
  CHECK(wrong == 0);
}

TEST_CASE("scalars keep their kind and refuse to overflow") {
  CHECK(Scalar(true).isBoolean());
  CHECK(Scalar(3).type() == kLong);
  CHECK(Scalar(2.5f).type() == kDouble);
  CHECK(Scalar(2.9).toLong() == 2);
  CHECK(Scalar(-2.9).to<int>() == -2);
  CHECK_THROWS_AS(Scalar(1e30).toLong(), Error);
  CHECK_THROWS_AS(Scalar(std::nan("")).toLong(), Error);
  CHECK(printed(Scalar(true)) == "true");
  CHECK(printed(Scalar(2.5)) == "2.5");
  CHECK(printed(Scalar(-7)) == "-7");
}
