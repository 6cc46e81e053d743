#include "support/rows.h"

// Convolution, pooling, normalisation.

using namespace taper;
using namespace support;

namespace {

Tensor line(std::initializer_list<double> values) {
  return make(values, {1, 1, static_cast<int64_t>(values.size())});
}
Tensor second(const TensorPair& pair) { return std::get<1>(pair); }

}  // namespace

TEST_CASE("convolution: no flip, padding is zero") {
  check_rows(std::vector<ValueRow>{
      GIVES(conv1d(line({1, 2, 3}), line({1, 0})), {1, 2}),
      GIVES(conv1d(line({1, 1}), line({1}), tensor({1.}), 1, 3), {1, 1, 1, 2, 2, 1, 1, 1}),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(conv1d(line({1}), line({1, 1})),
             "Kernel size can't be greater than actual input size"),
      THROWS(conv1d(ones({1, 3, 4}), ones({2, 1, 1}), {}, 1, 0, 1, 2), "conv1d"),
      THROWS(conv_transpose1d(ones({1, 1, 4}), ones({1, 1, 2}), {}, 2, 0, 2),
             "output padding must be smaller"),
  });
}

TEST_CASE("14: ceil_mode adds no window that starts in the right padding") {
  check_rows(std::vector<SizeRow>{
      HAS_SHAPE(max_pool2d(ones({1, 6, 7}), 1, 2, 0, 1, true), {1, 3, 4}),
      HAS_SHAPE(avg_pool2d(ones({1, 6, 7}), 1, 2, 0, true), {1, 3, 4}),
  });
  check_rows(
      std::vector<ValueRow>{GIVES(max_pool1d(line({1, 2, 3, 4}), 2, 3, 1, 1, true), {1, 4})});
}

TEST_CASE("15: avg_pool counts explicit padding, not the overhang") {
  check_rows(std::vector<ValueRow>{
      GIVES(avg_pool2d(arange(49, kFloat).reshape({1, 7, 7}), 2, 3, 0, true),
            {4, 7, 9.5, 25, 28, 30.5, 42.5, 45.5, 48}),
      GIVES(avg_pool1d(line({1, 1, 1, 1}), 3, 2, 1, true), {2. / 3, 1, .5}),
      GIVES(avg_pool1d(line({1, 1}), 2, 1, 1), {.5, 1, .5}),
      GIVES(avg_pool1d(line({1, 1}), 2, 1, 1, false, false), {1, 1, 1}),
      GIVES(avg_pool2d(ones({1, 2, 2}), 2, {}, 0, false, true, 8), {.5}),
  });
}

TEST_CASE("max_pool: modes, padding, NaN") {
  check_rows(std::vector<ValueRow>{
      GIVES(max_pool1d(line({1, 2, 3, 4, 5}), 2, 2, 0, 1, true), {2, 4, 5}),
      GIVES(max_pool1d(line({1, 2, 3, 4, 5}), 2, 2), {2, 4}),
      GIVES(max_pool1d(line({-5, -5}), 2, 2, 1), {-5, -5}),
      GIVES(max_pool2d(make({1, kNan, 3, 4}, {1, 1, 2, 2}), 2), {kNan}),
      GIVES(max_pool2d(full({1, 1, 2, 2}, -kInf), 2), {-kInf}),
      GIVES(second(max_pool2d_with_indices(full({1, 1, 2, 2}, -kInf), 2)), {0}),
  });
  check_rows(std::vector<ErrorRow>{
      THROWS(max_pool1d(line({1, 2, 3}), 2, 2, 2),
             "pad should be at most half of effective kernel size"),
  });
}

TEST_CASE("adaptive_avg_pool: unequal windows") {
  check_rows(std::vector<ValueRow>{
      GIVES(adaptive_avg_pool1d(arange(5, kFloat).reshape({1, 5}), 3), {.5, 2, 3.5}),
      GIVES(adaptive_avg_pool1d(arange(3, kFloat).reshape({1, 3}), 5), {0, .5, 1, 1.5, 2}),
  });
}

TEST_CASE("batch_norm: running statistics") {
  Tensor mean = zeros({1}), var = ones({1});
  const Tensor out = batch_norm(tensor({{0.}, {2.}}), {}, {}, mean, var, true, .1, 1e-5);
  CHECK(near(out, {-.999995, .999995}));
  CHECK(near(mean, {.1}));
  CHECK(near(var, {1.1}));  // the running variance is unbiased: 2, not 1
  check_rows(std::vector<ErrorRow>{
      THROWS(batch_norm(ones({1, 3}), {}, {}, {}, {}, true, .1, 1e-5),
             "Expected more than 1 value per channel when training"),
  });
}

TEST_CASE("layer_norm, group_norm, instance_norm") {
  const Tensor constant = full({1, 4}, 3.0);
  CHECK(near(layer_norm(constant, {4}), {0, 0, 0, 0}));
  const Tensor slope = GRADIENT(layer_norm(x, {4}).index({0, 0}), full({1, 4}, 3.0));
  INFO(text(slope));
  CHECK(near(slope, {237.1708, -79.0569, -79.0569, -79.0569}, 1e-5));
  check_rows(std::vector<ErrorRow>{
      THROWS(group_norm(ones({1, 3, 2}), 2), "divisible by num_groups"),
  });
  CHECK(near(instance_norm(tensor({{{1.}, {5.}}, {{2.}, {7.}}}).reshape({1, 2, 2}), {}, {}, {}, {},
                           true, .1, 1e-5),
             {-1, 1, -1, 1}, 1e-5));
}
