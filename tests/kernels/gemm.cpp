// The matrix product against Eigen's, over shapes that cross every edge of the kernels' tiles.

#include <Eigen/Core>

#include "catch.h"
#include "taper/core/factories.h"
#include "taper/core/generator.h"
#include "taper/core/ops.h"

using namespace taper;

namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Tensor product_by_eigen(const Tensor& a, const Tensor& b) {
  const auto map = [](const Tensor& t) {
    return RowMajor(Eigen::Map<const RowMajor>(t.data_ptr<double>(), t.size(0), t.size(1)));
  };
  const RowMajor c = map(a.to(kDouble).contiguous()) * map(b.to(kDouble).contiguous());
  return from_blob(const_cast<double*>(c.data()), {c.rows(), c.cols()}, kDouble).clone();
}

// Transposed operands are stored so, not copied: all four layouts reach the kernel.
Tensor matrix(int64_t rows, int64_t cols, bool transposed, ScalarType dtype) {
  return transposed ? randn({cols, rows}).to(dtype).t() : randn({rows, cols}).to(dtype);
}

void check_product(int64_t m, int64_t n, int64_t k, ScalarType dtype, double tolerance) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const Tensor a = matrix(m, k, ta, dtype), b = matrix(k, n, tb, dtype);
      const Tensor expected = product_by_eigen(a, b);
      const Tensor got = a.mm(b);
      INFO(m << "x" << k << " times " << k << "x" << n << ", transposed " << ta << tb << ", "
             << dtype);
      REQUIRE(got.scalar_type() == dtype);
      // Relative to the sum of the products' sizes.
      const Tensor scale = product_by_eigen(a.to(kDouble).abs(), b.to(kDouble).abs()) + 1e-30;
      REQUIRE(((got.to(kDouble) - expected).abs() / scale).max().item<double>() <= tolerance);
    }
  }
}

}  // namespace

TEST_CASE("products of odd shapes agree with Eigen's") {
  manual_seed(1);
  const int64_t sizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100};
  for (const int64_t m : sizes) {
    for (const int64_t n : sizes) {
      const int64_t k = sizes[(m + n) % 12];
      check_product(m, n, k, kFloat, 1e-6);
      check_product(m, n, k, kDouble, 1e-15);
    }
  }
}

TEST_CASE("products larger than the kernels' blocks agree with Eigen's") {
  manual_seed(2);
  check_product(257, 301, 777, kFloat, 2e-6);
  check_product(1, 1025, 900, kFloat, 2e-6);
  check_product(1031, 1, 900, kDouble, 1e-15);
  check_product(129, 65, 1300, kDouble, 1e-15);
}

TEST_CASE("halves are summed in float and rounded once") {
  manual_seed(3);
  for (const int64_t k : {5, 64, 1000}) {
    check_product(33, 47, k, kHalf, 0x1p-10);
    check_product(33, 47, k, kBFloat16, 0x1p-7);
  }
}

TEST_CASE("integer products wrap") {
  const Tensor a = full({3, 4}, int64_t{1} << 62, kLong), b = full({4, 2}, 2, kLong);
  REQUIRE(a.mm(b).eq(0).all().item<bool>());
  REQUIRE(full({2, 2}, 100, kByte).mm(full({2, 2}, 2, kByte)).eq(144).all().item<bool>());
}

TEST_CASE("beta 0 does not read what it overwrites") {
  const Tensor nan = full({2, 2}, std::numeric_limits<double>::quiet_NaN());
  REQUIRE(nan.addmm(eye(2), eye(2), 0, 1).equal(eye(2)));
}
