#include <cstdint>

#if defined(TAPER_CUDA_HARDWARE)  // there it is nvcc's, and for kernels alone
inline uint32_t __umulhi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}
#endif
#include "taper/kernels/cuda/walk.h"

#include <array>
#include <cstdlib>
#include <set>

#include "elementwise.h"

// The host's half of kernels with 32-bit offsets: division by multiplication, and large plans in
// parts.

using namespace cuda_tests;
using namespace taper::kernels::cuda;

TEST_CASE("a divider divides") {
  for (const uint32_t divisor : {1u, 2u, 3u, 5u, 7u, 10u, 31u, 32u, 33u, 641u, 65535u, 65536u,
                                 65537u, 1000000007u, 0x7ffffffeu, 0x7fffffffu, 0x80000000u}) {
    const Divider divider(divisor);
    const auto check = [&](uint64_t n) {
      if (n > 0x7fffffffu) return;
      INFO(n << " / " << divisor);
      CHECK(divider.quotient(static_cast<uint32_t>(n)) == n / divisor);
    };
    for (uint64_t factor = 0; factor < 4; ++factor) {
      for (int64_t near = -1; near <= 1; ++near) {
        check(factor * divisor + static_cast<uint64_t>(near));
        check((0x7fffffffu / divisor - factor) * uint64_t{divisor} + static_cast<uint64_t>(near));
      }
    }
    check(0x7fffffff);
  }
}

TEST_CASE("the parts of a large plan cover it once, within reach") {
  for (const Layouts& layouts : all_layouts()) {
    for (const int64_t limit : {7, 40, 1000, 100000}) {
      INFO(layouts.name << ", limit " << limit);
      ElementwisePlan<2> plan;
      make_plan<2>(plan, layouts);
      std::multiset<std::array<int64_t, 3>> expected, got;
      const auto walk_over = [](const ElementwisePlan<2>& part, const int64_t(&start)[3],
                                std::multiset<std::array<int64_t, 3>>& positions) {
        for (int64_t i = 0; i < part.numel; ++i) {
          std::array<int64_t, 3> at = {start[0], start[1], start[2]};
          int64_t rest = i;
          for (int d = 0; d < part.rank; ++d) {
            for (size_t k = 0; k < 3; ++k) at[k] += rest % part.sizes[d] * part.strides[k][d];
            rest /= part.sizes[d];
          }
          positions.insert(at);
        }
      };
      walk_over(plan, {0, 0, 0}, expected);
      const auto visit = [&](const ElementwisePlan<2>& part, const int64_t(&start)[3]) {
        CHECK(part.numel <= limit);
        for (const auto& strides : part.strides) {
          int64_t reach = 0;
          for (int d = 0; d < part.rank; ++d) reach += std::abs(strides[d]) * (part.sizes[d] - 1);
          CHECK(reach <= limit);
        }
        walk_over(part, start, got);
        return Status{};
      };
      require_ok(for_each_piece<2>(plan, {0, 0, 0}, visit, limit));
      CHECK(got == expected);
    }
  }
}

TEST_CASE("a part that fails ends the walk over a large plan") {
  ElementwisePlan<1> plan;
  make_plan<1>(plan, all_dense({100}));
  int calls = 0;
  const Status status = for_each_piece<1>(
      plan, {0, 0},
      [&](const ElementwisePlan<1>&, const int64_t(&)[2]) {
        ++calls;
        return unsupported();
      },
      30);
  CHECK(status.code == Code::kUnsupported);
  CHECK(calls == 1);
}

TEST_CASE("the parts of a large stack of triangles have the diagonal where the stack has it") {
  for (const Triangles all : {Triangles{3, 5, 7, 0}, Triangles{1, 9, 4, -2}, Triangles{2, 1, 40, 3},
                              Triangles{2, 6, 5, 100}}) {
    for (const int64_t limit : {1, 3, 10, 40, 1000}) {
      INFO(all.batch << " x " << all.rows << " x " << all.cols << ", limit " << limit);
      // For each element, how far it lies above the diagonal.
      const auto heights = [](const Triangles& part) {
        std::vector<int64_t> result;
        for (int64_t i = 0; i < part.numel(); ++i) {
          result.push_back(i % part.cols - i / part.cols % part.rows - part.diagonal);
        }
        return result;
      };
      std::vector<int64_t> got;
      require_ok(for_each_piece(
          all, 0,
          [&](const Triangles& part, int64_t start) {
            CHECK(part.numel() <= limit);
            CHECK(start == static_cast<int64_t>(got.size()));
            const std::vector<int64_t> of_part = heights(part);
            got.insert(got.end(), of_part.begin(), of_part.end());
            return Status{};
          },
          limit));
      CHECK(got == heights(all));
    }
  }
}
