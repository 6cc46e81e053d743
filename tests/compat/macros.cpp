// The macros and small helpers of c10 and ATen.

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>
#include <c10/util/irange.h>
#include <torch/types.h>

#include "catch.h"

namespace {
using Catch::Matchers::ContainsSubstring;

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}
}  // namespace

TEST_CASE("TORCH_CHECK throws c10::Error with its parts, whatever can be printed") {
  const torch::Tensor x = torch::zeros({2, 3});
  CHECK_NOTHROW([&] { TORCH_CHECK(x.defined(), "never printed"); }());
  CHECK(message_of([&] { TORCH_CHECK(x.dim() == 3, "sizes ", x.sizes(), " of ", x.dtype()); }) ==
        "sizes [2, 3] of float");
  CHECK_THAT(message_of([&] { TORCH_CHECK(x.dim() == 3); }), ContainsSubstring("x.dim() == 3"));
  CHECK_THAT(message_of([&] { TORCH_INTERNAL_ASSERT(x.dim() == 3, "why"); }),
             ContainsSubstring("INTERNAL ASSERT FAILED") && ContainsSubstring("why"));
  CHECK_THAT(message_of([&] { AT_ASSERT(x.dim() == 3); }), ContainsSubstring("ASSERT"));
  CHECK(message_of([] { AT_ERROR("bad ", 3); }) == "bad 3");
  CHECK_THROWS_AS([] { TORCH_CHECK_INDEX(false, "far out"); }(), c10::IndexError);
  CHECK_THROWS_AS([] { TORCH_CHECK_VALUE(false); }(), c10::ValueError);
  CHECK_THROWS_AS([] { TORCH_CHECK_TYPE(false); }(), std::exception);
}

TEST_CASE("TORCH_CHECK is one statement") {
  if (true)
    TORCH_CHECK(true);
  else
    TORCH_CHECK(false, "the other branch");
}

TEST_CASE("irange counts up, and not at all when the end is not above the begin") {
  std::vector<int64_t> seen;
  for (const auto i : c10::irange(torch::zeros({3}).size(0))) seen.push_back(i);
  for (const auto i : c10::irange(5, 7)) seen.push_back(i);
  for (const auto i : c10::irange(3, 1)) seen.push_back(i);
  for (const auto i : c10::irange(-2)) seen.push_back(i);
  CHECK(seen == std::vector<int64_t>{0, 1, 2, 5, 6});
}

TEST_CASE("str joins what it is given") {
  CHECK(torch::str("a", 1, ' ', torch::IntArrayRef({2, 3})) == "a1 [2, 3]");
  CHECK(c10::str().empty());
}

TEST_CASE("AT_DISPATCH of two more types, and of indices") {
  const auto bytes = [](at::ScalarType dtype) {
    return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, dtype, "bytes",
                                           [] { return sizeof(scalar_t); });
  };
  CHECK((bytes(at::kBFloat16) == 2 && bytes(at::kHalf) == 2 && bytes(at::kDouble) == 8));
  CHECK_THROWS_AS(bytes(at::kInt), c10::NotImplementedError);
  const auto index_bytes = [](at::ScalarType dtype) {
    return AT_DISPATCH_INDEX_TYPES(dtype, "index_bytes", [] { return sizeof(index_t); });
  };
  CHECK((index_bytes(at::kInt) == 4 && index_bytes(at::kLong) == 8));
  CHECK_THROWS_AS(index_bytes(at::kFloat), c10::NotImplementedError);
}

TEST_CASE("Options are made in every way that LibTorch knows, and merged") {
  const torch::TensorOptions listed({torch::kCPU, 0});
  CHECK((listed.device() == torch::Device(torch::kCPU, 0) && !listed.has_dtype()));
  const auto options = torch::TensorOptions().requires_grad(true).pinned_memory(std::nullopt);
  CHECK((options.has_requires_grad() && !options.has_pinned_memory()));
  CHECK_FALSE(options.requires_grad(std::nullopt).has_requires_grad());
  const auto merged = options.dtype(torch::kInt)
                          .merge_in(torch::TensorOptions(torch::kDouble).requires_grad(false));
  CHECK((merged.dtype() == torch::kDouble && !merged.requires_grad()));
  CHECK(options.merge_in(torch::TensorOptions()).requires_grad_opt() == true);
}

TEST_CASE("Halves add up in place, and accessors tell their shape") {
  at::BFloat16 sum(1.5F);
  sum += at::BFloat16(2.F);
  sum *= at::BFloat16(2.F);
  at::Half quotient(7.F);
  quotient -= at::Half(1.F);
  quotient /= at::Half(4.F);
  CHECK((static_cast<float>(sum) == 7 && static_cast<float>(quotient) == 1.5F));
  const auto x = torch::zeros({2, 3}).t();
  const auto accessor = x.accessor<float, 2>();
  CHECK((accessor.sizes().vec() == std::vector<int64_t>{3, 2} &&
         accessor[1].strides().vec() == std::vector<int64_t>{3}));
}

TEST_CASE("AT_DISPATCH hands over the element type and names a type it does not know") {
  const auto bytes = [](const torch::Tensor& x) {
    return AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Half, x.scalar_type(), "bytes",
                                     [] { return static_cast<int>(sizeof(scalar_t)); });
  };
  CHECK(bytes(torch::zeros({1}, torch::kDouble)) == 8);
  CHECK(bytes(torch::zeros({1}, torch::kShort)) == 2);
  CHECK(bytes(torch::zeros({1}, torch::kHalf)) == 2);
  CHECK_THAT(message_of([&] { bytes(torch::zeros({1}, torch::kBool)); }),
             ContainsSubstring("\"bytes\" not implemented for 'Bool'"));
  double total = 0;
  const torch::Tensor x = torch::ones({4});
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "total", [&] {
    for (const auto i : c10::irange(x.numel())) total += x.data_ptr<scalar_t>()[i];
  });
  CHECK(total == 4);
}

TEST_CASE("globalContext keeps the switches and tells the truth about CUDA") {
  at::globalContext().setBenchmarkCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/true);
  CHECK(torch::globalContext().benchmarkCuDNN());
  CHECK(torch::globalContext().deterministicAlgorithmsWarnOnly());
  CHECK(at::hasCUDA() == taper::cuda::is_available());
  CHECK(at::getNumGPUs() == static_cast<size_t>(taper::cuda::device_count()));
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicAlgorithms(false);
}

TEST_CASE("at::parallel_for visits every index once") {
  std::vector<int> visits(1000);
  at::parallel_for(0, 1000, 10, [&](int64_t begin, int64_t end) {
    for (const auto i : c10::irange(begin, end)) ++visits[i];
  });
  CHECK(visits == std::vector<int>(1000, 1));
}

TEST_CASE("Generators are made and seeded under LibTorch's names") {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(7);
  torch::manual_seed(7);
  CHECK(torch::rand({3}, generator).equal(torch::rand({3})));
  CHECK(at::detail::createCPUGenerator(7).current_seed() == 7);
}
