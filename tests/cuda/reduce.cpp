#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support.h"
#if !defined(TAPER_CUDA_HARDWARE)  // kernels, which for cards nvcc alone compiles
#include "taper/kernels/cuda/reduce.h"
#endif

// Reductions, mean and variance, positions of extremes: over dtypes, layouts and sizes around those
// of packets, warps, blocks and chunks.

using namespace cuda_tests;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
constexpr ScalarType dtype = std::is_same_v<T, uint8_t> ? kByte : dtype_of<T>;
template <class T>
constexpr bool floating = is_floating_point(dtype<T>);
template <class T>
constexpr double tolerance = std::is_same_v<T, double>     ? 1e-13
                             : std::is_same_v<T, float>    ? 2e-6
                             : std::is_same_v<T, Half>     ? 1e-3
                             : std::is_same_v<T, BFloat16> ? 8e-3
                                                           : 0;

/// Small numbers of both signs; bool gets 0 and 1.
template <class T>
std::vector<T> numbers(size_t count, int seed, bool truth = false) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<T> values(count);
  for (T& value : values) {
    if (truth) {
      value = static_cast<T>(random() % 2);
    } else if constexpr (floating<T>) {
      value = T(static_cast<float>(random() % 2001) / 1000.0f - 1.0f);
    } else {
      value = static_cast<T>(random() % 101 - (std::is_signed_v<T> ? 50 : 0));
    }
  }
  return values;
}

/// A tensor that is reduced: sizes and strides outermost first, dimensions in `reduced` as bits.
struct Case {
  std::vector<int64_t> sizes, strides;
  uint32_t reduced;
  int64_t offset = 0;  ///< of the first element

  ReducePlan plan() const {
    std::vector<int64_t> out(sizes.size(), 0);
    int64_t next = 1;
    for (size_t d = sizes.size(); d-- > 0;) {
      if (reduced >> d & 1) continue;
      out[d] = next;
      next *= sizes[d];
    }
    ReducePlan plan;
    make_reduce_plan(plan, {static_cast<int32_t>(sizes.size()), sizes.data(), strides.data()},
                     reduced, out.data());
    return plan;
  }
  size_t extent() const {
    int64_t last = offset;
    for (size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
    return static_cast<size_t>(std::max<int64_t>(last + 1, 1));
  }
};

Case dense(std::vector<int64_t> sizes, uint32_t reduced, int64_t offset = 0) {
  std::vector<int64_t> strides(sizes.size());
  int64_t next = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = next;
    next *= sizes[d];
  }
  return {sizes, strides, reduced, offset};
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      dense({1}, 1),
      dense({0}, 1),
      dense({0, 5}, 1),
      dense({5, 0}, 1),
      dense({}, 0),
      // Everything into one: under, at and over packets, warps, blocks, chunks.
      dense({3}, 1),
      dense({16}, 1),
      dense({127}, 1),
      dense({128}, 1),
      dense({1025}, 1),
      dense({4099}, 1),
      dense({70001}, 1),
      dense({4096}, 1, 1),  // misaligned
      // Rows.
      dense({70, 1}, 2),
      dense({70, 3}, 2),
      dense({33, 16}, 2),
      dense({9, 64}, 2),
      dense({5, 240}, 2),
      dense({5, 1000}, 2),
      dense({3, 4224}, 2),
      dense({2, 30000}, 2),
      dense({300, 144}, 2),
      // Columns.
      dense({1, 70}, 1),
      dense({2, 700}, 1),
      dense({5, 33}, 1),
      dense({9, 128}, 1),
      dense({40, 31}, 1),
      dense({300, 10}, 1),
      dense({200, 1030}, 1, 3),
      dense({5000, 4}, 1),
      dense({9000, 1}, 1),
      dense({3, 200, 8}, 2),
      dense({17, 50, 2}, 2),
      // Several dimensions, kept and reduced in turn.
      dense({4, 3, 49}, 5),
      dense({4, 3, 64}, 5),
      dense({3, 4, 5, 6}, 10),
      dense({3, 4, 5, 6}, 5),
      // Strided, transposed, broadcast.
      {{20, 30}, {60, 2}, 2},
      {{20, 30}, {60, 2}, 1},
      {{64, 40}, {1, 64}, 2},
      {{64, 40}, {1, 64}, 1},
      {{12, 36}, {0, 1}, 1},
      {{12, 36}, {0, 1}, 2},
      {{12, 36}, {1, 0}, 1},
      {{7, 6, 20}, {1, 140, 7}, 5},
      {{24, 24}, {25, 1}, 2},
      {{24, 24}, {32, 1}, 1},
  };
  return all;
}

template <class T, class Out>
void check_reduce(ReduceOp op, ScalarType in_dtype, ScalarType out_dtype, const Case& shape,
                  const std::vector<T>& values, double relative, double p = 0) {
  Twin<T> in(values);
  const ReducePlan plan = shape.plan();
  Twin<Out> out(static_cast<size_t>(plan.kept_numel));
  ReduceArgs args{op, in_dtype, out_dtype, out.host(), in.host() + shape.offset, p, plan};
  require_ok(cpu_table().reduce(args, stream_for(kCPU)));
  args.out = out.device();
  args.in = in.device() + shape.offset;
  require_ok(cuda_table().reduce(args, cuda_stream()));
  INFO("op " << static_cast<int>(op) << " dtype " << static_cast<int>(in_dtype) << " rank "
             << shape.sizes.size() << " size " << (shape.sizes.empty() ? 1 : shape.sizes[0]) << ", "
             << (shape.sizes.size() > 1 ? shape.sizes[1] : 1) << " reduced " << shape.reduced);
  if constexpr (floating<Out>)
    check_close(out, relative, relative);
  else
    check_equal(out);
}

template <class T>
void check_all_ops(const Case& shape, int seed) {
  const std::vector<T> values = numbers<T>(shape.extent(), seed);
  const ScalarType in = dtype<T>;
  // A sum's error is relative to the sum of the sizes of its terms.
  const double count = std::sqrt(static_cast<double>(shape.plan().reduced_numel) + 1);
  const double relative = tolerance<T>, of_sum = relative * count;
  using Wide = std::conditional_t<floating<T>, T, int64_t>;
  const ScalarType wide = dtype<Wide>;
  check_reduce<T, Wide>(ReduceOp::kSum, in, wide, shape, values, of_sum);
  check_reduce<T, Wide>(ReduceOp::kSumSquares, in, wide, shape, values, of_sum);
  check_reduce<T, Wide>(ReduceOp::kProd, in, wide, shape, values, of_sum);
  check_reduce<T, int64_t>(ReduceOp::kCountNonzero, in, kLong, shape, values, 0);
  check_reduce<T, uint8_t>(ReduceOp::kAny, in, kBool, shape, values, 0);
  check_reduce<T, uint8_t>(ReduceOp::kAll, in, kBool, shape, values, 0);
  if (shape.plan().reduced_numel > 0) {
    check_reduce<T, T>(ReduceOp::kMax, in, in, shape, values, 0);
    check_reduce<T, T>(ReduceOp::kMin, in, in, shape, values, 0);
  }
  if constexpr (floating<T>) {
    for (const ReduceOp op : {ReduceOp::kMean, ReduceOp::kNanSum, ReduceOp::kNormL1,
                              ReduceOp::kNormL2, ReduceOp::kNormInf, ReduceOp::kNormNegInf}) {
      check_reduce<T, T>(op, in, in, shape, values, of_sum);
    }
    for (const double p : {0.0, 1.0, 2.0, 3.0, kInfinity, -kInfinity}) {
      check_reduce<T, T>(ReduceOp::kNormP, in, in, shape, values, 4 * of_sum, p);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("CUDA reductions agree with the CPU's", "", float, double, Half, BFloat16,
                   int64_t, int32_t, int16_t, int8_t, uint8_t) {
  using T = TestType;
  using Wide = std::conditional_t<floating<T>, T, int64_t>;
  int seed = 0;
  for (const Case& shape : cases()) {
    if (shape.extent() < 2000) {
      check_all_ops<T>(shape, ++seed);
      continue;
    }
    if (shape.extent() > 50000 && !std::is_same_v<T, float> && !std::is_same_v<T, int8_t>) continue;
    const auto values = numbers<T>(shape.extent(), ++seed);
    const double relative =
        tolerance<T> * std::sqrt(static_cast<double>(shape.plan().reduced_numel) + 1);
    check_reduce<T, Wide>(ReduceOp::kSum, dtype<T>, dtype<Wide>, shape, values, relative);
    check_reduce<T, T>(ReduceOp::kMax, dtype<T>, dtype<T>, shape, values, 0);
    check_reduce<T, int64_t>(ReduceOp::kCountNonzero, dtype<T>, kLong, shape, values, 0);
  }
}

TEST_CASE("CUDA reductions of bool") {
  for (const Case& shape : {dense({70, 3}, 2), dense({300, 10}, 1), dense({4099}, 1)}) {
    const auto values = numbers<uint8_t>(shape.extent(), 3, true);
    check_reduce<uint8_t, int64_t>(ReduceOp::kSum, kBool, kLong, shape, values, 0);
    check_reduce<uint8_t, int64_t>(ReduceOp::kProd, kBool, kLong, shape, values, 0);
    check_reduce<uint8_t, uint8_t>(ReduceOp::kMax, kBool, kBool, shape, values, 0);
    check_reduce<uint8_t, uint8_t>(ReduceOp::kMin, kBool, kBool, shape, values, 0);
    check_reduce<uint8_t, uint8_t>(ReduceOp::kAny, kBool, kBool, shape, values, 0);
    check_reduce<uint8_t, uint8_t>(ReduceOp::kAll, kBool, kBool, shape, values, 0);
    const std::vector<uint8_t> ones(shape.extent(), 1), zeros(shape.extent(), 0);
    check_reduce<uint8_t, uint8_t>(ReduceOp::kAll, kBool, kBool, shape, ones, 0);
    check_reduce<uint8_t, uint8_t>(ReduceOp::kAny, kBool, kBool, shape, zeros, 0);
  }
}

TEST_CASE("CUDA reductions of NaN and infinity") {
  for (const Case& shape : {dense({6, 200}, 2), dense({200, 6}, 1), dense({3000}, 1)}) {
    for (const double special : {kNan, kInfinity, -kInfinity, -0.0}) {
      std::vector<float> values = numbers<float>(shape.extent(), 7);
      for (size_t i = 5; i < values.size(); i += 311) values[i] = static_cast<float>(special);
      for (const ReduceOp op :
           {ReduceOp::kSum, ReduceOp::kMean, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kNanSum,
            ReduceOp::kNormL2, ReduceOp::kNormInf, ReduceOp::kNormNegInf}) {
        check_reduce<float, float>(op, kFloat, kFloat, shape, values, 1e-4);
      }
      check_reduce<float, int64_t>(ReduceOp::kCountNonzero, kFloat, kLong, shape, values, 0);
      check_reduce<float, float>(ReduceOp::kNormP, kFloat, kFloat, shape, values, 0, 0);
    }
  }
}

TEST_CASE("CUDA integer sums wrap as the CPU's") {
  const std::vector<int64_t> values(300, std::numeric_limits<int64_t>::max() / 3);
  check_reduce<int64_t, int64_t>(ReduceOp::kSum, kLong, kLong, dense({300}, 1), values, 0);
  check_reduce<int64_t, int64_t>(ReduceOp::kProd, kLong, kLong, dense({300}, 1), values, 0);
}

TEST_CASE("a CUDA sum of a million floats is accurate") {
  const size_t count = 1 << 20;
  Twin<float> in(count, 0.1f), out(1);
  ReduceArgs args{ReduceOp::kSum,
                  kFloat,
                  kFloat,
                  out.device(),
                  in.device(),
                  0,
                  dense({int64_t{1} << 20}, 1).plan()};
  require_ok(cuda_table().reduce(args, cuda_stream()));
  *out.host() = static_cast<float>(static_cast<double>(0.1f) * static_cast<double>(count));
  check_close(out, 1e-6);
}

#if !defined(TAPER_CUDA_HARDWARE)
TEST_CASE("CUDA reductions that are too large for one launch") {
  constexpr int64_t kLimit = 48;
  for (const Case& shape :
       {dense({1000}, 1), dense({70, 3}, 2), dense({40, 31}, 1), dense({4, 3, 64}, 5),
        dense({3, 200, 8}, 2), dense({60, 64}, 2), Case{{64, 40}, {1, 64}, 2}}) {
    const ReducePlan plan = shape.plan();
    Twin<int64_t> in(numbers<int64_t>(shape.extent(), 4)),
        out(static_cast<size_t>(plan.kept_numel));
    require_ok(cpu_table().reduce({ReduceOp::kSum, kLong, kLong, out.host(), in.host(), 0, plan},
                                  stream_for(kCPU)));
    cuda::ReduceCall call{};
    call.in = in.device();
    call.out[0] = out.device();
    require_ok(cuda::run_reduction(cuda::find_reduction<int64_t>(cuda::ReduceClass::kSum), call,
                                   plan, cuda_stream(), kLimit));
    INFO("rank " << shape.sizes.size() << " size " << shape.sizes[0] << " reduced "
                 << shape.reduced);
    check_equal(out);
  }
  // Positions count from the beginning of the row, not of a part.
  const ReducePlan plan = dense({3, 1000}, 2).plan();
  Twin<int64_t> in(numbers<int64_t>(3000, 4)), at(3);
  require_ok(cpu_table().arg_reduce(ArgOp::kMax, nullptr, at.host(), in.host(), kLong, {3, 1000, 1},
                                    stream_for(kCPU)));
  cuda::ReduceCall call{};
  call.in = in.device();
  call.out[1] = at.device();
  require_ok(cuda::run_reduction(cuda::reduce_kernels<cuda::ArgOf<int64_t, true>>(), call, plan,
                                 cuda_stream(), kLimit));
  check_equal(at);
}
#endif

TEST_CASE("CUDA has no reduction that the CPU lacks") {
  Twin<int32_t> in(4), out(1);
  ReduceArgs args{ReduceOp::kMean, kInt, kInt, out.device(), in.device(), 0, dense({4}, 1).plan()};
  CHECK(cuda_table().reduce(args, cuda_stream()).code == Code::kUnsupported);
}

TEMPLATE_TEST_CASE("CUDA mean and variance agree with the CPU's", "", float, double, Half,
                   BFloat16) {
  int seed = 0;
  for (const Case& shape : cases()) {
    if (shape.extent() > (std::is_same_v<TestType, float> ? 50000 : 2000)) continue;
    Twin<TestType> in(numbers<TestType>(shape.extent(), ++seed));
    const ReducePlan plan = shape.plan();
    for (const double correction : {0.0, 1.0, 5.0}) {
      Twin<TestType> var(static_cast<size_t>(plan.kept_numel)),
          mean(static_cast<size_t>(plan.kept_numel));
      require_ok(cpu_table().var_mean(var.host(), mean.host(), in.host() + shape.offset,
                                      dtype<TestType>, correction, plan, stream_for(kCPU)));
      require_ok(cuda_table().var_mean(var.device(), mean.device(), in.device() + shape.offset,
                                       dtype<TestType>, correction, plan, cuda_stream()));
      INFO("size " << (shape.sizes.empty() ? 1 : shape.sizes[0]) << " reduced " << shape.reduced
                   << " correction " << correction);
      check_close(var, 4 * tolerance<TestType>, tolerance<TestType>);
      check_close(mean, 4 * tolerance<TestType>, tolerance<TestType>);
    }
  }
}

TEST_CASE("CUDA variance far from zero, and one result alone") {
  std::vector<float> values = numbers<float>(5000, 1);
  for (float& value : values) value += 3000.0f;
  Twin<float> in(values), var(1), mean(1);
  const ReducePlan plan = dense({5000}, 1).plan();
  double exact_mean = 0, m2 = 0;
  for (const float value : values) exact_mean += value / 5000.0;
  for (const float value : values) m2 += (value - exact_mean) * (value - exact_mean);
  require_ok(
      cuda_table().var_mean(var.device(), nullptr, in.device(), kFloat, 1, plan, cuda_stream()));
  require_ok(
      cuda_table().var_mean(nullptr, mean.device(), in.device(), kFloat, 1, plan, cuda_stream()));
  *var.host() = static_cast<float>(m2 / 4999);
  *mean.host() = static_cast<float>(exact_mean);
  check_close(var, 1e-6);
  check_close(mean, 1e-7);
}

namespace {

template <class T>
void check_arg(const std::vector<T>& values, ScalarType type, AxisPlan axis, bool with_values) {
  Twin<T> in(values), best(static_cast<size_t>(axis.outer * axis.inner));
  Twin<int64_t> at(static_cast<size_t>(axis.outer * axis.inner));
  for (const ArgOp op : {ArgOp::kMax, ArgOp::kMin}) {
    require_ok(cpu_table().arg_reduce(op, with_values ? best.host() : nullptr, at.host(), in.host(),
                                      type, axis, stream_for(kCPU)));
    require_ok(cuda_table().arg_reduce(op, with_values ? best.device() : nullptr, at.device(),
                                       in.device(), type, axis, cuda_stream()));
    INFO("[" << axis.outer << ", " << axis.size << ", " << axis.inner << "] op "
             << static_cast<int>(op) << " dtype " << static_cast<int>(type));
    check_equal(at);
    if (!with_values) continue;
    if constexpr (floating<T>)
      check_close(best, 0);
    else
      check_equal(best);
  }
}

const std::vector<AxisPlan> kAxes = {
    {1, 1, 1},    {0, 4, 1},    {3, 1, 5},  {70, 3, 1}, {33, 16, 1},  {4, 1000, 1}, {1, 70000, 1},
    {2, 4100, 1}, {1, 300, 10}, {3, 40, 7}, {5, 9, 64}, {1, 5000, 2}, {2, 2, 300},
};

}  // namespace

TEMPLATE_TEST_CASE("CUDA positions of extremes agree with the CPU's", "", float, double, Half,
                   BFloat16, int64_t, int32_t, int16_t, int8_t, uint8_t) {
  int seed = 0;
  for (const AxisPlan& axis : kAxes) {
    if (!std::is_same_v<TestType, float> && axis.size > 2000) continue;
    const auto count = static_cast<size_t>(axis.outer * axis.size * axis.inner);
    // Few different values: most of them have equals.
    std::vector<TestType> values = numbers<TestType>(count, ++seed, true);
    check_arg(values, dtype<TestType>, axis, true);
    values = numbers<TestType>(count, ++seed);
    check_arg(values, dtype<TestType>, axis, false);
    if constexpr (floating<TestType>) {
      for (size_t i = 7; i < count; i += 23) values[i] = TestType(static_cast<float>(kNan));
      check_arg(values, dtype<TestType>, axis, true);
      check_arg(std::vector<TestType>(count, TestType(static_cast<float>(-kInfinity))),
                dtype<TestType>, axis, true);
    }
  }
}

TEST_CASE("CUDA positions of extremes of bool") {
  check_arg(numbers<uint8_t>(400, 2, true), kBool, {4, 100, 1}, true);
  check_arg(std::vector<uint8_t>(400, 1), kBool, {4, 10, 10}, true);
}
