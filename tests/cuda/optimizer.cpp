#include <limits>
#include <memory>

#include "values.h"

using namespace cuda_tests;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// A list of tensors on both sides, with their gradients and state.
template <class T>
class Tensors {
 public:
  /// The first state is from `lowest` on: a mean of squares is over the square of a mean.
  explicit Tensors(const std::vector<int64_t>& sizes, int64_t shift = 0, double lowest = -1)
      : shift_(shift) {
    unsigned seed = 70;
    for (const int64_t size : sizes) {
      sizes_.push_back(size);
      for (auto& array : arrays_) {
        // Squares are not negative.
        const auto k = &array - arrays_;
        const double low = std::is_integral_v<T> ? 1 : k == 2 ? lowest : k >= 3 ? 0 : -1;
        const double high = std::is_integral_v<T> ? 100 : low + (low < 0 ? 2 : 1);
        array.push_back(std::make_unique<Twin<T>>(numbers<T>(size + shift, ++seed, low, high)));
      }
    }
  }

  std::vector<TensorRef> refs(bool device, double step) {
    std::vector<TensorRef> refs;
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const auto at = [&](int k) { return side(*arrays_[k][i], device, shift_); };
      refs.push_back({at(0), at(1), {at(2), at(3), at(4)}, sizes_[i], step + double(i % 3)});
    }
    return refs;
  }

  Twin<T>& param(size_t i) { return *arrays_[0][i]; }
  Twin<T>& grad(size_t i) { return *arrays_[1][i]; }

  void check(double relative) {
    for (auto& array : arrays_) {
      for (auto& twin : array) check_close(*twin, relative, relative);
    }
  }

 private:
  std::vector<int64_t> sizes_;
  std::vector<std::unique_ptr<Twin<T>>> arrays_[5];
  int64_t shift_;
};

/// Empty tensors, single elements, odd ones, more than one chunk.
const std::vector<int64_t> kSizes = {1, 0, 7, 64, 4096, 4097, 9000, 0};
/// More tensors than one launch takes.
std::vector<int64_t> many() {
  std::vector<int64_t> sizes;
  for (int64_t i = 0; i < 450; ++i) sizes.push_back(i % 5 * 3);
  return sizes;
}

template <class T>
OptimizerArgs arguments(const std::vector<TensorRef>& refs) {
  OptimizerArgs args{};
  args.dtype = dtype_of<T>;
  args.tensors = refs.data();
  args.count = static_cast<int64_t>(refs.size());
  args.lr = 0.1;
  args.beta1 = 0.9;
  args.beta2 = 0.99;
  args.eps = 1e-6;
  args.alpha = 0.9;
  args.lr_decay = 0.1;
  return args;
}

/// Runs step(table, args, stream) on both sides, with `set` applied to the arguments.
template <class T, class Step, class Set>
void run(Tensors<T>& tensors, double number, const Step& step, const Set& set) {
  on_both([&](const KernelTable& table, Stream stream, bool device) {
    const std::vector<TensorRef> refs = tensors.refs(device, number);
    OptimizerArgs args = arguments<T>(refs);
    set(args, device);
    return step(table, args, stream);
  });
}
const auto kSgd = [](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
  return table.sgd_step(args, stream);
};
const auto kAdam = [](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
  return table.adam_step(args, stream);
};
const auto kRmsprop = [](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
  return table.rmsprop_step(args, stream);
};
const auto kAdagrad = [](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
  return table.adagrad_step(args, stream);
};
constexpr double kSquares = 1.5;  // where their means begin
const auto kNothing = [](OptimizerArgs&, bool) {};

}  // namespace

TEMPLATE_TEST_CASE("SGD on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  const auto check = [](const std::vector<int64_t>& sizes, int64_t shift, auto set) {
    Tensors<T> tensors(sizes, shift);
    run(tensors, 1, kSgd, set);
    run(tensors, 2, kSgd, set);
    tensors.check(2 * tolerance<T>());
  };
  check(kSizes, 0, kNothing);
  check(kSizes, 1, [](OptimizerArgs& args, bool) { args.momentum = 0.9; });
  check(many(), 0, [](OptimizerArgs& args, bool) {
    args.momentum = 0.9;
    args.dampening = 0.1;
    args.weight_decay = 0.01;
  });
  check({100, 5000}, 0, [](OptimizerArgs& args, bool) {
    args.momentum = 0.9;
    args.nesterov = true;
    args.maximize = true;
  });
}

TEMPLATE_TEST_CASE("Adam on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  const auto check = [](const std::vector<int64_t>& sizes, int64_t shift, auto set) {
    Tensors<T> tensors(sizes, shift);
    run(tensors, 1, kAdam, set);
    tensors.check(2 * tolerance<T>());
  };
  check(kSizes, 0, kNothing);
  check(kSizes, 1, [](OptimizerArgs& args, bool) { args.amsgrad = true; });
  check(many(), 0, [](OptimizerArgs& args, bool) { args.weight_decay = 0.1; });
  check({100, 5000}, 0, [](OptimizerArgs& args, bool) {
    args.weight_decay = 0.1;
    args.decoupled = true;
    args.maximize = true;
  });
}

TEMPLATE_TEST_CASE("RMSprop on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  const auto check = [](const std::vector<int64_t>& sizes, int64_t shift, auto set) {
    Tensors<T> tensors(sizes, shift, kSquares);
    run(tensors, 1, kRmsprop, set);
    tensors.check(4 * tolerance<T>());
  };
  check(kSizes, 0, kNothing);
  check(kSizes, 1, [](OptimizerArgs& args, bool) { args.momentum = 0.9; });
  check(many(), 0, [](OptimizerArgs& args, bool) { args.centered = true; });
  check({100, 5000}, 0, [](OptimizerArgs& args, bool) {
    args.momentum = 0.9;
    args.centered = true;
    args.weight_decay = 0.1;
    args.maximize = true;
  });
}

TEMPLATE_TEST_CASE("Adagrad on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  const auto check = [](const std::vector<int64_t>& sizes, int64_t shift, auto set) {
    Tensors<T> tensors(sizes, shift, kSquares);
    run(tensors, 1, kAdagrad, set);
    tensors.check(4 * tolerance<T>());
  };
  check(kSizes, 0, kNothing);
  check(kSizes, 1, [](OptimizerArgs& args, bool) { args.maximize = true; });
  check(many(), 0, [](OptimizerArgs& args, bool) { args.weight_decay = 0.1; });
}

TEST_CASE("an optimizer on CUDA undoes the loss scale, and does nothing after an overflow") {
  Twin<float> found_inf(1), inv_scale(std::vector<float>{1 / 64.f});
  for (const float found : {0.f, 1.f}) {
    *found_inf.host() = found;
    found_inf.upload();
    const auto set = [&](OptimizerArgs& args, bool device) {
      args.found_inf = side(found_inf, device);
      args.inv_scale = side(inv_scale, device);
    };
    const auto check = [&](const auto& step, double lowest, double relative) {
      Tensors<float> stepped({50, 4100}, 0, lowest), untouched({50, 4100}, 0, lowest);
      run(stepped, 1, step, set);
      stepped.check(relative);
      CHECK((stepped.param(1).download() == untouched.param(1).download()) == (found != 0));
    };
    check(kSgd, -1, 1e-6);
    check(kAdam, -1, 4e-6);
    check(kRmsprop, kSquares, 4e-6);
    check(kAdagrad, kSquares, 4e-6);
  }
}

TEST_CASE("an optimizer on CUDA leaves the parameters alone when a label was no class") {
  Twin<float> logits(numbers<float>(3, 71)), loss(1), log_sum_exp(1);
  Twin<int64_t> target(std::vector<int64_t>{3});
  const auto check = [&](const auto& kernel) {
    Tensors<float> stepped({50}, 0, kSquares), untouched({50}, 0, kSquares);
    const auto step = [&] {
      const std::vector<TensorRef> refs = stepped.refs(true, 1);
      require_ok(kernel(cuda_table(), arguments<float>(refs), cuda_stream()));
    };
    require_ok(
        cuda_table().cross_entropy_forward(loss.device(), log_sum_exp.device(), logits.device(),
                                           {kFloat, 1, 3, target.device(), -100}, cuda_stream()));
    step();
    check_fault(Code::kIndexOutOfRange, kTestOp, 3, 3);
    CHECK(stepped.param(0).download() == untouched.param(0).download());
    step();  // once reported, all goes on
    CHECK(stepped.param(0).download() != untouched.param(0).download());
  };
  check(kSgd);
  check(kAdam);
  check(kRmsprop);
  check(kAdagrad);
}

TEMPLATE_TEST_CASE("the norms of a list on CUDA are the CPU's", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  const auto check = [](const std::vector<int64_t>& sizes, int64_t shift, double p, float special) {
    INFO("p " << p << ", shift " << shift);
    Tensors<T> tensors(sizes, shift);
    if (special != 0) {
      tensors.grad(5).host()[4000] = T(special);
      tensors.grad(5).upload();
    }
    Twin<StatisticsOf<T>> norms(sizes.size());
    run(
        tensors, 1,
        [&](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
          const bool device = &table == &cuda_table();
          return table.multi_norm(side(norms, device), args, p, stream);
        },
        kNothing);
    check_close(norms, 8 * tolerance<StatisticsOf<T>>());
  };
  std::vector<int64_t> sizes = kSizes;
  sizes.push_back(40000);
  for (const double p : {2.0, 1.0, 0.0, 3.5, kInf, -kInf}) {
    check(sizes, 0, p, 0);
    check(sizes, 1, p, std::numeric_limits<float>::infinity());
    check(sizes, 0, p, std::numeric_limits<float>::quiet_NaN());
  }
  check(many(), 0, 2, 0);
}

TEMPLATE_TEST_CASE("a list on CUDA is scaled", "", TAPER_FLOATING_TYPES) {
  using T = TestType;
  Twin<T> factor(std::vector<T>{T(0.25f)});
  for (const bool given : {false, true}) {
    Tensors<T> tensors(kSizes);
    run(
        tensors, 1,
        [&](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
          const bool device = &table == &cuda_table();
          return table.multi_scale(args, 1.5, given ? side(factor, device) : nullptr, stream);
        },
        kNothing);
    tensors.check(0);
  }
}

TEMPLATE_TEST_CASE("gradients on CUDA are unscaled, and what is not finite is found", "",
                   TAPER_FLOATING_TYPES) {
  using T = TestType;
  for (const float special :
       {0.f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Tensors<T> tensors(kSizes);
    tensors.grad(5).host()[4096] = T(special);
    tensors.grad(5).upload();
    Twin<float> found_inf(1), inv_scale(std::vector<float>{0.125f});
    run(
        tensors, 1,
        [&](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
          const bool device = &table == &cuda_table();
          return table.multi_unscale(args, side(found_inf, device), side(inv_scale, device),
                                     stream);
        },
        kNothing);
    tensors.check(0);
    check_equal(found_inf);
    CHECK(found_inf.host()[0] == (special != 0));
  }
}

TEMPLATE_TEST_CASE("a list on CUDA is zeroed, of any dtype", "", float, Half, int64_t, uint8_t) {
  for (const int64_t shift : {0, 1}) {
    Tensors<TestType> tensors({1, 0, 7, 16384, 17001}, shift);
    run(
        tensors, 1,
        [](const KernelTable& table, const OptimizerArgs& args, Stream stream) {
          return table.multi_zero(args, stream);
        },
        kNothing);
    for (size_t i = 0; i < 5; ++i) check_equal(tensors.param(i));
  }
}
