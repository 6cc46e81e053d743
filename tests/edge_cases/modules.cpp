#include "support/rows.h"
#include "taper/autograd/grad_mode.h"
#include "taper/nn/nn.h"

using namespace taper;
using namespace support;

TEST_CASE("35: clip_grad_norm_ only scales down") {
  struct Row {
    std::vector<double> gradient, clipped;
    double norm;
  };
  const Row rows[] = {
      {{3, 4}, {.6, .8}, 5}, {{.3, .4}, {.3, .4}, .5}, {{kInf, 1}, {kNan, 0}, kInf}};
  for (const Row& row : rows) {
    Tensor p = ones({2}).requires_grad_(true);
    p.mutable_grad() = make(row.gradient, {2});
    const double norm = nn::utils::clip_grad_norm_(std::vector<Tensor>{p}, 1.0);
    INFO("gradient " << text(row.gradient) << " became " << text(p.grad()) << ", norm " << norm);
    CHECK((norm == row.norm || std::abs(norm - row.norm) < 1e-6));
    CHECK(near(p.grad(), row.clipped, 2e-6));
  }
}

TEST_CASE("BatchNorm1d: running statistics") {
  nn::BatchNorm1d norm(nn::BatchNorm1dOptions(1).momentum(.1));
  norm->forward(tensor({{0.}, {2.}}));
  CHECK(near(norm->running_mean, {.1}));
  CHECK(near(norm->running_var, {1.1}));
  CHECK(norm->num_batches_tracked.item<int64_t>() == 1);

  nn::BatchNorm1d cumulative(nn::BatchNorm1dOptions(1).momentum(std::nullopt));
  cumulative->forward(tensor({{0.}, {2.}}));
  cumulative->forward(tensor({{2.}, {4.}}));
  CHECK(near(cumulative->running_mean, {2}));
  CHECK(near(cumulative->running_var, {2}));
}

TEST_CASE("Linear's default initialisation") {
  nn::Linear linear(100, 7);
  for (const Tensor& parameter : {linear->weight, linear->bias}) {
    const double bound = parameter.abs().max().item<double>();
    CHECK(bound <= .1);
    CHECK(bound > .05);
  }
}

TEST_CASE("names of parameters and buffers") {
  nn::Sequential model(nn::Linear(2, 3), nn::BatchNorm1d(3));
  std::vector<std::string> names;
  for (const auto& item : model->named_parameters()) names.push_back(item.key());
  for (const auto& item : model->named_buffers()) names.push_back(item.key());
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "1.weight", "1.bias",
                                          "1.running_mean", "1.running_var",
                                          "1.num_batches_tracked"});
}

TEST_CASE("conv2d with padding same") {
  nn::Conv1d conv(nn::Conv1dOptions(1, 1, 2).padding(kSame).bias(false));
  {
    NoGradGuard no_grad;
    conv->weight.fill_(1);
  }
  CHECK(near(conv->forward(tensor({{{1., 2., 3., 4.}}})), {3, 5, 7, 4}));
  CHECK_FALSE(
      error_of([] { nn::Conv1d(nn::Conv1dOptions(1, 1, 2).padding(kSame).stride(2)); }).empty());
}

TEST_CASE("normalize of zeros") {
  CHECK(near(nn::functional::normalize(zeros({1, 2})), {0, 0}));
  check_rows(std::vector<ValueRow>{
      GIVES(GRADIENT(nn::functional::normalize(x), zeros({1, 1})) * 1e-12, {1}),
  });
}

TEST_CASE("BatchNorm1d: a batch of none") {
  nn::BatchNorm1d norm(3);
  const Tensor out = norm->forward(ones({0, 3}));
  CHECK(out.sizes() == IntArrayRef({0, 3}));
  out.sum().backward();
  CHECK(near(norm->weight.grad(), {0, 0, 0}));
  CHECK(near(norm->bias.grad(), {0, 0, 0}));
  CHECK(near(norm->running_mean, {0, 0, 0}));
  CHECK(near(norm->running_var, {1, 1, 1}));
  check_rows(std::vector<ErrorRow>{
      THROWS(nn::BatchNorm1d(3)->forward(ones({1, 3})), "Expected more than 1 value per channel"),
  });
}

TEST_CASE("modules of size 0 are initialised quietly") {
  CHECK(near(nn::Linear(0, 2)->bias, {0, 0}));
  CHECK(nn::Linear(2, 0)->weight.sizes() == IntArrayRef({0, 2}));
}

TEST_CASE("AdaptiveAvgPool2d: a size left out is the input's, a negative one is refused") {
  using Options = nn::AdaptiveAvgPool2dOptions;
  CHECK(nn::AdaptiveAvgPool2d(Options({std::nullopt, 2}))->forward(ones({1, 1, 4, 4})).sizes() ==
        IntArrayRef({1, 1, 4, 2}));
  check_rows(std::vector<ErrorRow>{
      THROWS(nn::AdaptiveAvgPool2d(-1)->forward(ones({1, 1, 4, 4})),
             "elements of output_size must be greater than or equal to 0 but received"),
  });
}

TEST_CASE("a parameter of integers cannot require a gradient") {
  nn::Module module;
  const std::string message = error_of([&] { module.register_parameter("x", ones({1}, kLong)); });
  CHECK(message.find("Only Tensors of floating point and complex dtype can require gradients") !=
        std::string::npos);
  module.register_parameter("x", ones({1}, kLong), false);
  CHECK(module.parameters().size() == 1);
}
