#include "taper/nn/serialize.h"

#include <sstream>

#include "support/rows.h"
#include "taper/optim/optim.h"

// Saved optimizers: what comes back goes on with the very numbers, and what does not fit changes
// nothing.

using namespace taper;
using namespace support;
using namespace taper::optim;

namespace {

std::vector<Tensor> parameters() {
  return {make({1, -2, .5, 3, -1, 2}, {2, 3}, kDouble).requires_grad_(true),
          make({.5, -.5}, {2}, kFloat).requires_grad_(true)};
}

// The second parameter has no gradient in the first step, so that the two count differently.
void train(Optimizer& optimizer, int first, int last) {
  const std::vector<Tensor> params = optimizer.parameters();
  for (int i = first; i < last; ++i) {
    for (size_t k = 0; k < params.size(); ++k) {
      if (k == 1 && i == 0) continue;
      std::vector<double> grad;
      for (int64_t j = 0; j < params[k].numel(); ++j) {
        grad.push_back(std::sin(double(i * 7 + j) + double(k)));
      }
      params[k].mutable_grad() = make(grad, params[k].sizes().vec(), params[k].scalar_type());
    }
    optimizer.step();
  }
}

template <class Kind, class Options>
void check_resume(Options options) {
  std::vector<Tensor> whole = parameters(), first = parameters();
  Kind uninterrupted(whole, options);
  train(uninterrupted, 0, 6);

  Kind before(first, options);
  train(before, 0, 3);
  std::stringstream file;
  save(before, file);
  std::vector<Tensor> second;
  for (const Tensor& p : first) second.push_back(p.detach().clone().requires_grad_(true));
  Kind after(second, Options(123));  // the saved settings count
  load(after, file);
  CHECK(after.param_groups()[0].options().get_lr() == options.lr());
  train(after, 3, 6);
  for (size_t k = 0; k < whole.size(); ++k) CHECK(values(second[k]) == values(whole[k]));
}

}  // namespace

TEST_CASE("an optimizer that was saved and loaded makes the very steps of an uninterrupted one") {
  check_resume<SGD>(SGDOptions(.1).momentum(.9).dampening(.25));
  check_resume<SGD>(SGDOptions(.1));
  check_resume<Adam>(AdamOptions(.1).amsgrad(true).betas({.8, .95}));
  check_resume<AdamW>(AdamWOptions(.1).maximize(true));
  check_resume<RMSprop>(RMSpropOptions(.1).momentum(.5).centered(true));
  check_resume<Adagrad>(AdagradOptions(.1).lr_decay(.1).initial_accumulator_value(.5));
}

TEST_CASE("the names in an optimizer's file are those of PyTorch's state_dict") {
  Adam optimizer(parameters(), AdamOptions(.1));
  train(optimizer, 0, 1);
  serialize::OutputArchive out;
  optimizer.save(out);
  std::stringstream file;
  out.save_to(file);
  serialize::InputArchive in;
  in.load_from(file);
  serialize::InputArchive state;
  in.read("state", state);
  CHECK(state.keys() == std::vector<std::string>{"0"});
  CHECK(state.nested("0").keys() ==
        std::vector<std::string>{"exp_avg", "exp_avg_sq", "max_exp_avg_sq", "step"});
  IValue params;
  in.nested("param_groups").nested("0").read("params", params);
  CHECK(params.toIntVector() == std::vector<int64_t>{0, 1});
}

TEST_CASE("a state that does not fit is refused, and the optimizer stays as it was") {
  std::stringstream file;
  Adam saved(parameters(), AdamOptions(.1));
  train(saved, 0, 2);
  save(saved, file);
  const std::string bytes = file.str();
  const auto check_refused = [&](Optimizer& optimizer, const std::string& content,
                                 const char* words) {
    std::stringstream from(content);
    const double lr = optimizer.param_groups()[0].options().get_lr();
    const std::string message = error_of([&] { load(optimizer, from); });
    INFO("expected: " << words << ", got: " << message);
    CHECK(message.find(words) != std::string::npos);
    CHECK(optimizer.state().empty());
    CHECK(optimizer.param_groups()[0].options().get_lr() == lr);
  };

  Adam fewer({parameters()[0]}, AdamOptions(.3));
  check_refused(fewer, bytes, "doesn't match the size of optimizer's group");
  Adam groups({OptimizerParamGroup({parameters()[0]}), OptimizerParamGroup({parameters()[1]})},
              AdamOptions(.3));
  check_refused(groups, bytes, "different number of parameter groups");
  Adam swapped({parameters()[1], parameters()[0]}, AdamOptions(.3));
  check_refused(swapped, bytes, "of shape [2, 3] for parameter 0, which has shape [2]");
  SGD other(parameters(), SGDOptions(.3));
  check_refused(other, bytes, "momentum");
  Adam same(parameters(), AdamOptions(.3));
  check_refused(same, bytes.substr(0, bytes.size() - 1), "truncated");
  check_refused(same, bytes.substr(0, 20), "truncated");
  check_refused(same, "", "has only 0 bytes");
}

TEST_CASE("a loaded state has memory of its own") {
  Adam saved(parameters(), AdamOptions(.1));
  train(saved, 0, 2);
  std::stringstream file;
  save(saved, file);
  serialize::InputArchive archive;
  archive.load_from(file);
  Adam a(parameters(), AdamOptions(.1)), b(parameters(), AdamOptions(.1));
  a.load(archive);
  b.load(archive);
  train(a, 2, 4);
  train(b, 2, 4);
  CHECK(values(a.parameters()[0]) == values(b.parameters()[0]));
}
