#include "support/rows.h"
#include "taper/autograd/grad_mode.h"

// no_grad, enable_grad, inference mode, anomaly mode.

using namespace taper;
using namespace support;

namespace {

Tensor leaf(std::initializer_list<double> values) {
  return make(values, {static_cast<int64_t>(values.size())}).requires_grad_(true);
}
bool contains(const std::string& message, const char* words) {
  return message.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("no_grad records nothing, enable_grad inside records again") {
  Tensor x = leaf({1, 2});
  {
    NoGradGuard no_grad;
    CHECK_FALSE(GradMode::is_enabled());
    CHECK_FALSE((x * 2).requires_grad());
    {
      EnableGradGuard enable;
      CHECK((x * 2).requires_grad());
    }
    CHECK_FALSE((x * 2).requires_grad());
  }
  CHECK(GradMode::is_enabled());
  CHECK((x * 2).requires_grad());
}

TEST_CASE("a guard is undone by an exception") {
  try {
    NoGradGuard no_grad;
    throw Error("away");
  } catch (const Error&) {
  }
  CHECK(GradMode::is_enabled());
}

TEST_CASE("a leaf may be made under no_grad") {
  NoGradGuard no_grad;
  Tensor x = ones({2}).requires_grad_(true);
  CHECK(x.requires_grad());
  CHECK(x.is_leaf());
}

TEST_CASE("inference mode: results can never be recorded") {
  Tensor x = leaf({1, 2}), z;
  {
    InferenceMode inference;
    CHECK(InferenceMode::is_enabled());
    CHECK_FALSE(GradMode::is_enabled());
    z = x * 2;
    CHECK(z.is_inference());
    z.add_(1);
  }
  CHECK_FALSE(InferenceMode::is_enabled());
  CHECK_FALSE(z.requires_grad());
  CHECK(contains(error_of([&] { (z * x).sum().backward(); }),
                 "Inference tensors cannot be saved for backward"));
  CHECK(contains(error_of([&] { z.add_(1); }),
                 "Inplace update to inference tensor outside InferenceMode"));
  CHECK(contains(error_of([&] { z.requires_grad_(true); }),
                 "Setting requires_grad=true on inference tensor"));
  CHECK((z.clone() * x).requires_grad());
  CHECK((z + x).requires_grad());  // nothing is saved
}

TEST_CASE("anomaly mode names the forward op of the first NaN") {
  Tensor x = leaf({0});
  const Tensor y = (sqrt(x) * 0).sum();  // 0 * inf
  {
    autograd::DetectAnomalyGuard anomaly;
    const std::string message = error_of([&] { y.backward({}, true); });
    INFO(message);
    CHECK(contains(message, "returned nan values in its"));
    CHECK(contains(message, "Sqrt"));
  }
  CHECK(error_of([&] { y.backward(); }).empty());
  CHECK(near(x.grad(), {kNan}));
}

TEST_CASE("anomaly mode is quiet where nothing is wrong") {
  autograd::DetectAnomalyGuard anomaly;
  CHECK(autograd::AnomalyMode::is_enabled());
  Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  CHECK(near(x.grad(), {2, 4}));
}

TEST_CASE("backward works inside no_grad") {
  Tensor x = leaf({1, 2});
  const Tensor y = (x * x).sum();
  NoGradGuard no_grad;
  y.backward();
  CHECK(near(x.grad(), {2, 4}));
}

TEST_CASE("backward does not change the mode") {
  Tensor x = leaf({1, 2});
  (x * x).sum().backward();
  CHECK(GradMode::is_enabled());
  autograd::grad({(x * x).sum()}, {x}, {}, true, true);
  CHECK(GradMode::is_enabled());
}

TEST_CASE("an inference tensor has no version") {
  Tensor x;
  {
    const InferenceMode guard;
    x = ones({2});
  }
  CHECK(
      contains(error_of([&] { x._version(); }), "Inference tensors do not track version counter."));
}
