#include <limits>

#include "numbers.h"
#include "support.h"
#include "taper/kernels/cuda/conv.h"

// Convolutions: those of Taper's own kernels, and those of the table's entries, which ask cuDNN
// first, against the CPU's.

using namespace cuda_tests;

namespace {

struct Geometry {
  int64_t batch, in_channels, h, w, out_channels, kernel_h, kernel_w;
  int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  int64_t groups = 1;
};

ConvPlan plan_of(const Geometry& g, ScalarType dtype) {
  ConvPlan p{};
  p.dtype = dtype;
  p.batch = g.batch, p.in_channels = g.in_channels, p.in_h = g.h, p.in_w = g.w;
  p.out_channels = g.out_channels, p.kernel_h = g.kernel_h, p.kernel_w = g.kernel_w;
  p.stride_h = g.stride_h, p.stride_w = g.stride_w, p.pad_h = g.pad_h, p.pad_w = g.pad_w;
  p.dilation_h = g.dilation_h, p.dilation_w = g.dilation_w, p.groups = g.groups;
  p.out_h = window_output_size(g.h, g.kernel_h, g.stride_h, g.pad_h, g.dilation_h, false);
  p.out_w = window_output_size(g.w, g.kernel_w, g.stride_w, g.pad_w, g.dilation_w, false);
  return p;
}

struct Way {
  const char* name;
  decltype(KernelTable::conv_forward) forward;
  decltype(KernelTable::conv_backward_data) data;
  decltype(KernelTable::conv_backward_weight) weight;
};
const Way& own() {
  static const Way way{
      "Taper's own kernels",
      [](void* out, const void* in, const void* weight, const void* bias, bool relu,
         const ConvPlan& p, Stream stream) {
        return kernels::cuda::own_conv_forward(out, in, weight, bias, relu, p, stream);
      },
      [](void* grad_in, const void* grad_out, const void* weight, const ConvPlan& p,
         Stream stream) {
        return kernels::cuda::own_conv_backward_data(grad_in, grad_out, weight, p, stream);
      },
      [](void* grad_weight, void* grad_bias, const void* grad_out, const void* in,
         const ConvPlan& p, Stream stream) {
        return kernels::cuda::own_conv_backward_weight(grad_weight, grad_bias, grad_out, in, p,
                                                       stream);
      }};
  return way;
}
const Way& of_table() {
  static const Way way{"the table's entries", cuda_table().conv_forward,
                       cuda_table().conv_backward_data, cuda_table().conv_backward_weight};
  return way;
}

template <class T>
void check_passes(const Geometry& g, const Way& cuda) {
  INFO(to_string(dtype_of<T>) << ": " << g.batch << "x" << g.in_channels << "x" << g.h << "x" << g.w
                              << ", " << g.out_channels << " kernels of " << g.kernel_h << "x"
                              << g.kernel_w << ", groups " << g.groups << ", " << cuda.name);
  const ConvPlan p = plan_of(g, dtype_of<T>);
  const auto numbers = [](int64_t count, uint32_t seed) {
    return whole_numbers<T>(static_cast<size_t>(count), seed, 2);
  };
  const int64_t ins = p.batch * p.in_channels * p.in_h * p.in_w;
  const int64_t outs = p.batch * p.out_channels * p.out_h * p.out_w;
  const int64_t weights = p.out_channels * p.in_channels / p.groups * p.kernel_h * p.kernel_w;
  Twin<T> in(numbers(ins, 1)), weight(numbers(weights, 2)), bias(numbers(p.out_channels, 3));
  Twin<T> grad(numbers(outs, 4)), out(static_cast<size_t>(outs));
  Twin<T> grad_in(static_cast<size_t>(ins)), grad_weight(static_cast<size_t>(weights));
  Twin<T> grad_bias(static_cast<size_t>(p.out_channels));
  const KernelTable& cpu = kernels_for(kCPU);
  const Stream cpu_stream = stream_for(kCPU), stream = cuda_stream();

  for (const bool whole : {false, true}) {  // with bias and relu, or without
    require_ok(cpu.conv_forward(out.host(), in.host(), weight.host(), whole ? bias.host() : nullptr,
                                whole, p, cpu_stream));
    require_ok(cuda.forward(out.device(), in.device(), weight.device(),
                            whole ? bias.device() : nullptr, whole, p, stream));
    INFO("forward, with bias and relu: " << whole);
    check_close(out, 0);
  }
  require_ok(cpu.conv_backward_data(grad_in.host(), grad.host(), weight.host(), p, cpu_stream));
  require_ok(cuda.data(grad_in.device(), grad.device(), weight.device(), p, stream));
  {
    INFO("gradient of the input");
    check_close(grad_in, 0);
  }
  for (const bool with_bias : {true, false}) {
    require_ok(cpu.conv_backward_weight(grad_weight.host(), with_bias ? grad_bias.host() : nullptr,
                                        grad.host(), in.host(), p, cpu_stream));
    require_ok(cuda.weight(grad_weight.device(), with_bias ? grad_bias.device() : nullptr,
                           grad.device(), in.device(), p, stream));
    INFO("gradient of the weights, with bias: " << with_bias);
    check_close(grad_weight, 0);
    check_close(grad_bias, 0);
  }
}

template <class T>
void check_passes(const Geometry& g) {
  check_passes<T>(g, own());
  check_passes<T>(g, of_table());
}

}  // namespace

TEMPLATE_TEST_CASE("convolutions of many shapes, all passes", "", float, double, Half, BFloat16) {
  check_passes<TestType>({1, 1, 1, 1, 1, 1, 1});
  check_passes<TestType>({2, 8, 5, 5, 16, 1, 1});
  check_passes<TestType>({2, 3, 9, 7, 6, 3, 3, 1, 1, 1, 1});
  check_passes<TestType>({2, 5, 8, 11, 7, 5, 3, 2, 3, 2, 0});
  check_passes<TestType>({1, 6, 12, 10, 5, 3, 2, 1, 2, 2, 1, 3, 2});
  check_passes<TestType>({3, 7, 1, 20, 9, 1, 5, 1, 2, 0, 2});
  check_passes<TestType>({1, 16, 8, 8, 24, 3, 3, 1, 1, 1, 1});
  check_passes<TestType>({2, 4, 4, 4, 5, 4, 4});
}

TEMPLATE_TEST_CASE("convolutions in groups, down to one channel each", "", float, double, Half,
                   BFloat16) {
  check_passes<TestType>({2, 12, 6, 7, 18, 3, 3, 1, 1, 1, 1, 1, 1, 2});
  check_passes<TestType>({2, 6, 9, 8, 6, 3, 3, 2, 2, 1, 1, 1, 1, 6});
  check_passes<TestType>({1, 4, 7, 7, 12, 3, 2, 1, 1, 2, 1, 2, 1, 4});
  check_passes<TestType>({2, 15, 5, 5, 6, 3, 3, 1, 1, 1, 1, 1, 1, 3});
}

TEMPLATE_TEST_CASE("convolutions that fill the card go by larger tiles", "", float, Half,
                   BFloat16) {
  check_passes<TestType>({2, 66, 12, 11, 70, 3, 3, 1, 1, 1, 1});
  check_passes<TestType>({1, 130, 13, 10, 129, 2, 2, 1, 1, 1, 0});
}

TEMPLATE_TEST_CASE("empty convolutions", "", float, Half) {
  check_passes<TestType>({0, 3, 5, 5, 4, 3, 3});
  check_passes<TestType>({2, 0, 5, 5, 4, 3, 3});
  check_passes<TestType>({2, 3, 5, 5, 0, 3, 3});
}

TEST_CASE("infinities and NaNs stay in the windows that hold them") {
  const ConvPlan p = plan_of({1, 4, 6, 6, 8, 3, 3}, kFloat);
  std::vector<float> numbers = whole_numbers<float>(4 * 36, 1);
  numbers[7] = std::numeric_limits<float>::infinity();
  numbers[100] = std::numeric_limits<float>::quiet_NaN();
  Twin<float> in(numbers), weight(whole_numbers<float>(8 * 4 * 9, 2)), out(8 * 16);
  for (const Way* const way : {&own(), &of_table()}) {
    for (const bool relu : {false, true}) {
      INFO(way->name);
      require_ok(kernels_for(kCPU).conv_forward(out.host(), in.host(), weight.host(), nullptr, relu,
                                                p, stream_for(kCPU)));
      require_ok(way->forward(out.device(), in.device(), weight.device(), nullptr, relu, p,
                              cuda_stream()));
      check_close(out, 0);
    }
  }
}
