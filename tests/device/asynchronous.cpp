#include "emulator.h"
#include "network.h"
#include "taper/data/data.h"

// What waits for the device, and what does not. The emulator counts: each call of the runtime that
// makes the host wait, whether there is work to wait for or not.

using namespace device_tests;
namespace F = nn::functional;

namespace {

int64_t waits_in(const std::function<void()>& run) { return count_calls("waits", run); }

class Pictures : public data::datasets::Dataset<Pictures> {
 public:
  data::Example<> get(size_t index) override {
    return {images_[static_cast<int64_t>(index)], labels_[static_cast<int64_t>(index)]};
  }
  std::optional<size_t> size() const override { return 12; }

 private:
  Tensor images_ = randn({12, 1, 8, 8}), labels_ = arange(12, kLong).remainder(10);
};

}  // namespace

TEST_CASE("nothing in a training step waits for the device") {
  if (!kCached) return;
  manual_seed(1);
  Training training;
  data::DataLoader loader(Pictures(), {.batch_size = 4, .pin_memory = true});
  Tensor total = zeros({}, on_cuda());
  int steps = 0;
  const auto epoch = [&](const std::function<void(const Tensor&)>& look) {
    for (const auto& batch : loader) {
      const Tensor images = batch.data.to(Device(kCUDA), /*non_blocking=*/true);
      const Tensor labels = batch.target.to(Device(kCUDA), /*non_blocking=*/true);
      const Tensor loss = training.step(images, labels);
      total += loss;
      look(loss);
      ++steps;
    }
  };
  const auto ignore = [](const Tensor&) {};
  epoch(ignore);  // the first asks for memory and makes handles
  CHECK(waits_in([&] { epoch(ignore); }) == 0);
  CHECK(steps == 6);
  // The counter counts.
  CHECK(waits_in([&] { epoch([](const Tensor& loss) { loss.item<float>(); }); }) >= 3);
  CHECK(waits_in([&] { total.item<float>(); }) > 0);
  CHECK(total.item<float>() > 0);
}

TEST_CASE("a step that has run before asks nothing of the driver's memory") {
  if (!kCached) return;
  Training training;
  const Tensor images = randn({4, 1, 8, 8}).pin_memory(), labels = zeros({4}, kLong).pin_memory();
  const auto step = [&] {
    training.step(images.to(Device(kCUDA), true), labels.to(Device(kCUDA), true));
  };
  step();
  step();
  for (const char* const call : {"cudaMalloc", "cudaFree", "cudaHostAlloc", "cudaFreeHost",
                                 "cudaEventCreateWithFlags", "cudaStreamCreateWithFlags"}) {
    INFO(call);
    CHECK(count_calls(call, step) == 0);
  }
  CHECK(count_calls("cudaLaunchKernel", step) > 10);
  // One block, taken and given back: not a single call of the runtime's memory functions.
  const auto once = [] { empty({1000}, on_cuda()); };
  once();
  for (const char* const call : {"cudaMalloc", "cudaFree", "cudaMemGetInfo", "cudaEventRecord",
                                 "cudaEventQuery", "cudaStreamQuery"}) {
    INFO(call);
    CHECK(count_calls(call, once) == 0);
  }
}

TEST_CASE("losses, optimizers and their like do not wait; who wants values does") {
  if (!kCached) return;
  const Tensor x = randn({4, 3}, on_cuda()).requires_grad_();
  const Tensor label = tensor({0, 1, 2, 0}, kLong).to(kCUDA), mask = label.eq(0);
  const Tensor weight = ones({3}, on_cuda());
  const Tensor dense = x.detach().clone();
  struct Case {
    const char* name;
    bool waits;
    std::function<void()> run;
  };
  const auto loss = [&](const Tensor& value) { value.backward(); };
  const Case cases[] = {
      {"cross_entropy", false, [&] { loss(F::cross_entropy(x, label)); }},
      {"cross_entropy in half", false, [&] { loss(F::cross_entropy(x.to(kHalf), label)); }},
      {"cross_entropy with weights", false,
       [&] { loss(F::cross_entropy(x, label, F::CrossEntropyFuncOptions().weight(weight))); }},
      {"cross_entropy with smoothing", false,
       [&] {
         loss(F::cross_entropy(x, label, F::CrossEntropyFuncOptions().label_smoothing(0.1)));
       }},
      {"nll_loss", false, [&] { loss(F::nll_loss(x.log_softmax(1), label)); }},
      {"binary_cross_entropy", false,
       [&] { loss(F::binary_cross_entropy(x.sigmoid(), ones({4, 3}, on_cuda()))); }},
      {"mse_loss", false, [&] { loss(F::mse_loss(x, zeros({4, 3}, on_cuda()))); }},
      {"embedding", false, [&] { loss(embedding(x, label).sum()); }},
      {"one_hot", false, [&] { one_hot(label, 3); }},
      {"masked_fill", false, [&] { dense.masked_fill(mask.unsqueeze(1), 7); }},
      {"index_put_ with a mask and a number", false, [&] { dense.clone().index_put_({mask}, 7); }},
      {"sort, topk, cumsum", false, [&] { dense.sort(1), dense.topk(2, 1), dense.cumsum(1); }},
      {"matmul", false, [&] { dense.mm(dense.t()); }},
      {"tensors that are made there", false, [&] { zeros({3}, on_cuda()), arange(9, on_cuda()); }},
      {"from ordinary memory", false, [&] { zeros({5}).to(kCUDA); }},
      {"from pinned memory, blocking", true, [&] { zeros({5}).pin_memory().to(kCUDA); }},
      {"item", true, [&] { dense.sum().item<float>(); }},
      {"cpu", true, [&] { dense.cpu(); }},
      {"nonzero", true, [&] { dense.nonzero(); }},
      {"masked_select", true, [&] { dense.masked_select(mask.unsqueeze(1)); }},
      {"equal", true, [&] { dense.equal(dense.clone()); }},
  };
  for (const Case& example : cases) {
    INFO(example.name);
    example.run();  // handles and memory
    CHECK((waits_in(example.run) > 0) == example.waits);
  }
}
