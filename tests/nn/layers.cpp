#include "nn/golden.h"

using namespace taper;
using namespace nn_tests;

namespace {

template <class Holder, class Options>
Tensor convolved(const Options& options, const Tensor& x) {
  return seeded<Holder>(options)(x);
}

}  // namespace

TEST_CASE("convolutions pad as PyTorch does") {
  const Tensor x = wave({1, 2, 5, 6});
  const nn::Conv2dOptions around = nn::Conv2dOptions(2, 2, {3, 2}).padding({1, 1});
  check_values("Conv2d.zeros", convolved<nn::Conv2d>(around, x));
  check_values("Conv2d.reflect",
               convolved<nn::Conv2d>(nn::Conv2dOptions(around).padding_mode(kReflect), x));
  check_values("Conv2d.replicate",
               convolved<nn::Conv2d>(nn::Conv2dOptions(around).padding_mode(kReplicate), x));
  check_values("Conv2d.circular",
               convolved<nn::Conv2d>(nn::Conv2dOptions(around).padding_mode(kCircular), x));
  // An even kernel has one more element to pad: after the input, as in Python.
  const nn::Conv2dOptions same = nn::Conv2dOptions(2, 2, {4, 3}).padding(kSame);
  check_values("Conv2d.same.zeros", convolved<nn::Conv2d>(same, x));
  check_values("Conv2d.same.reflect",
               convolved<nn::Conv2d>(nn::Conv2dOptions(same).padding_mode(kReflect), x));
  check_values("Conv1d.same",
               convolved<nn::Conv1d>(nn::Conv1dOptions(2, 2, 4).padding(kSame).dilation(2),
                                     wave({1, 2, 9})));
}

TEST_CASE("a transposed convolution makes the size that is asked for") {
  auto model =
      seeded<nn::ConvTranspose2d>(nn::ConvTranspose2dOptions(2, 3, 3).stride(2).padding(1));
  const Tensor x = wave({1, 2, 3, 3});
  check_values("ConvTranspose2d.plain", model(x));
  const std::vector<int64_t> size = {6, 5}, whole = {1, 3, 6, 5}, wrong = {20, 5}, short_of = {6};
  check_values("ConvTranspose2d.sized", model(x, IntArrayRef(size)));
  check_values("ConvTranspose2d.sized", model(x, IntArrayRef(whole)));
  CHECK(error_of([&] {
          model(x, IntArrayRef(wrong));
        }).find("requested an output size of [20, 5]") == 0);
  CHECK(error_of([&] { model(x, IntArrayRef(short_of)); }).find("elements (got 1)") !=
        std::string::npos);
}

TEST_CASE("convolutions refuse what does not fit") {
  check_rows(std::vector<ErrorRow>{
      THROWS(nn::Conv2d(nn::Conv2dOptions(3, 4, 3).groups(2)),
             "in_channels must be divisible by groups"),
      THROWS(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(2)),
             "out_channels must be divisible by groups"),
      THROWS(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(0)),
             "in_channels, groups and out_channels must be a positive integer."),
      THROWS(nn::Conv2d(nn::Conv2dOptions(4, 3, 3).stride(2).padding(kSame)),
             "padding='same' is not supported for strided convolutions"),
      THROWS(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(1, 1, 3).padding_mode(kReflect))
                 ->forward(ones({1, 1, 4, 4})),
             "Only `zeros` padding mode is supported for ConvTranspose2d"),
      THROWS(nn::Conv2d(1, 1, 1)->forward(ones({4, 4})), "3D (unbatched) or 4D (batched)"),
  });
}

TEST_CASE("norms give PyTorch's values and running statistics") {
  const auto check = [](const std::string& name, auto model, const Sizes& sizes) {
    model->to(kDouble);
    {
      const NoGradGuard quiet;
      model->weight.copy_(wave({3}, 1));
      model->bias.copy_(wave({3}, 2));
    }
    Tensor out;
    for (int step = 0; step < 3; ++step) out = model(wave(sizes, step) * (step + 1));
    check_values(name + ".train", out);
    check_values(name + ".running_mean", model->running_mean);
    check_values(name + ".running_var", model->running_var);
    model->eval();
    check_values(name + ".eval", model(wave(sizes)));
  };
  check("BatchNorm1d", nn::BatchNorm1d(3), {4, 3});
  check("BatchNorm2d", nn::BatchNorm2d(3), {2, 3, 4, 2});
  check("BatchNorm2d.cumulative", nn::BatchNorm2d(nn::BatchNorm2dOptions(3).momentum(std::nullopt)),
        {2, 3, 4, 2});
  check("InstanceNorm1d",
        nn::InstanceNorm1d(nn::InstanceNorm1dOptions(3).affine(true).track_running_stats(true)),
        {2, 3, 5});
  check_values("InstanceNorm2d", nn::InstanceNorm2d(3)->forward(wave({2, 3, 2, 2})));
  check_values("InstanceNorm2d", stack({nn::InstanceNorm2d(3)->forward(wave({2, 3, 2, 2})[0]),
                                        nn::InstanceNorm2d(3)->forward(wave({2, 3, 2, 2})[1])}));
  nn::LayerNorm layer(nn::LayerNormOptions({3, 2}));
  layer->to(kDouble);
  check_values("LayerNorm", layer(wave({2, 3, 2})));
  nn::GroupNorm group(2, 4);
  group->to(kDouble);
  check_values("GroupNorm", group(wave({2, 4, 3})));
}

TEST_CASE("batch norm counts batches in training, and forgets on request") {
  nn::BatchNorm1d norm(2);
  for (int i = 0; i < 3; ++i) norm(ones({4, 2}) * i);
  CHECK(norm->num_batches_tracked.item<int64_t>() == 3);
  norm->eval();
  norm(ones({4, 2}));
  CHECK(norm->num_batches_tracked.item<int64_t>() == 3);
  norm->reset_running_stats();
  CHECK(norm->num_batches_tracked.item<int64_t>() == 0);
  CHECK(near(norm->running_mean, {0, 0}));
  norm->to(kHalf);
  CHECK(norm->num_batches_tracked.scalar_type() == kLong);
  // Without running statistics the batch's own are used in evaluation too.
  nn::BatchNorm1d forgetful(nn::BatchNorm1dOptions(1).track_running_stats(false));
  forgetful->eval();
  CHECK(near(forgetful(tensor({{0.}, {2.}})), {-1, 1}, 1e-4));
  CHECK(forgetful->buffers().empty());
}

TEST_CASE("norms check dimensions in PyTorch's words") {
  check_rows(std::vector<ErrorRow>{
      THROWS(nn::BatchNorm1d(3)->forward(ones({2, 3, 4, 5})),
             "expected 2D or 3D input (got 4D input)"),
      THROWS(nn::BatchNorm2d(3)->forward(ones({2, 3})), "expected 4D input (got 2D input)"),
      THROWS(nn::InstanceNorm1d(3)->forward(ones({2})), "expected 2D or 3D input (got 1D input)"),
      THROWS(nn::InstanceNorm2d(3)->forward(ones({2, 3})),
             "expected 3D or 4D input (got 2D input)"),
      THROWS(nn::GroupNorm(3, 4), "num_channels must be divisible by num_groups"),
  });
}

TEST_CASE("pooling modules") {
  const Tensor row = tensor({{{1., 5., 2., 4., 3., 9.}}});
  const auto [best, at] = nn::MaxPool1d(2)->forward_with_indices(row);
  CHECK(near(best, {5, 4, 9}));
  CHECK(near(at, {1, 3, 5}));
  CHECK(near(nn::MaxPool1d(2)->forward(row), {5, 4, 9}));
  const Tensor plane = arange(16, kFloat).view({1, 1, 4, 4});
  const auto [most, where] = nn::MaxPool2d(2)->forward_with_indices(plane);
  CHECK(near(most, {5, 7, 13, 15}));
  CHECK(near(where, {5, 7, 13, 15}));
  CHECK(near(nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).ceil_mode(true))->forward(plane),
             {10, 11, 14, 15}));
  CHECK(near(nn::AvgPool1d(3)->forward(row), {8. / 3, 16. / 3}));
  CHECK(near(nn::AvgPool2d(nn::AvgPool2dOptions(2).divisor_override(2))->forward(plane),
             {5, 9, 21, 25}));
  CHECK(near(nn::AdaptiveAvgPool1d(2)->forward(row), {8. / 3, 16. / 3}));
  CHECK(near(nn::AdaptiveAvgPool2d(1)->forward(plane), {7.5}));
  CHECK(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({std::nullopt, 2}))
            ->forward(plane)
            .sizes()
            .equals({1, 1, 4, 2}));
}

TEST_CASE("padding modules and resizing") {
  const Tensor row = tensor({{1., 2., 3.}});
  CHECK(near(nn::ReflectionPad1d(2)->forward(row), {3, 2, 1, 2, 3, 2, 1}));
  CHECK(near(nn::ReplicationPad1d(nn::ReplicationPad1dOptions({1, 2}))->forward(row),
             {1, 1, 2, 3, 3, 3}));
  CHECK(near(nn::ZeroPad1d(1)->forward(row), {0, 1, 2, 3, 0}));
  CHECK(near(nn::ConstantPad1d(nn::ConstantPad1dOptions({0, 1}, 7))->forward(row), {1, 2, 3, 7}));
  const Tensor plane = tensor({{{1., 2.}, {3., 4.}}});
  CHECK(near(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 0, 0, 1}))->forward(plane),
             {0, 1, 2, 0, 3, 4, 0, 0, 0}));
  CHECK(near(nn::ReflectionPad2d(1)->forward(plane),
             {4, 3, 4, 3, 2, 1, 2, 1, 4, 3, 4, 3, 2, 1, 2, 1}));
  CHECK(near(nn::ReplicationPad2d(nn::ReplicationPad2dOptions({0, 1, 1, 0}))->forward(plane),
             {1, 2, 2, 1, 2, 2, 3, 4, 4}));
  const auto twice = nn::UpsampleOptions().scale_factor(std::vector<double>{2, 1});
  CHECK(near(nn::Upsample(twice)->forward(plane.unsqueeze(0)), {1, 2, 1, 2, 3, 4, 3, 4}));
  const auto corners =
      nn::UpsampleOptions().size(std::vector<int64_t>{2, 3}).mode(kBilinear).align_corners(true);
  CHECK(near(nn::Upsample(corners)->forward(plane.unsqueeze(0)), {1, 1.5, 2, 3, 3.5, 4}));
}

TEST_CASE("activations in place change their input") {
  const Tensor x = tensor({-1., 2.});
  const Tensor y = nn::ReLU(true)->forward(x);
  CHECK(y.is_same(x));
  CHECK(near(x, {0, 2}));
  const Tensor kept = tensor({-1., 2.});
  nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(.1))->forward(kept);
  CHECK(near(kept, {-1, 2}));
  CHECK(near(nn::Threshold(1, 7)->forward(tensor({0., 1., 2.})), {7, 7, 2}));
  nn::PReLU prelu(nn::PReLUOptions().num_parameters(2).init(.5));
  CHECK(near(prelu(tensor({{-2., -4.}})), {-1, -2}));
  CHECK(prelu->parameters().size() == 1);
  CHECK(near(nn::Softmax(0)->forward(zeros(4)), {.25, .25, .25, .25}));
  CHECK(near(nn::Hardswish()->forward(tensor({-3., 0., 3.})), {0, 0, 3}));
}

TEST_CASE("losses reduce as asked and take their weights along") {
  const Tensor x = tensor({1., 2.}), y = tensor({0., 4.});
  CHECK(near(nn::MSELoss()->forward(x, y), {2.5}));
  CHECK(near(nn::MSELoss(kSum)->forward(x, y), {5}));
  CHECK(near(nn::L1Loss(nn::L1LossOptions().reduction(kNone))->forward(x, y), {1, 2}));
  CHECK(near(nn::SmoothL1Loss()->forward(x, y), {1}));
  CHECK(near(nn::HuberLoss(nn::HuberLossOptions().delta(.5))->forward(x, y), {.625}));
  CHECK(
      near(nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(.5))->forward(x, y, ones(2)),
           {1.25}));
  CHECK(near(nn::HingeEmbeddingLoss()->forward(x, tensor({1., -1.})), {.5}));

  nn::CrossEntropyLoss weighted(nn::CrossEntropyLossOptions().weight(tensor({1., 3.})));
  CHECK(weighted->buffers().size() == 1);
  const Tensor logits = tensor({{0., 0.}, {0., std::log(3.)}}), target = tensor({0, 1});
  // (1 * log 2 + 3 * log(4 / 3)) / 4
  CHECK(near(weighted(logits, target), {(std::log(2.) + 3 * std::log(4. / 3)) / 4}));
  weighted->to(kDouble);
  CHECK(weighted->weight.scalar_type() == kDouble);
  CHECK(near(weighted(logits.to(kDouble), target), {(std::log(2.) + 3 * std::log(4. / 3)) / 4}));
  nn::BCEWithLogitsLoss positive(nn::BCEWithLogitsLossOptions().pos_weight(tensor({2.})));
  CHECK(near(positive(zeros(1), ones(1)), {2 * std::log(2.)}));
}

TEST_CASE("distances") {
  const Tensor a = tensor({{3., 4.}}), b = tensor({{6., 8.}});
  CHECK(near(nn::CosineSimilarity()->forward(a, b), {1}));
  CHECK(near(nn::PairwiseDistance(nn::PairwiseDistanceOptions().eps(0))->forward(a, b), {5}));
}

TEST_CASE("adaptive max pooling says where; pixels move between channels and places") {
  const Tensor plane = arange(12, kFloat).view({1, 1, 3, 4});
  nn::AdaptiveMaxPool2d pool(nn::AdaptiveMaxPool2dOptions({2, std::nullopt}));
  CHECK(near(pool(plane), {4, 5, 6, 7, 8, 9, 10, 11}));
  CHECK(near(std::get<1>(pool->forward_with_indices(plane)), {4, 5, 6, 7, 8, 9, 10, 11}));
  // Of equal numbers the first in the plane, also where a later row has it further to the left.
  const Tensor ties = tensor({{{0., 7.}, {7., 0.}}});
  CHECK(near(std::get<1>(nn::AdaptiveMaxPool2d(1)->forward_with_indices(ties)), {1}));
  nn::AdaptiveMaxPool1d row(2);
  CHECK(near(row(tensor({{1., 3., 2.}})), {3, 3}));
  CHECK(near(std::get<1>(row->forward_with_indices(tensor({{1., 3., 2.}}))), {1, 1}));
  const Tensor shuffled = nn::PixelShuffle(2)->forward(arange(8, kFloat).view({1, 4, 1, 2}));
  CHECK(near(shuffled, {0, 2, 1, 3, 4, 6, 5, 7}));
  CHECK(near(nn::PixelUnshuffle(2)->forward(shuffled), {0, 1, 2, 3, 4, 5, 6, 7}));
}
