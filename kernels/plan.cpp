#include "taper/kernels/plan.h"

#include <algorithm>
#include <utility>

namespace taper::kernels {

namespace {

// Dimensions of up to kOperands operands, collected outermost first and then put in order.
template <int kOperands>
struct Dimensions {
  int count = 0;
  int64_t* sizes;
  int64_t* strides[kOperands];

  void push(int64_t size, const int64_t (&steps)[kOperands]) {
    sizes[count] = size;
    for (int k = 0; k < kOperands; ++k) strides[k][count] = steps[k];
    ++count;
  }

  // Puts the smallest stride of operand 0 innermost, at index 0; equal ones, as those of a
  // broadcast operand, by the next operand, and in the end the later dimension is the inner one.
  void sort() {
    std::reverse(sizes, sizes + count);
    for (int64_t* of_operand : strides) std::reverse(of_operand, of_operand + count);
    for (int i = 1; i < count; ++i) {
      for (int j = i; j > 0 && before(j, j - 1); --j) {
        std::swap(sizes[j], sizes[j - 1]);
        for (int64_t* of_operand : strides) std::swap(of_operand[j], of_operand[j - 1]);
      }
    }
  }

  // Joins a dimension to the one inside it where all operands walk through both in one go.
  void merge() {
    int last = 0;
    for (int i = 1; i < count; ++i) {
      bool one_walk = true;
      for (const int64_t* of_operand : strides) {
        one_walk &= of_operand[i] == of_operand[last] * sizes[last];
      }
      if (one_walk) {
        sizes[last] *= sizes[i];
        continue;
      }
      ++last;
      sizes[last] = sizes[i];
      for (int64_t* of_operand : strides) of_operand[last] = of_operand[i];
    }
    count = std::min(count, last + 1);
  }

 private:
  bool before(int a, int b) const {
    for (const int64_t* of_operand : strides) {
      if (of_operand[a] != of_operand[b]) return of_operand[a] < of_operand[b];
    }
    return false;
  }
};

bool dense_row_major(int rank, const int64_t* sizes, const int64_t* strides) {
  int64_t expected = 1;
  for (int d = rank; d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

int64_t product(int rank, const int64_t* sizes) {
  int64_t numel = 1;
  for (int d = 0; d < rank; ++d) numel *= sizes[d];
  return numel;
}

}  // namespace

template <int N>
void make_elementwise_plan(ElementwisePlan<N>& plan, int rank, const int64_t* sizes,
                           const int64_t* const (&strides)[N + 1]) {
  plan.numel = product(rank, sizes);
  plan.rank = 0;
  plan.contiguous = true;
  if (plan.numel <= 1) return;

  bool dense = true;
  for (const int64_t* of_operand : strides)
    dense = dense && dense_row_major(rank, sizes, of_operand);
  if (dense) {
    plan.rank = 1;
    plan.sizes[0] = plan.numel;
    for (auto& of_operand : plan.strides) of_operand[0] = 1;
    return;
  }

  Dimensions<N + 1> dims;
  dims.sizes = plan.sizes;
  for (int k = 0; k <= N; ++k) dims.strides[k] = plan.strides[k];
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] == 1) continue;
    int64_t steps[N + 1];
    for (int k = 0; k <= N; ++k) steps[k] = strides[k][d];
    dims.push(sizes[d], steps);
  }
  dims.sort();
  dims.merge();
  plan.rank = dims.count;
  plan.contiguous = plan.rank == 1;
  for (const auto& of_operand : plan.strides)
    plan.contiguous = plan.contiguous && of_operand[0] == 1;
}

template void make_elementwise_plan<0>(ElementwisePlan<0>&, int, const int64_t*,
                                       const int64_t* const (&)[1]);
template void make_elementwise_plan<1>(ElementwisePlan<1>&, int, const int64_t*,
                                       const int64_t* const (&)[2]);
template void make_elementwise_plan<2>(ElementwisePlan<2>&, int, const int64_t*,
                                       const int64_t* const (&)[3]);
template void make_elementwise_plan<3>(ElementwisePlan<3>&, int, const int64_t*,
                                       const int64_t* const (&)[4]);

// Advanced indexing: values, self and up to eight index tensors (kernels.h, kMaxIndexTensors).
template void make_elementwise_plan<9>(ElementwisePlan<9>&, int, const int64_t*,
                                       const int64_t* const (&)[10]);

void make_reduce_plan(ReducePlan& plan, const Layout& in, uint32_t reduced,
                      const int64_t* out_strides) {
  Dimensions<2> kept{0, plan.kept_sizes, {plan.out_strides, plan.in_kept_strides}};
  Dimensions<1> gone{0, plan.reduced_sizes, {plan.in_reduced_strides}};
  plan.kept_numel = plan.reduced_numel = 1;
  for (int d = 0; d < in.rank; ++d) {
    const bool is_reduced = (reduced >> d & 1u) != 0;
    (is_reduced ? plan.reduced_numel : plan.kept_numel) *= in.sizes[d];
    if (in.sizes[d] == 1) continue;
    if (is_reduced) {
      gone.push(in.sizes[d], {in.strides[d]});
    } else {
      kept.push(in.sizes[d], {out_strides[d], in.strides[d]});
    }
  }
  // An empty side has nothing to walk over.
  if (plan.kept_numel == 0) kept.count = 0;
  if (plan.reduced_numel == 0) gone.count = 0;
  kept.sort();
  kept.merge();
  gone.sort();
  gone.merge();
  plan.kept_rank = kept.count;
  plan.reduced_rank = gone.count;
}

AxisPlan make_axis_plan(int rank, const int64_t* sizes, int dim) {
  if (rank == 0) return {1, 1, 1};
  return {product(dim, sizes), sizes[dim], product(rank - dim - 1, sizes + dim + 1)};
}

int64_t window_output_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad,
                           int64_t dilation, bool ceil_mode) {
  const int64_t room = in + 2 * pad - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  if (room < 0) return 0;
  const int64_t out = room / stride + 1;
  return ceil_mode && (out - 1) * stride >= in + pad ? out - 1 : out;
}

}  // namespace taper::kernels
