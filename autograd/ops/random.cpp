// Random numbers: filling in place, and what is drawn from a tensor of probabilities. The same seed
// gives PyTorch's numbers.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "taper/autograd/grad_mode.h"
#include "taper/autograd/ops/op.h"

namespace taper::ops {

namespace {

using kernels::RandomArgs;
using kernels::RandomOp;

constexpr int64_t kLowest = std::numeric_limits<int64_t>::min();
constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();

// From this size on PyTorch fills a dense row of normal numbers by its vectorised method, which
// draws other numbers than one by one.
constexpr int64_t kVectorNormal = 16;

const Generator& source_for(const Tensor& self, const std::optional<Generator>& generator) {
  if (!generator) return taper::detail::default_generator(self.device());
  TAPER_CHECK(generator->device().type() == self.device().type(), "Expected a '",
              self.device().type(), "' device type for generator but found '",
              generator->device().type(), "'");
  return *generator;
}

// Calls fill(dense target, generator state) under the generator's lock. Other layouts are filled in
// the order of their memory, as in PyTorch.
template <class Fill>
void fill_in_memory_order(const Tensor& self, const std::optional<Generator>& generator,
                          const Fill& fill) {
  const Generator& source = source_for(self, generator);
  const std::lock_guard<std::mutex> lock(source.mutex());
  if (self.is_contiguous()) return fill(self, source.raw_state());
  std::vector<int64_t> order(static_cast<size_t>(self.dim()));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return self.stride(a) > self.stride(b); });
  const Tensor ordered = self.detach().permute(order);
  const Tensor dense = new_result_like(ordered);
  fill(dense, source.raw_state());
  copy_values(ordered, dense);
}

void run(const char* op, const Tensor& target, const RandomArgs& given, void* state) {
  RandomArgs args = given;
  args.out = target.data_ptr();
  args.numel = target.numel();
  args.generator = state;
  check(kernels_of(target).random(args, stream_of(target)), op, target.device(),
        target.scalar_type());
}

// The numbers do not depend on what was there: the gradient is zero.
Tensor& fill_random(const char* op, Tensor& self, RandomOp kind, Value p0, Value p1,
                    const std::optional<Generator>& generator) {
  check_defined(op, self, "self");
  begin_inplace(op, self);
  RandomArgs args{};
  args.op = kind;
  args.dtype = self.scalar_type();
  args.p[0] = p0;
  args.p[1] = p1;
  fill_in_memory_order(self, generator, [&](const Tensor& target, void* state) {
    if (kind != RandomOp::kNormal || self.is_cuda() || self.is_contiguous() ||
        target.numel() < kVectorNormal) {
      return run(op, target, args, state);
    }
    const Tensor flat = target.view({-1});
    for (int64_t start = 0; start < flat.numel(); start += kVectorNormal - 1) {
      run(op, flat.slice(0, start, start + kVectorNormal - 1), args, state);
    }
  });
  finish_write(self);
  if (recording(self)) {
    record_inplace(self, "RandomBackward0", inputs(self), saving_nothing(),
                   [](Backward& b) { b.grad(0) = zeros_like(b.grad_output()); });
  }
  return self;
}

void check_floating_target(const char* op, const Tensor& self) {
  check_defined(op, self, "self");
  TAPER_CHECK_AS(NotImplementedError, self.is_floating_point(), "\"", op,
                 "\" not implemented for '", self.scalar_type(), "'");
}

void check_std(double std) {
  TAPER_CHECK(std >= 0, "normal expects std >= 0.0, but found std ", std);
}

// The integers that the dtype holds exactly, from the lowest to the highest.
std::pair<int64_t, int64_t> exact_range(ScalarType dtype) {
  switch (dtype) {
    case kBool:
      return {0, 1};
    case kByte:
      return {0, 255};
    case kChar:
      return {-128, 127};
    case kShort:
      return {-32768, 32767};
    case kInt:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    case kHalf:
      return {-2048, 2048};
    case kBFloat16:
      return {-256, 256};
    case kFloat:
      return {-(int64_t{1} << 24), int64_t{1} << 24};
    case kDouble:
      return {-(int64_t{1} << 53), int64_t{1} << 53};
    default:
      return {kLowest, kHighest};
  }
}

// Bounds that the dtype could not represent would give numbers outside of them.
void check_bounds(ScalarType dtype, int64_t from, int64_t last) {
  if (is_floating_point(dtype)) {
    const double highest = finite_range(dtype).second;
    TAPER_CHECK(std::abs(static_cast<double>(from)) <= highest, "from is out of bounds for ",
                dtype_name(dtype));
    TAPER_CHECK(std::abs(static_cast<double>(last)) <= highest, "to - 1 is out of bounds for ",
                dtype_name(dtype));
    return;
  }
  const auto [lowest, highest] = exact_range(dtype);
  TAPER_CHECK(from >= lowest && from <= highest, "from is out of bounds for ", dtype_name(dtype));
  TAPER_CHECK(last >= lowest && last <= highest, "to - 1 is out of bounds for ", dtype_name(dtype));
}

}  // namespace

// ---- In place.

Tensor& uniform_(Tensor& self, double from, double to, std::optional<Generator> generator) {
  check_floating_target("uniform_", self);
  TAPER_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from,
              " > to=", to);
  const double highest = finite_range(self.scalar_type()).second;
  TAPER_CHECK(std::abs(from) <= highest && std::abs(to) <= highest && to - from <= highest,
              "uniform_: bounds ", from, " and ", to, " are too far apart for ",
              self.scalar_type());
  return fill_random("uniform_", self, RandomOp::kUniform, Value(from), Value(to), generator);
}

Tensor& normal_(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  check_floating_target("normal_", self);
  check_std(std);
  return fill_random("normal_", self, RandomOp::kNormal, Value(mean), Value(std), generator);
}

Tensor& bernoulli_(Tensor& self, double p, std::optional<Generator> generator) {
  TAPER_CHECK(p >= 0 && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  return fill_random("bernoulli_", self, RandomOp::kBernoulli, Value(p), Value(0), generator);
}

Tensor& bernoulli_(Tensor& self, const Tensor& p, std::optional<Generator> generator) {
  check_defined("bernoulli_", self, "self");
  check_defined("bernoulli_", p, "p");
  check_floating("bernoulli_", p);
  check_same_device("bernoulli_", self, p);
  TAPER_CHECK(is_expandable_to(p.sizes(), self.sizes()), "bernoulli_: the shape of p, ", p.sizes(),
              ", does not broadcast to that of self, ", self.sizes());
  begin_inplace("bernoulli_", self);
  const Tensor probabilities = p.detach().expand(self.sizes()).contiguous();
  RandomArgs args{};
  args.op = RandomOp::kBernoulli;
  args.dtype = self.scalar_type();
  args.probabilities = probabilities.data_ptr();
  args.probabilities_dtype = p.scalar_type();
  const Generator& source = source_for(self, generator);
  const Tensor dense = self.is_contiguous() ? self : new_result_like(self);
  {
    const std::lock_guard<std::mutex> lock(source.mutex());
    run("bernoulli_", dense, args, source.raw_state());
  }
  if (!dense.is_same(self)) copy_values(self, dense);
  finish_write(self);
  if (recording(self, p)) {
    record_inplace(self, "BernoulliBackward0", inputs(self, p), saving_nothing(), [](Backward& b) {
      for (int i = 0; i < 2; ++i) {
        if (b.wants(i)) b.grad(i) = zeros_like(b.grad_output());
      }
    });
  }
  return self;
}

Tensor& exponential_(Tensor& self, double lambd, std::optional<Generator> generator) {
  check_floating_target("exponential_", self);
  TAPER_CHECK(lambd > 0, "exponential_ expects lambda > 0.0, but found lambda=", lambd);
  return fill_random("exponential_", self, RandomOp::kExponential, Value(lambd), Value(0),
                     generator);
}

Tensor& cauchy_(Tensor& self, double median, double sigma, std::optional<Generator> generator) {
  check_floating_target("cauchy_", self);
  TAPER_CHECK(sigma > 0, "cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  return fill_random("cauchy_", self, RandomOp::kCauchy, Value(median), Value(sigma), generator);
}

Tensor& geometric_(Tensor& self, double p, std::optional<Generator> generator) {
  TAPER_CHECK(0 < p && p < 1, "geometric_ expects p to be in (0, 1), but got p=", p);
  return fill_random("geometric_", self, RandomOp::kGeometric, Value(p), Value(0), generator);
}

Tensor& log_normal_(Tensor& self, double mean, double std, std::optional<Generator> generator) {
  check_floating_target("log_normal_", self);
  TAPER_CHECK(std > 0, "log_normal_ expects std > 0.0, but found std=", std);
  return fill_random("log_normal_", self, RandomOp::kLogNormal, Value(mean), Value(std), generator);
}

Tensor& random_(Tensor& self, std::optional<Generator> generator) {
  return fill_random("random_", self, RandomOp::kRandomFull, Value(0), Value(0), generator);
}

Tensor& random_(Tensor& self, int64_t to, std::optional<Generator> generator) {
  return self.random_(0, to, std::move(generator));
}

Tensor& random_(Tensor& self, int64_t from, std::optional<int64_t> to,
                std::optional<Generator> generator) {
  check_defined("random_", self, "self");
  const ScalarType dtype = self.scalar_type();
  int64_t end = 0;
  if (to) {
    TAPER_CHECK(from < *to, "random_ expects 'from' to be less than 'to', but got from=", from,
                " >= to=", *to);
    check_bounds(dtype, from, *to - 1);
    end = *to;
  } else {
    const int64_t last = exact_range(dtype).second;
    TAPER_CHECK(from <= last,
                "random_ expects 'from' to be less than or equal to 'to_inc', but got from=", from,
                " > to_inc=", last);
    check_bounds(dtype, from, last);
    // One past int64's highest wraps, which the kernel undoes.
    end = static_cast<int64_t>(static_cast<uint64_t>(last) + 1);
  }
  return fill_random("random_", self, RandomOp::kRandomRange, Value(from), Value(end), generator);
}

// ---- Drawn from probabilities.

namespace {

// Draws have no slope.
template <class... T>
void record_zero_gradient(const Tensor& out, const char* name, const T&... from) {
  if (!recording(from...)) return;
  record(out, name, inputs(from...), saving_nothing(), [](Backward& b) {
    for (int i = 0; i < b.input_count(); ++i) {
      if (b.wants(i)) b.grad(i) = zeros_like(b.grad_output());
    }
  });
}

}  // namespace

Tensor bernoulli(const Tensor& self, std::optional<Generator> generator) {
  check_defined("bernoulli", self, "self");
  check_floating("bernoulli", self);
  const Tensor out = new_result_like(self).bernoulli_(self.detach(), std::move(generator));
  record_zero_gradient(out, "BernoulliBackward0", self);
  return out;
}

Tensor bernoulli(const Tensor& self, double p, std::optional<Generator> generator) {
  check_defined("bernoulli", self, "self");
  const Tensor out = new_result_like(self).bernoulli_(p, std::move(generator));
  record_zero_gradient(out, "BernoulliBackward0", self);
  return out;
}

// Without replacement: the largest of p / q with exponential q, which PyTorch draws so. With: a
// search in the running sums.
Tensor multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                   std::optional<Generator> generator) {
  check_defined("multinomial", self, "self");
  check_floating("multinomial", self);
  TAPER_CHECK(self.dim() == 1 || self.dim() == 2, "prob_dist must be 1 or 2 dim, but got shape ",
              self.sizes());
  TAPER_CHECK(num_samples > 0, "cannot sample n_sample <= 0 samples");
  TAPER_CHECK(replacement || num_samples <= self.size(-1),
              "cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  const NoGradGuard quiet;
  const Tensor p = self.detach().contiguous();
  TAPER_CHECK(p.isfinite().logical_and(p.ge(0)).all().item<bool>(),
              "probability tensor contains either `inf`, `nan` or element < 0");
  const Tensor sums = p.sum(-1, /*keepdim=*/true);
  TAPER_CHECK(sums.gt(0).all().item<bool>(),
              "invalid multinomial distribution (sum of probabilities <= 0)");
  if (!replacement || num_samples == 1) {
    const Tensor keys = p / empty_like(p).exponential_(1, std::move(generator));
    return num_samples == 1 ? keys.argmax(-1, /*keepdim=*/true)
                            : std::get<1>(keys.topk(num_samples));
  }
  const int64_t last = p.size(-1) - 1;
  Tensor running = p.cumsum(-1);
  running = (running / running.narrow(-1, last, 1)).to(kDouble);
  running.select(-1, last).fill_(1);
  Dims sizes(p.sizes());
  sizes[sizes.size() - 1] = num_samples;
  const Tensor draws = empty(sizes, running.options()).uniform_(0, 1, std::move(generator));
  return taper::searchsorted(running, draws);
}

}  // namespace taper::ops

// ---- Factories.

namespace taper {

namespace {

Tensor made(const Tensor& out, const TensorOptions& options) {
  if (options.pinned_memory()) return made(out.pin_memory(), options.pinned_memory(false));
  if (options.requires_grad()) out.set_requires_grad(true);
  return out;
}

// To be filled before it starts to require grad.
Tensor unfilled(IntArrayRef size, const TensorOptions& options) {
  return empty(size, options.requires_grad(false).pinned_memory(false));
}
Tensor unfilled_like(const Tensor& self, const TensorOptions& options) {
  return empty_like(self, options.requires_grad(false).pinned_memory(false));
}

}  // namespace

Tensor rand(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return made(unfilled(size, options).uniform_(0, 1, std::move(generator)), options);
}
Tensor rand(IntArrayRef size, const TensorOptions& options) {
  return rand(size, std::nullopt, options);
}
Tensor randn(IntArrayRef size, std::optional<Generator> generator, const TensorOptions& options) {
  return made(unfilled(size, options).normal_(0, 1, std::move(generator)), options);
}
Tensor randn(IntArrayRef size, const TensorOptions& options) {
  return randn(size, std::nullopt, options);
}

Tensor randint(int64_t low, int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  const Tensor out = unfilled(size, options);
  return made(out.random_(low, high, std::move(generator)), options);
}
Tensor randint(int64_t low, int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(low, high, size, std::nullopt, options);
}
Tensor randint(int64_t high, IntArrayRef size, std::optional<Generator> generator,
               const TensorOptions& options) {
  return randint(0, high, size, std::move(generator), options);
}
Tensor randint(int64_t high, IntArrayRef size, const TensorOptions& options) {
  return randint(0, high, size, std::nullopt, options);
}

Tensor randperm(int64_t n, std::optional<Generator> generator, const TensorOptions& options) {
  TAPER_CHECK(n >= 0, "n must be non-negative, got ", n);
  const TensorOptions typed = options.has_dtype() ? options : options.dtype(kLong);
  TAPER_CHECK(n == 0 || n - 1 <= ops::exact_range(typed.dtype()).second,
              "n is too large for result tensor type: randperm(", n, ") as ",
              dtype_name(typed.dtype()));
  Tensor out = unfilled(n, typed);
  return made(ops::fill_random("randperm", out, kernels::RandomOp::kPermutation, ops::Value(n),
                               ops::Value(0), generator),
              options);
}
Tensor randperm(int64_t n, const TensorOptions& options) {
  return randperm(n, std::nullopt, options);
}

Tensor rand_like(const Tensor& self, const TensorOptions& options) {
  return made(unfilled_like(self, options).uniform_(), options);
}
Tensor randn_like(const Tensor& self, const TensorOptions& options) {
  return made(unfilled_like(self, options).normal_(), options);
}
Tensor randint_like(const Tensor& self, int64_t low, int64_t high, const TensorOptions& options) {
  return made(unfilled_like(self, options).random_(low, high), options);
}
Tensor randint_like(const Tensor& self, int64_t high, const TensorOptions& options) {
  return randint_like(self, 0, high, options);
}

// ---- Normal numbers with a mean or a standard deviation of their own: standard ones, scaled and
// moved.

Tensor normal(double mean, double std, IntArrayRef size, std::optional<Generator> generator,
              const TensorOptions& options) {
  return made(unfilled(size, options).normal_(mean, std, std::move(generator)), options);
}

namespace {

void check_deviations(const Tensor& std) {
  TAPER_CHECK(std.numel() == 0 || std.min().item().toDouble() >= 0,
              "normal expects all elements of std >= 0.0");
}

}  // namespace

Tensor normal(const Tensor& mean, double std, std::optional<Generator> generator) {
  ops::check_std(std);
  Tensor out = empty_like(mean).normal_(0, std, std::move(generator));
  out.add_(mean.detach());
  ops::record_zero_gradient(out, "NormalBackward0", mean);
  return out;
}

Tensor normal(double mean, const Tensor& std, std::optional<Generator> generator) {
  check_deviations(std.detach());
  Tensor out = empty_like(std).normal_(0, 1, std::move(generator));
  out.mul_(std.detach()).add_(mean);
  ops::record_zero_gradient(out, "NormalBackward0", std);
  return out;
}

Tensor normal(const Tensor& mean, const Tensor& std, std::optional<Generator> generator) {
  check_deviations(std.detach());
  const Dims shape = infer_size(mean.sizes(), std.sizes(), "normal");
  Tensor out = empty(shape, mean.options()).normal_(0, 1, std::move(generator));
  out.mul_(std.detach()).add_(mean.detach());
  ops::record_zero_gradient(out, "NormalBackward0", mean, std);
  return out;
}

}  // namespace taper
