// Plans: whatever is merged, dropped or reordered, the same positions are visited with the same
// offsets.
#include "taper/kernels/plan.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "catch.h"
#include "taper/core/shape.h"

using namespace taper;
using namespace taper::kernels;

namespace {

using Sizes = std::vector<int64_t>;

// Calls visit(offsets) for each position of a shape, for the given strides (index 0 outermost or
// innermost).
template <size_t K, class Visit>
void walk(const Sizes& sizes, const std::array<Sizes, K>& strides, const Visit& visit) {
  int64_t numel = 1;
  for (const int64_t size : sizes) numel *= size;
  for (int64_t i = 0; i < numel; ++i) {
    std::array<int64_t, K> offsets{};
    int64_t rest = i;
    for (size_t d = sizes.size(); d-- > 0;) {
      for (size_t k = 0; k < K; ++k) offsets[k] += rest % sizes[d] * strides[k][d];
      rest /= sizes[d];
    }
    visit(offsets);
  }
}

template <size_t K>
std::vector<std::array<int64_t, K>> sorted_offsets(const Sizes& sizes,
                                                   const std::array<Sizes, K>& strides) {
  std::vector<std::array<int64_t, K>> all;
  walk(sizes, strides, [&](const std::array<int64_t, K>& offsets) { all.push_back(offsets); });
  std::sort(all.begin(), all.end());
  return all;
}

template <int N>
ElementwisePlan<N> plan_of(const Sizes& sizes, const std::array<Sizes, N + 1>& strides) {
  const int64_t* pointers[N + 1];
  for (int k = 0; k <= N; ++k) pointers[k] = strides[k].data();
  ElementwisePlan<N> plan;
  make_elementwise_plan<N>(plan, static_cast<int>(sizes.size()), sizes.data(), pointers);
  return plan;
}

template <int N>
void check_plan(const Sizes& sizes, const std::array<Sizes, N + 1>& strides) {
  const ElementwisePlan<N> plan = plan_of<N>(sizes, strides);
  const auto expected = sorted_offsets<N + 1>(sizes, strides);
  REQUIRE(plan.numel == static_cast<int64_t>(expected.size()));
  if (plan.numel == 0) {
    CHECK(plan.rank == 0);
    return;
  }
  Sizes plan_sizes(plan.sizes, plan.sizes + plan.rank);
  std::array<Sizes, N + 1> plan_strides;
  for (int k = 0; k <= N; ++k) plan_strides[k].assign(plan.strides[k], plan.strides[k] + plan.rank);
  CHECK(sorted_offsets<N + 1>(plan_sizes, plan_strides) == expected);
  for (int d = 0; d < plan.rank; ++d) CHECK(plan.sizes[d] > 1);
  for (int d = 1; d < plan.rank; ++d) CHECK(plan.strides[0][d - 1] <= plan.strides[0][d]);
  if (plan.contiguous && plan.rank > 0) {
    CHECK(plan.rank == 1);
    for (int k = 0; k <= N; ++k) CHECK(plan.strides[k][0] == 1);
  }
}

Sizes row_major(const Sizes& sizes) {
  const Dims strides = contiguous_strides(sizes);
  return Sizes(strides.begin(), strides.end());
}

}  // namespace

TEST_CASE("contiguous operands become one run") {
  const Sizes sizes{2, 3, 4}, strides = row_major(sizes);
  const auto plan = plan_of<2>(sizes, {strides, strides, strides});
  CHECK(plan.numel == 24);
  CHECK(plan.rank == 1);
  CHECK(plan.contiguous);
  CHECK(plan.sizes[0] == 24);
}

TEST_CASE("operands that are dense in the same other order become one run too") {
  const auto plan = plan_of<1>({2, 3, 4}, {Sizes{1, 8, 2}, Sizes{1, 8, 2}});
  CHECK(plan.rank == 1);
  CHECK(plan.contiguous);
}

TEST_CASE("a broadcast row keeps two dimensions, a broadcast number one") {
  const Sizes sizes{5, 7};
  const auto row = plan_of<2>(sizes, {Sizes{7, 1}, Sizes{7, 1}, Sizes{0, 1}});
  CHECK(row.rank == 2);
  CHECK_FALSE(row.contiguous);
  CHECK(row.sizes[0] == 7);
  CHECK(row.strides[2][1] == 0);
  const auto number = plan_of<2>(sizes, {Sizes{7, 1}, Sizes{7, 1}, Sizes{0, 0}});
  CHECK(number.rank == 1);
  CHECK_FALSE(number.contiguous);
  CHECK(number.sizes[0] == 35);
}

TEST_CASE("the output's smallest stride is innermost") {
  const auto plan = plan_of<1>({3, 4}, {Sizes{1, 3}, Sizes{4, 1}});
  REQUIRE(plan.rank == 2);
  CHECK(plan.sizes[0] == 3);
  CHECK(plan.strides[0][0] == 1);
  CHECK(plan.strides[1][0] == 4);
}

TEST_CASE("single elements and empty shapes have rank 0") {
  const auto scalar = plan_of<1>({}, {Sizes{}, Sizes{}});
  CHECK(scalar.numel == 1);
  CHECK(scalar.rank == 0);
  const auto ones = plan_of<1>({1, 1}, {Sizes{9, 7}, Sizes{0, 0}});
  CHECK(ones.numel == 1);
  CHECK(ones.rank == 0);
  const auto empty = plan_of<1>({3, 0, 2}, {Sizes{2, 2, 1}, Sizes{0, 0, 0}});
  CHECK(empty.numel == 0);
  CHECK(empty.rank == 0);
}

TEST_CASE("random layouts visit the same elements through the plan") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const size_t rank = random() % 6;
    Sizes sizes(rank);
    for (int64_t& size : sizes)
      size = static_cast<int64_t>(random() % 8 == 0 ? 0 : 1 + random() % 4);
    // Each operand: a permuted dense layout, perhaps with a gap, and for inputs with broadcast
    // dimensions.
    std::array<Sizes, 4> strides;
    for (size_t k = 0; k < strides.size(); ++k) {
      std::vector<size_t> order(rank);
      for (size_t d = 0; d < rank; ++d) order[d] = d;
      if (random() % 2) std::shuffle(order.begin(), order.end(), random);
      strides[k].assign(rank, 0);
      int64_t step = 1 + static_cast<int64_t>(random() % 4 == 0);
      for (size_t d = rank; d-- > 0;) {
        strides[k][order[d]] = step;
        step *= std::max<int64_t>(sizes[order[d]], 1);
      }
      if (k > 0 && rank > 0 && random() % 2) strides[k][random() % rank] = 0;
    }
    check_plan<0>(sizes, {strides[0]});
    check_plan<1>(sizes, {strides[0], strides[1]});
    check_plan<2>(sizes, {strides[0], strides[1], strides[2]});
    check_plan<3>(sizes, strides);
  }
}

namespace {

// Pairs (output offset, input offset), as the tensors have them and as the plan has them.
void check_reduce(const Sizes& sizes, const Sizes& strides, uint32_t reduced) {
  Sizes kept;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!(reduced >> d & 1)) kept.push_back(sizes[d]);
  }
  const Sizes dense = row_major(kept);
  Sizes out_strides(sizes.size(), 12345);  // what stands at reduced dimensions must not be read
  Sizes out_by_dim(sizes.size(), 0);
  for (size_t d = 0, next = 0; d < sizes.size(); ++d) {
    if (!(reduced >> d & 1)) out_strides[d] = out_by_dim[d] = dense[next++];
  }
  ReducePlan plan;
  make_reduce_plan(plan, {static_cast<int32_t>(sizes.size()), sizes.data(), strides.data()},
                   reduced, out_strides.data());
  const auto expected = sorted_offsets<2>(sizes, {out_by_dim, strides});
  REQUIRE(plan.kept_numel * plan.reduced_numel == static_cast<int64_t>(expected.size()));

  // The plan's two shapes, one after the other, are one shape.
  Sizes all_sizes, all_out, all_in;
  for (int d = 0; d < plan.kept_rank; ++d) {
    all_sizes.push_back(plan.kept_sizes[d]);
    all_out.push_back(plan.out_strides[d]);
    all_in.push_back(plan.in_kept_strides[d]);
  }
  for (int d = 0; d < plan.reduced_rank; ++d) {
    all_sizes.push_back(plan.reduced_sizes[d]);
    all_out.push_back(0);
    all_in.push_back(plan.in_reduced_strides[d]);
  }
  if (!expected.empty()) CHECK(sorted_offsets<2>(all_sizes, {all_out, all_in}) == expected);
}

}  // namespace

TEST_CASE("reductions of dense tensors are rows or columns") {
  const Sizes sizes{2, 3, 4}, strides = row_major(sizes);
  const auto plan_for = [&](uint32_t reduced, const Sizes& out) {
    ReducePlan plan;
    make_reduce_plan(plan, {3, sizes.data(), strides.data()}, reduced, out.data());
    return plan;
  };
  const ReducePlan all = plan_for(0b111, {0, 0, 0});
  CHECK(all.kept_rank == 0);
  CHECK(all.kept_numel == 1);
  CHECK(all.reduced_rank == 1);
  CHECK(all.reduced_sizes[0] == 24);
  const ReducePlan rows = plan_for(0b100, {3, 1, 0});
  CHECK(rows.kept_rank == 1);
  CHECK(rows.in_kept_strides[0] == 4);
  CHECK(rows.in_reduced_strides[0] == 1);
  const ReducePlan columns = plan_for(0b001, {0, 4, 1});
  CHECK(columns.kept_rank == 1);
  CHECK(columns.kept_sizes[0] == 12);
  CHECK(columns.in_reduced_strides[0] == 12);
}

TEST_CASE("an empty side of a reduction keeps the other side") {
  const Sizes sizes{3, 0}, strides{1, 1}, out{1, 0};
  ReducePlan plan;
  make_reduce_plan(plan, {2, sizes.data(), strides.data()}, 0b10, out.data());
  CHECK(plan.kept_numel == 3);
  CHECK(plan.kept_rank == 1);
  CHECK(plan.kept_sizes[0] == 3);
  CHECK(plan.reduced_numel == 0);
  CHECK(plan.reduced_rank == 0);
}

TEST_CASE("random reductions pair each input with its output") {
  std::mt19937 random(11);
  for (int round = 0; round < 3000; ++round) {
    const size_t rank = random() % 6;
    Sizes sizes(rank), strides(rank);
    for (int64_t& size : sizes)
      size = static_cast<int64_t>(random() % 10 == 0 ? 0 : 1 + random() % 4);
    std::vector<size_t> order(rank);
    for (size_t d = 0; d < rank; ++d) order[d] = d;
    if (random() % 2) std::shuffle(order.begin(), order.end(), random);
    int64_t step = 1;
    for (size_t d = rank; d-- > 0;) {
      strides[order[d]] = step;
      step *= std::max<int64_t>(sizes[order[d]], 1);
    }
    if (rank > 0 && random() % 4 == 0) strides[random() % rank] = 0;
    check_reduce(sizes, strides, static_cast<uint32_t>(random()) & ((1u << rank) - 1));
  }
}

TEST_CASE("axis plans split a shape around a dimension") {
  const Sizes sizes{2, 3, 5};
  const AxisPlan middle = make_axis_plan(3, sizes.data(), 1);
  CHECK(middle.outer == 2);
  CHECK(middle.size == 3);
  CHECK(middle.inner == 5);
  const AxisPlan scalar = make_axis_plan(0, nullptr, 0);
  CHECK(scalar.outer * scalar.size * scalar.inner == 1);
}

TEST_CASE("window_output_size follows PyTorch") {
  struct Row {
    int64_t in, kernel, stride, pad, dilation;
    bool ceil_mode;
    int64_t out;
  };
  const Row rows[] = {
      {28, 3, 1, 1, 1, false, 28}, {28, 2, 2, 0, 1, false, 14}, {5, 2, 2, 0, 1, false, 2},
      {5, 2, 2, 0, 1, true, 3},    {6, 1, 2, 0, 1, true, 3},    {7, 1, 2, 0, 1, true, 4},
      {4, 2, 3, 1, 1, true, 2},    {4, 3, 2, 1, 1, true, 3},    {7, 2, 3, 0, 1, true, 3},
      {2, 1, 1, 3, 1, false, 8},   {10, 3, 2, 0, 2, false, 3},  {2, 5, 1, 0, 1, false, 0},
  };
  for (const Row& row : rows) {
    CAPTURE(row.in, row.kernel, row.stride, row.pad, row.dilation, row.ceil_mode);
    CHECK(window_output_size(row.in, row.kernel, row.stride, row.pad, row.dilation,
                             row.ceil_mode) == row.out);
  }
}
