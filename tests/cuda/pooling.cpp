#include <limits>

#include "numbers.h"
#include "support.h"

// Pooling and resizing: CUDA's against the CPU's.

using namespace cuda_tests;

namespace {

struct Pooling {
  int64_t planes, h, w, kernel_h, kernel_w, stride_h, stride_w;
  int64_t pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  bool ceil_mode = false, count_pad = true;
  int64_t divisor = 0;
};

PoolPlan plan_of(const Pooling& g, ScalarType dtype) {
  PoolPlan p{};
  p.dtype = dtype;
  p.planes = g.planes, p.in_h = g.h, p.in_w = g.w;
  p.kernel_h = g.kernel_h, p.kernel_w = g.kernel_w;
  p.stride_h = g.stride_h, p.stride_w = g.stride_w, p.pad_h = g.pad_h, p.pad_w = g.pad_w;
  p.dilation_h = g.dilation_h, p.dilation_w = g.dilation_w;
  p.count_include_pad = g.count_pad, p.divisor_override = g.divisor;
  p.out_h = window_output_size(g.h, g.kernel_h, g.stride_h, g.pad_h, g.dilation_h, g.ceil_mode);
  p.out_w = window_output_size(g.w, g.kernel_w, g.stride_w, g.pad_w, g.dilation_w, g.ceil_mode);
  return p;
}

size_t ins_of(const PoolPlan& p) { return static_cast<size_t>(p.planes * p.in_h * p.in_w); }
size_t outs_of(const PoolPlan& p) { return static_cast<size_t>(p.planes * p.out_h * p.out_w); }

/// A unit in the last place, for sums in another order.
template <class T>
constexpr double kUnit = sizeof(T) == 8   ? 1e-15
                         : sizeof(T) == 4 ? 1e-6
                                          : 0x1p-7;

const KernelTable& cpu() { return kernels_for(kCPU); }

template <class T>
void check_max(const Pooling& g, std::vector<T> numbers = {}) {
  const PoolPlan p = plan_of(g, dtype_of<T>);
  INFO(to_string(p.dtype) << ": " << p.planes << " planes of " << p.in_h << "x" << p.in_w
                          << ", kernel " << p.kernel_h << "x" << p.kernel_w);
  if (numbers.empty()) numbers = whole_numbers<T>(ins_of(p), 1);  // many ties
  Twin<T> in(numbers), out(outs_of(p));
  Twin<uint8_t> window(outs_of(p));
  Twin<int64_t> flat(outs_of(p));
  // Each kind of index, none, and both.
  for (int which = 0; which < 4; ++which) {
    INFO("indices asked for: " << which);
    const bool w = which & 1, f = which & 2;
    require_ok(cpu().max_pool_forward(out.host(), w ? window.host() : nullptr,
                                      f ? flat.host() : nullptr, in.host(), p, stream_for(kCPU)));
    require_ok(cuda_table().max_pool_forward(out.device(), w ? window.device() : nullptr,
                                             f ? flat.device() : nullptr, in.device(), p,
                                             cuda_stream()));
    check_close(out, 0);
    check_equal(window);
    check_equal(flat);
  }
  if constexpr (!std::is_integral_v<T>) {
    Twin<T> grad(whole_numbers<T>(outs_of(p), 2)), grad_in(ins_of(p));
    for (int which = 0; which < 4; ++which) {
      const bool by_window = which & 1, gate = which & 2;
      INFO("gradient, by the place in the window: " << by_window << ", gated: " << gate);
      require_ok(cpu().max_pool_backward(
          grad_in.host(), grad.host(), by_window ? window.host() : nullptr,
          by_window ? nullptr : flat.host(), gate ? out.host() : nullptr, p, stream_for(kCPU)));
      require_ok(cuda_table().max_pool_backward(
          grad_in.device(), grad.device(), by_window ? window.device() : nullptr,
          by_window ? nullptr : flat.device(), gate ? out.device() : nullptr, p, cuda_stream()));
      check_close(grad_in, 0);
    }
  }
}

template <class T>
void check_average(const PoolPlan& p, bool adaptive) {
  INFO(to_string(p.dtype) << ": " << p.planes << " planes of " << p.in_h << "x" << p.in_w << " to "
                          << p.out_h << "x" << p.out_w << ", adaptive: " << adaptive);
  Twin<T> in(reals<T>(ins_of(p), 1)), out(outs_of(p));
  Twin<T> grad(reals<T>(outs_of(p), 2)), grad_in(ins_of(p));
  const auto forward =
      adaptive ? &KernelTable::adaptive_avg_pool_forward : &KernelTable::avg_pool_forward;
  const auto backward =
      adaptive ? &KernelTable::adaptive_avg_pool_backward : &KernelTable::avg_pool_backward;
  require_ok((cpu().*forward)(out.host(), in.host(), p, stream_for(kCPU)));
  require_ok((cuda_table().*forward)(out.device(), in.device(), p, cuda_stream()));
  check_close(out, kUnit<T>, 1e-7);
  require_ok((cpu().*backward)(grad_in.host(), grad.host(), p, stream_for(kCPU)));
  require_ok((cuda_table().*backward)(grad_in.device(), grad.device(), p, cuda_stream()));
  check_close(grad_in, kUnit<T>, 1e-7);
}

PoolPlan plane_plan(int64_t planes, int64_t in_h, int64_t in_w, int64_t out_h, int64_t out_w,
                    ScalarType dtype) {
  PoolPlan p{};
  p.dtype = dtype;
  p.planes = planes, p.in_h = in_h, p.in_w = in_w, p.out_h = out_h, p.out_w = out_w;
  return p;
}

template <class T>
void check_resize(ResizeMode mode, const PoolPlan& p, double scale_h, double scale_w) {
  INFO(to_string(p.dtype) << ": mode " << static_cast<int>(mode) << ", " << p.planes
                          << " planes of " << p.in_h << "x" << p.in_w << " to " << p.out_h << "x"
                          << p.out_w << ", scale " << scale_h << " " << scale_w);
  Twin<T> in(reals<T>(ins_of(p), 1)), out(outs_of(p));
  require_ok(
      cpu().resize_forward(mode, out.host(), in.host(), scale_h, scale_w, p, stream_for(kCPU)));
  require_ok(cuda_table().resize_forward(mode, out.device(), in.device(), scale_h, scale_w, p,
                                         cuda_stream()));
  check_close(out, kUnit<T>, mode == ResizeMode::kNearest ? 0 : 1e-6);
  if constexpr (!std::is_integral_v<T>) {
    Twin<T> grad(reals<T>(outs_of(p), 2)), grad_in(ins_of(p));
    require_ok(cpu().resize_backward(mode, grad_in.host(), grad.host(), scale_h, scale_w, p,
                                     stream_for(kCPU)));
    require_ok(cuda_table().resize_backward(mode, grad_in.device(), grad.device(), scale_h, scale_w,
                                            p, cuda_stream()));
    check_close(grad_in, kUnit<T>, 1e-5);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("max-pooling of many shapes", "", float, double, Half, BFloat16, int64_t,
                   int32_t, int16_t, int8_t, uint8_t) {
  check_max<TestType>({3, 8, 8, 2, 2, 2, 2});
  check_max<TestType>({2, 9, 11, 2, 2, 2, 2});
  check_max<TestType>({2, 7, 6, 3, 3, 1, 1, 1, 1});
  check_max<TestType>({2, 7, 9, 3, 2, 2, 3, 1, 0, 1, 2});
  check_max<TestType>({1, 10, 8, 3, 3, 2, 2, 1, 1, 2, 1, true});
  check_max<TestType>({5, 1, 1, 1, 1, 1, 1});
  check_max<TestType>({0, 4, 4, 2, 2, 2, 2});
  check_max<TestType>({300, 5, 5, 3, 3, 2, 2});
}

TEMPLATE_TEST_CASE("max-pooling of NaN, infinities and nothing above", "", float, double, Half,
                   BFloat16) {
  const Pooling g{1, 8, 8, 3, 3, 2, 2, 1, 1};
  auto numbers = whole_numbers<TestType>(64, 5);
  numbers[9] = numbers[10] = numbers[40] = std::numeric_limits<float>::quiet_NaN();
  numbers[20] = std::numeric_limits<float>::infinity();
  check_max<TestType>(g, numbers);
  check_max<TestType>(g, std::vector<TestType>(64, -std::numeric_limits<float>::infinity()));
  check_max<TestType>({1, 8, 8, 2, 2, 2, 2}, numbers);
}

TEMPLATE_TEST_CASE("average pooling of many shapes", "", float, double, Half, BFloat16) {
  constexpr ScalarType dtype = dtype_of<TestType>;
  check_average<TestType>(plan_of({3, 8, 8, 2, 2, 2, 2}, dtype), false);
  check_average<TestType>(plan_of({2, 7, 6, 3, 3, 1, 1, 1, 1}, dtype), false);
  check_average<TestType>(plan_of({2, 7, 6, 3, 3, 2, 1, 1, 1, 1, 1, false, false}, dtype), false);
  check_average<TestType>(plan_of({2, 10, 7, 4, 3, 3, 2, 2, 1, 1, 1, true}, dtype), false);
  check_average<TestType>(plan_of({2, 10, 7, 4, 3, 3, 2, 2, 1, 1, 1, true, true, 5}, dtype), false);
  check_average<TestType>(plan_of({4, 7, 7, 7, 7, 1, 1}, dtype), false);
  check_average<TestType>(plan_of({0, 7, 7, 7, 7, 1, 1}, dtype), false);
}

TEMPLATE_TEST_CASE("adaptive average pooling, down and up", "", float, double, Half, BFloat16) {
  constexpr ScalarType dtype = dtype_of<TestType>;
  check_average<TestType>(plane_plan(3, 7, 9, 1, 1, dtype), true);
  check_average<TestType>(plane_plan(2, 7, 9, 3, 4, dtype), true);
  check_average<TestType>(plane_plan(2, 3, 2, 7, 5, dtype), true);
  check_average<TestType>(plane_plan(2, 6, 6, 6, 6, dtype), true);
}

TEMPLATE_TEST_CASE("resizing by nearest", "", float, double, Half, BFloat16, int64_t, int32_t,
                   int16_t, uint8_t) {
  constexpr ScalarType dtype = dtype_of<TestType>;
  const auto nearest = [&](int64_t in_h, int64_t in_w, int64_t out_h, int64_t out_w) {
    check_resize<TestType>(ResizeMode::kNearest, plane_plan(2, in_h, in_w, out_h, out_w, dtype),
                           double(in_h) / double(out_h), double(in_w) / double(out_w));
  };
  nearest(4, 5, 8, 10);
  nearest(7, 9, 3, 20);
  nearest(1, 1, 4, 3);
  // A scale that the caller gave: not the quotient of the sizes.
  check_resize<TestType>(ResizeMode::kNearest, plane_plan(1, 5, 5, 12, 12, dtype), 1 / 2.5,
                         1 / 2.2);
}

TEMPLATE_TEST_CASE("an infinite gradient goes back to the nearest pixel alone", "", float, double,
                   Half, BFloat16) {
  const PoolPlan p = plane_plan(1, 2, 2, 4, 4, dtype_of<TestType>);
  std::vector<TestType> gradient(16, TestType(1));
  gradient[5] = std::numeric_limits<float>::infinity();
  Twin<TestType> grad(gradient), grad_in(ins_of(p));
  require_ok(cpu().resize_backward(ResizeMode::kNearest, grad_in.host(), grad.host(), 0.5, 0.5, p,
                                   stream_for(kCPU)));
  require_ok(cuda_table().resize_backward(ResizeMode::kNearest, grad_in.device(), grad.device(),
                                          0.5, 0.5, p, cuda_stream()));
  for (const std::vector<TestType>& sums :
       {grad_in.download(), std::vector<TestType>(grad_in.host(), grad_in.host() + 4)}) {
    CHECK(std::isinf(static_cast<double>(sums[0])));
    for (size_t i = 1; i < 4; ++i) CHECK(static_cast<double>(sums[i]) == 4);
  }
}

TEMPLATE_TEST_CASE("resizing by lines, with and without aligned corners", "", float, double, Half,
                   BFloat16) {
  constexpr ScalarType dtype = dtype_of<TestType>;
  const auto corners = [](int64_t in, int64_t out) {
    return out > 1 ? double(in - 1) / double(out - 1) : 0.0;
  };
  const auto both = [&](int64_t in_h, int64_t in_w, int64_t out_h, int64_t out_w) {
    const PoolPlan p = plane_plan(2, in_h, in_w, out_h, out_w, dtype);
    check_resize<TestType>(ResizeMode::kBilinear, p, double(in_h) / double(out_h),
                           double(in_w) / double(out_w));
    check_resize<TestType>(ResizeMode::kBilinearAlignCorners, p, corners(in_h, out_h),
                           corners(in_w, out_w));
  };
  both(4, 5, 8, 10);
  both(9, 7, 4, 3);
  both(1, 6, 5, 1);
  both(3, 3, 3, 3);
  check_resize<TestType>(ResizeMode::kBilinear, plane_plan(1, 5, 5, 12, 12, dtype), 1 / 2.5,
                         1 / 2.2);
}
