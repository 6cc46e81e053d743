#include <algorithm>
#include <limits>

#include "numbers.h"
#include "support.h"
#include "taper/kernels/cuda/gemm.h"

// Matrix products: those of Taper's own kernels, and those of the table's entry, which asks cuBLAS
// first, against the CPU's.

using namespace cuda_tests;

namespace {

struct Product {
  int64_t m, n, k, batch = 1;
  bool a_transposed = false, b_transposed = false;
  int64_t padding = 0;  ///< of the rows in memory
  double alpha = 1, beta = 0;
  bool bias = false;
  bool shared_a = false;  ///< one A for the whole batch
};

template <class T>
struct Operands {
  GemmPlan plan{};
  Twin<T> a, b, c, c_own, bias;

  static int64_t row(bool transposed, int64_t lines, int64_t depth, int64_t padding) {
    return std::max<int64_t>(1, (transposed ? lines : depth) + padding);
  }
  static int64_t plane(bool transposed, int64_t lines, int64_t depth, int64_t padding) {
    return row(transposed, lines, depth, padding) * (transposed ? depth : lines);
  }

  template <class Make>
  Operands(const Product& p, const Make& make)
      : a(make(plane(p.a_transposed, p.m, p.k, p.padding) * (p.shared_a ? 1 : p.batch), 1)),
        b(make(plane(!p.b_transposed, p.n, p.k, p.padding) * p.batch, 2)),
        c(make((p.n + p.padding) * p.m * p.batch, 3)),
        c_own(make((p.n + p.padding) * p.m * p.batch, 3)),
        bias(make(p.n, 4)) {
    plan.dtype = dtype_of<T>;
    plan.batch = p.batch, plan.m = p.m, plan.n = p.n, plan.k = p.k;
    plan.a_transposed = p.a_transposed, plan.b_transposed = p.b_transposed;
    plan.lda = row(p.a_transposed, p.m, p.k, p.padding);
    plan.a_batch_stride = p.shared_a ? 0 : plane(p.a_transposed, p.m, p.k, p.padding);
    plan.ldb = row(!p.b_transposed, p.n, p.k, p.padding);
    plan.b_batch_stride = plane(!p.b_transposed, p.n, p.k, p.padding);
    plan.ldc = p.n + p.padding, plan.c_batch_stride = plan.ldc * p.m;
    if constexpr (std::is_integral_v<T>) {
      plan.alpha = static_cast<int64_t>(p.alpha), plan.beta = static_cast<int64_t>(p.beta);
    } else {
      plan.alpha = p.alpha, plan.beta = p.beta;
    }
    for (Twin<T>* const to : {&c, &c_own}) {
      plan.a = a.host(), plan.b = b.host(), plan.c = to->host();
      plan.bias = p.bias ? bias.host() : nullptr;
      require_ok(kernels_for(kCPU).gemm(plan, stream_for(kCPU)));
      plan.a = a.device(), plan.b = b.device(), plan.c = to->device();
      plan.bias = p.bias ? bias.device() : nullptr;
      require_ok(to == &c ? cuda_table().gemm(plan, cuda_stream())
                          : kernels::cuda::own_gemm(plan, cuda_stream()));
    }
  }

  void check(double relative, double absolute = 0) {
    {
      INFO("Taper's own kernel");
      check_close(c_own, relative, absolute);
    }
    INFO("the table's entry");
    check_close(c, relative, absolute);
  }
};

template <class T>
void check_exact(const Product& p) {
  INFO(to_string(dtype_of<T>) << ": batch " << p.batch << ", " << p.m << "x" << p.k << " times "
                              << p.k << "x" << p.n << ", transposed " << p.a_transposed
                              << p.b_transposed << ", padding " << p.padding << ", alpha "
                              << p.alpha << ", beta " << p.beta << ", bias " << p.bias);
  Operands<T> operands(
      p, [](int64_t count, uint32_t seed) { return whole_numbers<T>(size_t(count), seed); });
  operands.check(0);
}

template <class T>
void check_layouts(Product p) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      p.a_transposed = a, p.b_transposed = b;
      check_exact<T>(p);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("products of all layouts and odd sizes", "", float, double, Half, BFloat16) {
  for (const int64_t padding : {0, 3, 8}) {
    check_layouts<TestType>({.m = 1, .n = 1, .k = 1, .padding = padding});
    check_layouts<TestType>({.m = 1, .n = 70, .k = 9, .padding = padding});
    check_layouts<TestType>({.m = 67, .n = 1, .k = 20, .padding = padding});
    check_layouts<TestType>({.m = 3, .n = 5, .k = 7, .padding = padding});
    check_layouts<TestType>({.m = 64, .n = 64, .k = 32, .padding = padding});
    check_layouts<TestType>({.m = 65, .n = 63, .k = 33, .padding = padding});
  }
}

TEMPLATE_TEST_CASE("products that fill the card go by larger tiles", "", float, double, Half,
                   BFloat16) {
  check_layouts<TestType>({.m = 136, .n = 200, .k = 48});
  check_layouts<TestType>({.m = 129, .n = 131, .k = 25, .padding = 7, .bias = true});
}

TEMPLATE_TEST_CASE("alpha, beta and bias", "", float, double, Half, BFloat16, int64_t, int32_t,
                   int16_t, int8_t, uint8_t) {
  for (const int64_t padding : {0, 1}) {
    check_exact<TestType>({.m = 9, .n = 20, .k = 6, .padding = padding, .alpha = 2, .beta = 3});
    check_exact<TestType>({.m = 9, .n = 20, .k = 6, .padding = padding, .alpha = -1, .beta = 1});
    check_exact<TestType>({.m = 9, .n = 20, .k = 6, .padding = padding, .beta = 4, .bias = true});
    check_exact<TestType>({.m = 9, .n = 20, .k = 0, .padding = padding, .beta = 2});
    check_exact<TestType>({.m = 9, .n = 20, .k = 0, .padding = padding, .bias = true});
  }
}

TEMPLATE_TEST_CASE("batches, with one operand for all of them too", "", float, double, Half,
                   BFloat16, int64_t) {
  check_layouts<TestType>({.m = 5, .n = 8, .k = 16, .batch = 7});
  check_exact<TestType>({.m = 5, .n = 9, .k = 16, .batch = 7, .padding = 2, .shared_a = true});
  check_exact<TestType>({.m = 0, .n = 9, .k = 16, .batch = 7});
  check_exact<TestType>({.m = 5, .n = 9, .k = 16, .batch = 0});
}

TEMPLATE_TEST_CASE("deep products are cut into parts", "", float, double, Half, BFloat16, int32_t) {
  check_layouts<TestType>({.m = 5, .n = 6, .k = 1100, .alpha = 2, .beta = 1});
  check_layouts<TestType>({.m = 70, .n = 12, .k = 776, .batch = 2, .padding = 4, .bias = true});
}

TEMPLATE_TEST_CASE("integer products of all layouts, which wrap", "", int64_t, int32_t, int16_t,
                   int8_t, uint8_t) {
  check_layouts<TestType>({.m = 33, .n = 66, .k = 17, .padding = 5});
  const Product p{.m = 4, .n = 3, .k = 40};
  Operands<TestType> wrapping(p, [](int64_t count, uint32_t) {
    return std::vector<TestType>(size_t(count), std::numeric_limits<TestType>::max());
  });
  wrapping.check(0);
}

TEST_CASE("more matrices than one launch takes") {
  Operands<float> operands({.m = 3, .n = 2, .k = 4, .batch = 7}, [](int64_t count, uint32_t seed) {
    return whole_numbers<float>(size_t(count), seed);
  });
  std::fill_n(operands.c_own.host(), operands.c_own.size(), -1.0f);
  operands.c_own.upload();
  operands.plan.c = operands.c_own.device();
  require_ok(kernels::cuda::own_gemm(operands.plan, cuda_stream(), 3));
  std::copy_n(operands.c.host(), operands.c.size(), operands.c_own.host());
  operands.check(0);
}

TEMPLATE_TEST_CASE("rounding stays within a unit in the last place", "", float, double, Half,
                   BFloat16) {
  const double unit = sizeof(TestType) == 8         ? 0x1p-50
                      : sizeof(TestType) == 4       ? 0x1p-20
                      : dtype_of<TestType> == kHalf ? 0x1p-10
                                                    : 0x1p-7;
  const Product p{.m = 70, .n = 66, .k = 100};
  Operands<TestType> operands(
      p, [](int64_t count, uint32_t seed) { return reals<TestType>(size_t(count), seed); });
  operands.check(unit, sizeof(TestType) == 8 ? 1e-14 : 1e-5);
}

TEMPLATE_TEST_CASE("NaN and infinity go where the definition sends them", "", float, Half) {
  const Product p{.m = 20, .n = 18, .k = 24, .alpha = 1, .beta = 0};
  Operands<TestType> operands(p, [](int64_t count, uint32_t seed) {
    auto values = whole_numbers<TestType>(size_t(count), seed);
    if (seed == 1) values[30] = std::numeric_limits<float>::infinity();
    if (seed == 2) values[40] = std::numeric_limits<float>::quiet_NaN();
    // beta 0 does not read C.
    if (seed == 3) std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
    return values;
  });
  operands.check(0);
}
