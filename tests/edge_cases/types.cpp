#include "support/rows.h"

// Result types, wrap-around, rounding to narrower types.

using namespace taper;
using namespace support;

namespace {

Tensor of(ScalarType dtype, std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}, dtype);
}
Tensor number(ScalarType dtype, double value) { return make({value}, {}, dtype); }

}  // namespace

TEST_CASE("types: dimensions count before none, and tensors before numbers") {
  check_rows(std::vector<TypeRow>{
      HAS_DTYPE(tensor({1}) + 0.5, kFloat),
      HAS_DTYPE(of(kInt, {1}) + of(kHalf, {1}), kHalf),
      HAS_DTYPE(of(kFloat, {1}) + number(kDouble, 1), kFloat),
      HAS_DTYPE(of(kInt, {1}) + number(kDouble, 1), kDouble),
      HAS_DTYPE(of(kInt, {1}) + number(kLong, 1), kInt),
      HAS_DTYPE(number(kInt, 1) + number(kLong, 1), kLong),
      HAS_DTYPE(of(kHalf, {1}) + of(kBFloat16, {1}), kFloat),
      HAS_DTYPE(of(kByte, {1}) + of(kChar, {1}), kShort),
      HAS_DTYPE(of(kBool, {1}) + 1, kLong),
      HAS_DTYPE(of(kByte, {1}) * 2, kByte),
      HAS_DTYPE(full({1}, 1), kLong),
      HAS_DTYPE(full({1}, true), kBool),
      HAS_DTYPE(full({1}, 1.5), kFloat),
      HAS_DTYPE(arange(3), kLong),
      HAS_DTYPE(arange(3.), kFloat),
      HAS_DTYPE(one_hot(tensor({0, 2})), kLong),
      HAS_DTYPE(sum(of(kByte, {1, 2})), kLong),
      HAS_DTYPE(sum(of(kBool, {1, 1})), kLong),
      HAS_DTYPE(cumsum(of(kInt, {1, 2}), 0), kLong),
      HAS_DTYPE(of(kInt, {1}) / of(kInt, {2}), kFloat),
      HAS_DTYPE(exp(of(kLong, {1})), kFloat),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(mean(tensor({1, 2})), "could not infer output dtype"),
      THROWS(of(kBool, {1}) - of(kBool, {1}), "Subtraction, the `-` operator"),
      THROWS(of(kInt, {1}).add_(0.5), "can't be cast to the desired output type"),
  });
}

TEST_CASE("types: integers wrap, bools stay bools") {
  check_rows(std::vector<ValueRow>{
      GIVES(of(kByte, {200}) + of(kByte, {100}), {44}),
      GIVES(of(kChar, {127}) + of(kChar, {1}), {-128}),
      GIVES(of(kChar, {-128}).neg(), {-128}),
      GIVES(of(kBool, {1, 0}) + of(kBool, {1, 0}), {1, 0}),
      GIVES(sum(of(kByte, {200, 100})), {300}),
      GIVES(sum(of(kBool, {1, 1, 0})), {2}),
      GIVES(masked_fill(tensor({5, 6}), tensor({true, false}), 1.5), {1, 6}),
  });
}

TEST_CASE("types: floating division by zero, and remainders") {
  check_rows(std::vector<ValueRow>{
      GIVES(floor_divide(tensor({1., -1., 0.}), 0.), {kInf, -kInf, kNan}),
      GIVES(remainder(tensor({5., -5.}), kInf), {5, kInf}),
      GIVES(remainder(tensor({5.}), 0.), {kNan}),
      GIVES(remainder(tensor({-7.5, 7.5}), 2.), {.5, 1.5}),
      GIVES(fmod(tensor({-7.5, 7.5}), 2.), {-1.5, 1.5}),
  });
}

TEST_CASE("types: rounding to half and bfloat16") {
  check_rows(std::vector<ValueRow>{
      GIVES(tensor({65504., 65519.9, 65520., 70000.}).to(kHalf), {65504, 65504, kInf, kInf}, 0),
      GIVES(tensor({6e-8, 2.98e-8}).to(kHalf) * 16777216, {1, 0}, 0),
      GIVES(of(kHalf, {60000}) * 2, {kInf}), GIVES(of(kHalf, {2048}) + 1, {2048}, 0),
      GIVES(of(kBFloat16, {256}) + 1, {256}, 0),
      GIVES(tensor({kNan, kInf, -kInf}).to(kBFloat16), {kNan, kInf, -kInf}),
      GIVES(of(kFloat, {2.9, -2.9}).to(kInt), {2, -2}),
      GIVES(of(kFloat, {0, .1, kNan}).to(kBool), {0, 1, 1}),
      GIVES(of(kDouble, {1 + 0x1p-11 + 0x1p-40}).to(kHalf), {1 + 0x1p-10},
            0),  // one rounding, not two
  });
}

TEST_CASE("types: randint is int64 unless options are given, and then of their dtype") {
  CHECK(randint(3, {2}).scalar_type() == kLong);
  CHECK(randint(3, {2}, kInt).scalar_type() == kInt);
  CHECK(randint(0, 3, {2}, TensorOptions().requires_grad(true)).requires_grad());  // so float
  CHECK(randint(3, {2}, TensorOptions().device(kCPU)).scalar_type() == kFloat);
  CHECK(randperm(3, TensorOptions().device(kCPU)).scalar_type() == kLong);
}

TEST_CASE("types: item") {
  CHECK(tensor(3.7).item<int>() == 3);
  CHECK(tensor({{7}}).item<int64_t>() == 7);
  CHECK(tensor(true).item<bool>());
  check_rows(std::vector<ErrorRow>{
      THROWS(tensor({1, 2}).item(), "cannot be converted to Scalar"),
      THROWS(zeros({0}).item(), "cannot be converted to Scalar"),
  });
}
