#include "taper/core/shape.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "catch.h"

using namespace taper;
using Catch::Matchers::ContainsSubstring;

namespace {

using Sizes = std::vector<int64_t>;

Sizes vec(const Dims& dims) { return Sizes(dims.begin(), dims.end()); }

TensorImplRef tensor_over(const StorageRef& storage, const Sizes& sizes, const Sizes& strides,
                          int64_t offset = 0) {
  TensorImplRef impl(new TensorImpl);
  impl->dtype = kFloat;
  impl->storage = storage;
  impl->offset = offset;
  impl->set_geometry(sizes, strides);
  return impl;
}

}  // namespace

TEST_CASE("Dims holds few entries inside and many outside") {
  Dims dims;
  Sizes expected;
  for (int64_t i = 0; i < 12; ++i) {
    dims.push_back(i * i);
    expected.push_back(i * i);
    CHECK(vec(dims) == expected);
  }
  Dims copy = dims, moved = std::move(dims);
  CHECK(vec(copy) == expected);
  CHECK(vec(moved) == expected);
  CHECK(dims.size() == 0);
  copy.assign(Sizes{1, 2});
  CHECK(vec(copy) == Sizes{1, 2});
  copy.resize(3)[2] = 7;
  CHECK(copy[2] == 7);
  moved = copy;
  CHECK(moved.size() == 3);
}

TEST_CASE("checked_numel refuses negative sizes, overflow and too many dimensions") {
  CHECK(checked_numel({}, "empty") == 1);
  CHECK(checked_numel({2, 0, 3}, "empty") == 0);
  CHECK(checked_numel({2, 3}, "empty") == 6);
  CHECK_THROWS_WITH(checked_numel({-1, 3}, "empty"),
                    "empty: Trying to create tensor with negative dimension -1: [-1, 3]");
  const int64_t large = int64_t{1} << 40;
  CHECK_THROWS_WITH(checked_numel({large, large}, "zeros"),
                    ContainsSubstring("zeros: Storage size calculation overflowed with sizes=["
                                      "1099511627776, 1099511627776]"));
  CHECK_THROWS_WITH(checked_nbytes({large, int64_t{1} << 21}, kDouble, "zeros"),
                    ContainsSubstring("Storage size calculation overflowed"));
  CHECK(checked_nbytes({large, 0, large}, kDouble, "zeros") == 0);
  CHECK(checked_nbytes({3, 5}, kHalf, "zeros") == 30);
  CHECK_THROWS_WITH(checked_numel(Sizes(17, 1), "empty"),
                    ContainsSubstring("at most 16 dimensions"));
}

TEST_CASE("infer_size broadcasts as PyTorch does") {
  CHECK(vec(infer_size({3, 1}, {1, 4}, "add")) == Sizes{3, 4});
  CHECK(vec(infer_size({}, {2, 3}, "add")) == Sizes{2, 3});
  CHECK(vec(infer_size({5, 1, 3}, {4, 1}, "add")) == Sizes{5, 4, 3});
  CHECK(vec(infer_size({0}, {1}, "add")) == Sizes{0});
  CHECK(vec(infer_size({3, 0}, {3, 1}, "add")) == Sizes{3, 0});
  CHECK_THROWS_WITH(
      infer_size({2, 3}, {2, 4}, "add"),
      ContainsSubstring("The size of tensor a (3) must match the size of tensor b (4) "
                        "at non-singleton dimension 1"));
  CHECK_THROWS_AS(infer_size({0}, {3}, "add"), Error);
  CHECK(vec(expanded_strides({3, 1}, {1, 1}, {2, 3, 4})) == Sizes{0, 1, 0});
  CHECK(vec(expanded_strides({1, 1}, {7, 9}, {1, 1})) == Sizes{7, 9});
}

TEST_CASE("wrap_dim counts from the end and names the range") {
  CHECK(wrap_dim(-1, 3) == 2);
  CHECK(wrap_dim(0, 3) == 0);
  CHECK(wrap_dim(-1, 0) == 0);
  CHECK(wrap_dim(0, 0) == 0);
  CHECK_THROWS_AS(wrap_dim(2, 2), IndexError);
  CHECK_THROWS_WITH(wrap_dim(2, 2),
                    "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
  CHECK_THROWS_WITH(wrap_dim(1, 0),
                    "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
}

TEST_CASE("dim_set wraps, means all by none, and refuses repetition") {
  CHECK(dim_set({}, 3, "sum") == 0b111);
  CHECK(dim_set(Sizes{0, -1}, 3, "sum") == 0b101);
  CHECK(dim_set(Sizes{-1}, 0, "sum") == 0);
  CHECK_THROWS_WITH(dim_set(Sizes{0, 0}, 2, "sum"),
                    "sum: dim 0 appears multiple times in the list of dims");
  CHECK_THROWS_AS(dim_set(Sizes{3}, 2, "sum"), IndexError);
}

TEST_CASE("infer_view_size fills in -1") {
  CHECK(vec(infer_view_size({2, -1}, 6, "view")) == Sizes{2, 3});
  CHECK(vec(infer_view_size({-1}, 0, "view")) == Sizes{0});
  CHECK(vec(infer_view_size({3, -1}, 0, "view")) == Sizes{3, 0});
  CHECK(vec(infer_view_size({}, 1, "view")) == Sizes{});
  CHECK_THROWS_WITH(infer_view_size({2, 4}, 6, "view"),
                    "view: shape '[2, 4]' is invalid for input of size 6");
  CHECK_THROWS_WITH(infer_view_size({4, -1}, 6, "view"),
                    "view: shape '[4, -1]' is invalid for input of size 6");
  CHECK_THROWS_WITH(infer_view_size({-1, 0}, 0, "view"),
                    ContainsSubstring("cannot reshape tensor of 0 elements into shape [-1, 0]"));
  CHECK_THROWS_WITH(infer_view_size({0, -1}, 6, "view"),
                    ContainsSubstring("is invalid for input of size 6"));
  CHECK_THROWS_WITH(infer_view_size({-1, -1}, 6, "view"),
                    ContainsSubstring("only one dimension can be inferred"));
  CHECK_THROWS_WITH(infer_view_size({-2, 3}, 6, "view"),
                    ContainsSubstring("invalid shape dimension -2 at index 0 of shape [-2, 3]"));
  const int64_t large = int64_t{1} << 32;
  CHECK_THROWS_AS(infer_view_size({large, large}, 0, "view"), Error);
}

TEST_CASE("compute_view_strides splits and joins what is one walk") {
  const auto strides = [](const Sizes& sizes, const Sizes& strides, const Sizes& to) {
    const std::optional<Dims> found = compute_view_strides(sizes, strides, to);
    return found ? vec(*found) : Sizes{-1};
  };
  const Sizes none{-1};
  CHECK(strides({2, 3}, {3, 1}, {6}) == Sizes{1});
  CHECK(strides({6}, {1}, {2, 3}) == Sizes{3, 1});
  CHECK(strides({2, 3}, {1, 2}, {6}) == none);
  CHECK(strides({2, 3}, {1, 2}, {2, 3, 1}) == Sizes{1, 2, 2});
  CHECK(strides({4, 3}, {6, 1}, {2, 2, 3}) == Sizes{12, 6, 1});
  CHECK(strides({4, 3}, {6, 1}, {12}) == none);
  CHECK(strides({3, 4}, {0, 1}, {3, 2, 2}) == Sizes{0, 2, 1});
  CHECK(strides({3, 4}, {0, 1}, {12}) == none);
  CHECK(strides({3}, {0}, {3, 1}) == Sizes{0, 0});
  CHECK(strides({10, 1, 6, 1, 1}, {1, 120, 10, 120, 60}, {5, 2, 3, 2, 1}) ==
        Sizes{2, 1, 20, 10, 60});
  CHECK(strides({}, {}, {1, 1}) == Sizes{1, 1});
  CHECK(strides({1, 1}, {5, 7}, {}) == Sizes{});
  CHECK(strides({0, 3}, {3, 1}, {3, 0}) == Sizes{1, 1});
  CHECK(strides({2, 1, 3}, {3, 99, 1}, {6}) == Sizes{1});
}

TEST_CASE("views that are found address the same elements, and dense ones are always found") {
  std::mt19937 random(3);
  const auto offsets = [](const Sizes& sizes, const Sizes& strides) {
    Sizes all{0};
    for (size_t d = 0; d < sizes.size(); ++d) {
      Sizes next;
      for (const int64_t base : all) {
        for (int64_t i = 0; i < sizes[d]; ++i) next.push_back(base + i * strides[d]);
      }
      all = next;
    }
    return all;
  };
  const auto factors = [&](int64_t numel) {
    Sizes sizes;
    while (numel > 1) {
      int64_t factor = std::min<int64_t>(2 + static_cast<int64_t>(random() % 5), numel);
      while (numel % factor) ++factor;
      sizes.push_back(factor);
      numel /= factor;
    }
    for (size_t ones = random() % 3; ones > 0; --ones) {
      sizes.insert(sizes.begin() + static_cast<long>(random() % (sizes.size() + 1)), 1);
    }
    std::shuffle(sizes.begin(), sizes.end(), random);
    return sizes;
  };
  int found_count = 0;
  for (int round = 0; round < 2000; ++round) {
    const int64_t numel = std::vector<int64_t>{1, 12, 24, 36, 60}[random() % 5];
    const Sizes sizes = factors(numel), to = factors(numel);
    Sizes strides = vec(contiguous_strides(sizes));
    const bool dense = random() % 2;
    if (!dense && !sizes.empty()) {
      const size_t at = random() % sizes.size();
      for (size_t d = 0; d <= at; ++d) strides[d] *= 2;  // a gap
    }
    const std::optional<Dims> found = compute_view_strides(sizes, strides, to);
    if (dense) REQUIRE(found);
    if (!found) continue;
    ++found_count;
    CHECK(offsets(to, vec(*found)) == offsets(sizes, strides));
  }
  CHECK(found_count > 1000);
}

TEST_CASE("density and overlap of layouts") {
  CHECK(is_contiguous(Sizes{2, 3}, Sizes{3, 1}));
  CHECK(is_contiguous(Sizes{2, 1, 3}, Sizes{3, 77, 1}));
  CHECK(is_contiguous(Sizes{2, 0}, Sizes{5, 5}));
  CHECK_FALSE(is_contiguous(Sizes{2, 3}, Sizes{1, 2}));
  CHECK(is_non_overlapping_and_dense(Sizes{2, 3, 4}, Sizes{1, 8, 2}));
  CHECK_FALSE(is_non_overlapping_and_dense(Sizes{2, 3}, Sizes{4, 1}));
  CHECK_FALSE(is_non_overlapping_and_dense(Sizes{2, 3}, Sizes{0, 1}));
  CHECK(has_internal_overlap(Sizes{2, 3}, Sizes{0, 1}));
  CHECK_FALSE(has_internal_overlap(Sizes{1, 3}, Sizes{0, 1}));
  CHECK_FALSE(has_internal_overlap(Sizes{0, 3}, Sizes{0, 0}));
}

TEST_CASE("overlap of tensors in one storage") {
  const StorageRef storage = allocate_storage(100 * sizeof(float), kCPU);
  const TensorImplRef a = tensor_over(storage, {4}, {1}), b = tensor_over(storage, {4}, {1}, 2),
                      c = tensor_over(storage, {4}, {1}, 4), same = tensor_over(storage, {4}, {1}),
                      gaps = tensor_over(storage, {2}, {2}),
                      elsewhere = tensor_over(allocate_storage(64, kCPU), {4}, {1}),
                      expanded = tensor_over(storage, {3, 4}, {0, 1});
  CHECK(overlap_of(*a, *a) == Overlap::kFull);
  CHECK(overlap_of(*a, *same) == Overlap::kFull);
  CHECK(overlap_of(*a, *b) == Overlap::kPartial);
  CHECK(overlap_of(*a, *c) == Overlap::kNone);
  CHECK(overlap_of(*a, *elsewhere) == Overlap::kNone);
  CHECK(overlap_of(*a, *gaps) == Overlap::kUnknown);
  CHECK_NOTHROW(check_no_partial_overlap(*a, *same));
  CHECK_THROWS_WITH(check_no_partial_overlap(*a, *b),
                    ContainsSubstring("some elements of the input tensor and the written-to tensor "
                                      "refer to a single memory location"));
  CHECK_THROWS_AS(check_no_overlap(*a, *same), Error);
  CHECK_THROWS_WITH(check_no_internal_overlap(*expanded),
                    ContainsSubstring("more than one element of the written-to tensor refers to a "
                                      "single memory location"));
}

TEST_CASE("an impl knows whether it is contiguous") {
  TensorImpl impl;
  impl.set_contiguous(Sizes{2, 0, 3});
  CHECK(impl.numel == 0);
  CHECK(vec(impl.strides) == Sizes{3, 3, 1});
  impl.set_geometry(Sizes{2, 3}, Sizes{1, 2});
  CHECK(impl.numel == 6);
  CHECK_FALSE(impl.is_contiguous);
  impl.set_geometry(Sizes{3, 1}, Sizes{1, 12});
  CHECK(impl.is_contiguous);
  impl.set_geometry(Sizes{}, Sizes{});
  CHECK(impl.numel == 1);
  CHECK(impl.is_contiguous);
}
