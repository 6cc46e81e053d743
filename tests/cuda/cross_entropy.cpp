#include "values.h"

using namespace cuda_tests;

namespace {

template <class T>
struct Problem {
  using C = StatisticsOf<T>;
  int64_t rows, classes;
  Twin<T> logits, grad_logits;
  Twin<int64_t> target;
  Twin<C> loss, log_sum_exp, grad_row;

  Problem(int64_t n, int64_t c, std::vector<T> values, std::vector<int64_t> targets)
      : rows(n),
        classes(c),
        logits(std::move(values)),
        grad_logits(logits.size()),
        target(std::move(targets)),
        loss(static_cast<size_t>(n)),
        log_sum_exp(static_cast<size_t>(n)),
        grad_row(numbers<C>(n, 8)) {}

  CrossEntropyArgs args(bool device) {
    return {dtype_of<T>, rows, classes, side(target, device), -100};
  }
  Status forward(const KernelTable& table, Stream stream, bool device) {
    return table.cross_entropy_forward(side(loss, device), side(log_sum_exp, device),
                                       side(logits, device), args(device), stream);
  }
  Status backward(const KernelTable& table, Stream stream, bool device, int64_t stride) {
    return table.cross_entropy_backward(side(grad_logits, device), side(grad_row, device), stride,
                                        0.25, side(logits, device), side(log_sum_exp, device),
                                        args(device), stream);
  }
};

template <class T>
void compare(int64_t rows, int64_t classes, double low, double high) {
  INFO(rows << " rows of " << classes << ", from " << low << " to " << high);
  std::vector<int64_t> targets(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r) {
    targets[static_cast<size_t>(r)] = r % 5 == 3 ? -100 : r * 7 % classes;
  }
  Problem<T> problem(rows, classes, numbers<T>(rows * classes, 9, low, high), targets);
  const double accuracy = 8 * tolerance<StatisticsOf<T>>();
  on_both([&](auto&&... to) { return problem.forward(to...); });
  check_close(problem.loss, accuracy, accuracy);
  check_close(problem.log_sum_exp, accuracy, accuracy);
  problem.log_sum_exp.upload();
  for (const int64_t stride : {1, 0}) {
    on_both([&](auto&&... to) { return problem.backward(to..., stride); });
    check_close(problem.grad_logits, 2 * tolerance<T>(), accuracy);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("cross entropy on CUDA is the CPU's", "", TAPER_FLOATING_TYPES) {
  for (const auto& [rows, classes] : {std::pair<int64_t, int64_t>{0, 3},
                                      {1, 1},
                                      {70, 10},
                                      {9, 32},
                                      {5, 33},
                                      {3, 257},
                                      {3, 1024},
                                      {2, 2050},
                                      {2, 4100}}) {
    compare<TestType>(rows, classes, -5, 5);
  }
}

TEMPLATE_TEST_CASE("cross entropy of large logits keeps its digits", "", float, double) {
  for (const int64_t classes : {10, 100, 3000}) compare<TestType>(7, classes, 400, 500);
}

TEST_CASE("a label that is no class is reported, and its row counts for nothing") {
  Problem<float> problem(5, 10, numbers<float>(50, 10), {1, 10, -100, -1, 9});
  require_ok(problem.forward(cuda_table(), cuda_stream(), true));
  Status status = cuda_runtime().stream_synchronize(cuda_stream());
  CHECK(status.code == Code::kIndexOutOfRange);
  CHECK((status.value == 10 || status.value == -1));
  CHECK(status.limit == 10);
  CHECK(status.what == std::string(kTestOp));
  const std::vector<float> loss = problem.loss.download();
  CHECK(loss[0] > 0);
  CHECK(loss[1] == 0);
  CHECK(loss[2] == 0);
  CHECK(loss[3] == 0);
  CHECK(loss[4] > 0);

  require_ok(problem.backward(cuda_table(), cuda_stream(), true, 1));
  status = cuda_runtime().stream_synchronize(cuda_stream());
  CHECK(status.code == Code::kIndexOutOfRange);
  const std::vector<float> grad = problem.grad_logits.download();
  CHECK(grad[0] != 0);
  for (size_t i = 10; i < 40; ++i) CHECK(grad[i] == 0);
  CHECK(grad[40] != 0);
}
