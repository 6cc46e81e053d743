#include <sstream>

#include "support/rows.h"
#include "taper/nn/nn.h"

using namespace taper;
using namespace support;

namespace {

struct PrintRow {
  const char* call;
  std::string (*run)();
  const char* expected;
};

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream stream;
  stream << module;
  return stream.str();
}

void check_rows(const std::vector<PrintRow>& rows) {
  for (const PrintRow& row : rows) {
    INFO(row.call);
    CHECK(row.run() == row.expected);
  }
}

#define PRINTS(call, expected)                    \
  PrintRow {                                      \
    #call, [] { return printed(call); }, expected \
  }

}  // namespace

TEST_CASE("modules print as LibTorch 2.15 prints them") {
  check_rows({
      PRINTS(nn::Linear(3, 4), "torch::nn::Linear(in_features=3, out_features=4, bias=true)"),
      PRINTS(nn::Bilinear(nn::BilinearOptions(2, 3, 4).bias(false)),
             "torch::nn::Bilinear(in1_features=2, in2_features=3, out_features=4, bias=false)"),
      PRINTS(nn::Conv1d(1, 2, 3), "torch::nn::Conv1d(1, 2, kernel_size=3, stride=1)"),
      PRINTS(nn::Conv1d(
                 nn::Conv1dOptions(2, 4, 3).stride(2).padding(1).dilation(2).groups(2).bias(false)),
             "torch::nn::Conv1d(2, 4, kernel_size=3, stride=2, padding=1, dilation=2, groups=2, "
             "bias=false)"),
      PRINTS(nn::Conv2d(1, 32, 3), "torch::nn::Conv2d(1, 32, kernel_size=[3, 3], stride=[1, 1])"),
      PRINTS(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1)),
             "torch::nn::Conv2d(1, 32, kernel_size=[3, 3], stride=[1, 1], padding=[1, 1])"),
      PRINTS(nn::Conv2d(nn::Conv2dOptions(1, 32, {3, 5}).stride({1, 2}).padding(kSame).stride(1)),
             "torch::nn::Conv2d(1, 32, kernel_size=[3, 5], stride=[1, 1], padding='same')"),
      PRINTS(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(kValid).padding_mode(kReflect)),
             "torch::nn::Conv2d(1, 32, kernel_size=[3, 3], stride=[1, 1], padding='valid', "
             "padding_mode=kReflect)"),
      PRINTS(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).padding(1).padding_mode(kCircular)),
             "torch::nn::Conv2d(1, 32, kernel_size=[3, 3], stride=[1, 1], padding=[1, 1], "
             "padding_mode=kCircular)"),
      PRINTS(nn::ConvTranspose1d(nn::ConvTranspose1dOptions(1, 2, 3).stride(2).output_padding(1)),
             "torch::nn::ConvTranspose1d(1, 2, kernel_size=3, stride=2, output_padding=1)"),
      PRINTS(nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 2, 3)
                                     .stride(2)
                                     .padding(1)
                                     .output_padding(1)
                                     .dilation(1)
                                     .groups(2)),
             "torch::nn::ConvTranspose2d(4, 2, kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], "
             "output_padding=[1, 1], groups=2)"),
      PRINTS(nn::ConvTranspose2d(2, 2, 3),
             "torch::nn::ConvTranspose2d(2, 2, kernel_size=[3, 3], stride=[1, 1])"),
      PRINTS(nn::BatchNorm1d(3),
             "torch::nn::BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=true, "
             "track_running_stats=true)"),
      PRINTS(nn::BatchNorm2d(nn::BatchNorm2dOptions(3).momentum(std::nullopt).affine(false)),
             "torch::nn::BatchNorm2d(3, eps=1e-05, momentum=None, affine=false, "
             "track_running_stats=true)"),
      PRINTS(nn::BatchNorm2d(
                 nn::BatchNorm2dOptions(3).eps(0.001).momentum(0.5).track_running_stats(false)),
             "torch::nn::BatchNorm2d(3, eps=0.001, momentum=0.5, affine=true, "
             "track_running_stats=false)"),
      PRINTS(nn::InstanceNorm1d(3),
             "torch::nn::InstanceNorm1d(3, eps=1e-05, momentum=0.1, affine=false, "
             "track_running_stats=false)"),
      PRINTS(
          nn::InstanceNorm2d(nn::InstanceNorm2dOptions(3).affine(true).track_running_stats(true)),
          "torch::nn::InstanceNorm2d(3, eps=1e-05, momentum=0.1, affine=true, "
          "track_running_stats=true)"),
      PRINTS(nn::LayerNorm(nn::LayerNormOptions({2, 3}).elementwise_affine(false)),
             "torch::nn::LayerNorm([2, 3], eps=1e-05, elementwise_affine=false)"),
      PRINTS(nn::LayerNorm(nn::LayerNormOptions({4})),
             "torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)"),
      PRINTS(nn::GroupNorm(nn::GroupNormOptions(2, 4)),
             "torch::nn::GroupNorm(2, 4, eps=1e-05, affine=true)"),
      PRINTS(nn::GroupNorm(nn::GroupNormOptions(2, 4).affine(false).eps(1e-3)),
             "torch::nn::GroupNorm(2, 4, eps=0.001, affine=false)"),
      PRINTS(
          nn::MaxPool1d(2),
          "torch::nn::MaxPool1d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=false)"),
      PRINTS(nn::MaxPool2d(2),
             "torch::nn::MaxPool2d(kernel_size=[2, 2], stride=[2, 2], padding=[0, 0], dilation=[1, "
             "1], ceil_mode=false)"),
      PRINTS(
          nn::MaxPool2d(
              nn::MaxPool2dOptions({3, 2}).stride(2).padding(1).dilation({1, 2}).ceil_mode(true)),
          "torch::nn::MaxPool2d(kernel_size=[3, 2], stride=[2, 2], padding=[1, 1], dilation=[1, "
          "2], ceil_mode=true)"),
      PRINTS(nn::AvgPool1d(2), "torch::nn::AvgPool1d(kernel_size=2, stride=2, padding=0)"),
      PRINTS(nn::AvgPool2d(nn::AvgPool2dOptions({3, 2}).stride(2).count_include_pad(false)),
             "torch::nn::AvgPool2d(kernel_size=[3, 2], stride=[2, 2], padding=[0, 0])"),
      PRINTS(nn::AdaptiveAvgPool1d(5), "torch::nn::AdaptiveAvgPool1d(output_size=5)"),
      PRINTS(nn::AdaptiveAvgPool2d(5), "torch::nn::AdaptiveAvgPool2d(output_size=[5, 5])"),
      PRINTS(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({5, 7})),
             "torch::nn::AdaptiveAvgPool2d(output_size=[5, 7])"),
      PRINTS(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({std::nullopt, 7})),
             "torch::nn::AdaptiveAvgPool2d(output_size=[None, 7])"),
      PRINTS(nn::ReflectionPad1d(2), "torch::nn::ReflectionPad1d(padding=[2, 2])"),
      PRINTS(nn::ReflectionPad2d(nn::ReflectionPad2dOptions({1, 2, 3, 4})),
             "torch::nn::ReflectionPad2d(padding=[1, 2, 3, 4])"),
      PRINTS(nn::ReplicationPad1d(2), "torch::nn::ReplicationPad1d(padding=[2, 2])"),
      PRINTS(nn::ReplicationPad2d(1), "torch::nn::ReplicationPad2d(padding=[1, 1, 1, 1])"),
      PRINTS(nn::ZeroPad1d(1), "torch::nn::ZeroPad1d(padding=[1, 1])"),
      PRINTS(nn::ZeroPad2d(nn::ZeroPad2dOptions({1, 1, 2, 0})),
             "torch::nn::ZeroPad2d(padding=[1, 1, 2, 0])"),
      PRINTS(nn::ConstantPad1d(2, 3.5), "torch::nn::ConstantPad1d(padding=[2, 2], value=3.5)"),
      PRINTS(nn::ConstantPad2d(nn::ConstantPad2dOptions({3, 0, 2, 1}, -1)),
             "torch::nn::ConstantPad2d(padding=[3, 0, 2, 1], value=-1)"),
      PRINTS(nn::Upsample(nn::UpsampleOptions().scale_factor(std::vector<double>({2, 2}))),
             "torch::nn::Upsample(scale_factor=[2, 2], mode=kNearest)"),
      PRINTS(nn::Upsample(nn::UpsampleOptions()
                              .size(std::vector<int64_t>({4, 6}))
                              .mode(kBilinear)
                              .align_corners(true)),
             "torch::nn::Upsample(size=[4, 6], mode=kBilinear)"),
      PRINTS(nn::ReLU(), "torch::nn::ReLU()"),
      PRINTS(nn::ReLU(true), "torch::nn::ReLU(inplace=true)"),
      PRINTS(nn::ReLU6(), "torch::nn::ReLU6()"),
      PRINTS(nn::ReLU6(nn::ReLU6Options(true)), "torch::nn::ReLU6(inplace=true)"),
      PRINTS(nn::SELU(), "torch::nn::SELU()"),
      PRINTS(nn::SELU(true), "torch::nn::SELU(inplace=true)"),
      PRINTS(nn::ELU(), "torch::nn::ELU(alpha=1)"),
      PRINTS(nn::ELU(nn::ELUOptions().alpha(2).inplace(true)),
             "torch::nn::ELU(alpha=2, inplace=true)"),
      PRINTS(nn::CELU(), "torch::nn::CELU(alpha=1)"),
      PRINTS(nn::LeakyReLU(), "torch::nn::LeakyReLU(negative_slope=0.01)"),
      PRINTS(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2).inplace(true)),
             "torch::nn::LeakyReLU(negative_slope=0.2, inplace=true)"),
      PRINTS(nn::GELU(), "torch::nn::GELU()"),
      PRINTS(nn::GELU(nn::GELUOptions().approximate("tanh")), "torch::nn::GELU()"),
      PRINTS(nn::SiLU(), "torch::nn::SiLU()"),
      PRINTS(nn::Mish(), "torch::nn::Mish()"),
      PRINTS(nn::Sigmoid(), "torch::nn::Sigmoid()"),
      PRINTS(nn::Tanh(), "torch::nn::Tanh()"),
      PRINTS(nn::LogSigmoid(), "torch::nn::LogSigmoid()"),
      PRINTS(nn::Softsign(), "torch::nn::Softsign()"),
      PRINTS(nn::Tanhshrink(), "torch::nn::Tanhshrink()"),
      PRINTS(nn::Hardtanh(), "torch::nn::Hardtanh(min_val=-1, max_val=1)"),
      PRINTS(nn::Hardtanh(nn::HardtanhOptions().min_val(-2).max_val(0.5).inplace(true)),
             "torch::nn::Hardtanh(min_val=-2, max_val=0.5, inplace=true)"),
      PRINTS(nn::Hardshrink(), "torch::nn::Hardshrink(0.5)"),
      PRINTS(nn::Softshrink(1), "torch::nn::Softshrink(1)"),
      PRINTS(nn::Softplus(), "torch::nn::Softplus(beta=1, threshold=20)"),
      PRINTS(nn::Threshold(1.2, -3), "torch::nn::Threshold(threshold=1.2, value=-3)"),
      PRINTS(nn::Threshold(nn::ThresholdOptions(0.5, 0).inplace(true)),
             "torch::nn::Threshold(threshold=0.5, value=0, inplace=true)"),
      PRINTS(nn::PReLU(), "torch::nn::PReLU(num_parameters=1)"),
      PRINTS(nn::PReLU(nn::PReLUOptions().num_parameters(4)), "torch::nn::PReLU(num_parameters=4)"),
      PRINTS(nn::GLU(), "torch::nn::GLU(dim=-1)"),
      PRINTS(nn::GLU(1), "torch::nn::GLU(dim=1)"),
      PRINTS(nn::Softmax(1), "torch::nn::Softmax(dim=1)"),
      PRINTS(nn::LogSoftmax(1), "torch::nn::LogSoftmax(dim=1)"),
      PRINTS(nn::L1Loss(), "torch::nn::L1Loss()"),
      PRINTS(nn::MSELoss(), "torch::nn::MSELoss()"),
      PRINTS(nn::CrossEntropyLoss(), "torch::nn::CrossEntropyLoss()"),
      PRINTS(nn::NLLLoss(), "torch::nn::NLLLoss()"),
      PRINTS(nn::BCELoss(), "torch::nn::BCELoss()"),
      PRINTS(nn::BCEWithLogitsLoss(), "torch::nn::BCEWithLogitsLoss()"),
      PRINTS(nn::SmoothL1Loss(), "torch::nn::SmoothL1Loss"),
      PRINTS(nn::HuberLoss(), "torch::nn::HuberLoss"),
      PRINTS(nn::KLDivLoss(), "torch::nn::KLDivLoss()"),
      PRINTS(nn::SoftMarginLoss(), "torch::nn::SoftMarginLoss()"),
      PRINTS(nn::HingeEmbeddingLoss(nn::HingeEmbeddingLossOptions().margin(2)),
             "torch::nn::HingeEmbeddingLoss(margin=2)"),
      PRINTS(nn::MarginRankingLoss(nn::MarginRankingLossOptions().margin(0.5)),
             "torch::nn::MarginRankingLoss()"),
      PRINTS(nn::CosineSimilarity(nn::CosineSimilarityOptions().dim(2)),
             "torch::nn::CosineSimilarity(dim=2, eps=1e-08)"),
      PRINTS(nn::PairwiseDistance(nn::PairwiseDistanceOptions().p(1).keepdim(true)),
             "torch::nn::PairwiseDistance(p=1, eps=1e-06, keepdim=true)"),
      PRINTS(nn::RNN(3, 4),
             "torch::nn::RNN(input_size=3, hidden_size=4, num_layers=1, bias=true, "
             "batch_first=false, dropout=0, bidirectional=false)"),
      PRINTS(nn::RNN(nn::RNNOptions(3, 4)
                         .num_layers(2)
                         .bias(false)
                         .batch_first(true)
                         .dropout(0.5)
                         .bidirectional(true)),
             "torch::nn::RNN(input_size=3, hidden_size=4, num_layers=2, bias=false, "
             "batch_first=true, dropout=0.5, bidirectional=true)"),
      PRINTS(nn::LSTM(3, 4),
             "torch::nn::LSTM(input_size=3, hidden_size=4, num_layers=1, bias=true, "
             "batch_first=false, dropout=0, bidirectional=false)"),
      PRINTS(nn::LSTM(nn::LSTMOptions(3, 4).num_layers(2).bidirectional(true)),
             "torch::nn::LSTM(input_size=3, hidden_size=4, num_layers=2, bias=true, "
             "batch_first=false, dropout=0, bidirectional=true)"),
      PRINTS(nn::GRU(nn::GRUOptions(128, 64).batch_first(true)),
             "torch::nn::GRU(input_size=128, hidden_size=64, num_layers=1, bias=true, "
             "batch_first=true, dropout=0, bidirectional=false)"),
      PRINTS(nn::RNNCell(3, 4), "torch::nn::RNNCell(3, 4)"),
      PRINTS(nn::RNNCell(nn::RNNCellOptions(3, 4).bias(false).nonlinearity(kReLU)),
             "torch::nn::RNNCell(3, 4, bias=false, nonlinearity=kReLU)"),
      PRINTS(nn::AdaptiveMaxPool1d(5), "torch::nn::AdaptiveMaxPool1d(output_size=5)"),
      PRINTS(nn::AdaptiveMaxPool2d(nn::AdaptiveMaxPool2dOptions({5, std::nullopt})),
             "torch::nn::AdaptiveMaxPool2d(output_size=[5, None])"),
      PRINTS(nn::PixelShuffle(2), "torch::nn::PixelShuffle(upscale_factor=2)"),
      PRINTS(nn::PixelUnshuffle(3), "torch::nn::PixelUnshuffle(downscale_factor=3)"),
      PRINTS(nn::LSTMCell(3, 4), "torch::nn::LSTMCell(3, 4)"),
      PRINTS(nn::GRUCell(nn::GRUCellOptions(3, 4).bias(false)),
             "torch::nn::GRUCell(3, 4, bias=false)"),
      PRINTS(nn::Identity(), "torch::nn::Identity()"),
      PRINTS(nn::Flatten(), "torch::nn::Flatten(start_dim=1, end_dim=-1)"),
      PRINTS(nn::Flatten(nn::FlattenOptions().start_dim(2).end_dim(3)),
             "torch::nn::Flatten(start_dim=2, end_dim=3)"),
      PRINTS(nn::Unflatten(1, std::vector<int64_t>{2, 2}),
             "torch::nn::Unflatten(dim=1, unflattened_size={2, 2})"),
      PRINTS(nn::Embedding(10, 3), "torch::nn::Embedding(num_embeddings=10, embedding_dim=3)"),
      PRINTS(
          nn::Embedding(nn::EmbeddingOptions(10, 3).padding_idx(2).sparse(true)),
          "torch::nn::Embedding(num_embeddings=10, embedding_dim=3, padding_idx=2, sparse=true)"),
      PRINTS(nn::Dropout(0.25), "torch::nn::Dropout(p=0.25, inplace=false)"),
      PRINTS(nn::Dropout2d(), "torch::nn::Dropout2d(p=0.5, inplace=false)"),
      PRINTS(nn::Functional(relu), "torch::nn::Functional()"),
  });
}

TEST_CASE("containers print as LibTorch 2.15 prints them") {
  check_rows({
      PRINTS(nn::Sequential(), "torch::nn::Sequential"),
      PRINTS(nn::Sequential(nn::Linear(1, 2), nn::ReLU(), nn::Functional(relu)),
             "torch::nn::Sequential(\n"
             "  (0): torch::nn::Linear(in_features=1, out_features=2, bias=true)\n"
             "  (1): torch::nn::ReLU()\n"
             "  (2): torch::nn::Functional()\n"
             ")"),
      PRINTS(nn::Sequential({{"fc", nn::Linear(1, 2)}, {"act", nn::ReLU()}}),
             "torch::nn::Sequential(\n"
             "  (fc): torch::nn::Linear(in_features=1, out_features=2, bias=true)\n"
             "  (act): torch::nn::ReLU()\n"
             ")"),
      PRINTS(nn::ModuleList(nn::Sequential(nn::Linear(2, 3), nn::ReLU()), nn::Identity()),
             "torch::nn::ModuleList(\n"
             "  (0): torch::nn::Sequential(\n"
             "    (0): torch::nn::Linear(in_features=2, out_features=3, bias=true)\n"
             "    (1): torch::nn::ReLU()\n"
             "  )\n"
             "  (1): torch::nn::Identity()\n"
             ")"),
      PRINTS(nn::ParameterList(ones({2, 3}), ones({4})),
             "torch::nn::ParameterList(\n"
             "(0): Parameter containing: [Float of size [2, 3]]\n"
             "(1): Parameter containing: [Float of size [4]]\n"
             ")"),
      PRINTS(nn::ParameterList(), "torch::nn::ParameterList(\n)"),
  });
  nn::ParameterDict parameters;
  parameters->insert("a", ones({2}));
  CHECK(printed(parameters) ==
        "torch::nn::ParameterDict(\n(a): Parameter containing: [Float of size [2]]\n)");
  const nn::ModuleDict modules(nn::ModuleDictImpl::Pairs{{"x", nn::Linear(1, 2).ptr()}});
  CHECK(printed(modules) ==
        "torch::nn::ModuleDict(\n"
        "  (x): torch::nn::Linear(in_features=1, out_features=2, bias=true)\n"
        ")");
}

namespace app {
struct Net : nn::Module {
  Net() { register_module("fc", nn::Linear(2, 3)); }
};
}  // namespace app

TEST_CASE("a module of one's own prints its type and its parts") {
  CHECK(printed(app::Net()) ==
        "app::Net(\n"
        "  (fc): torch::nn::Linear(in_features=2, out_features=3, bias=true)\n"
        ")");
}
