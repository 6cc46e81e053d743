#pragma once

#include <cmath>
#include <limits>

#include "support.h"

// Operands of any dtype and layout, for the tests of elementwise kernels.

namespace cuda_tests {

constexpr ScalarType kAllDtypes[] = {kFloat, kDouble, kHalf, kBFloat16, kLong,
                                     kInt,   kShort,  kChar, kByte,     kBool};

/// Calls visit(T{}) with the C++ type of a dtype; bool as bytes.
template <class Visit>
void visit_dtype(ScalarType dtype, const Visit& visit) {
  switch (dtype) {
#define TAPER_VISIT(type, name, python) \
  case ScalarType::name:                \
    return visit(type{});
    TAPER_FORALL_DTYPES(TAPER_VISIT)
#undef TAPER_VISIT
    default:
      FAIL("no dtype");
  }
}

/// How one operand lies in memory: strides outermost first, `start` elements into `count`.
struct Operand {
  std::vector<int64_t> strides;
  int64_t start = 0, count = 0;
};

inline Operand operand(const std::vector<int64_t>& sizes, std::vector<int64_t> strides,
                       int64_t extra = 0) {
  int64_t low = 0, high = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t reach = strides[d] * (sizes[d] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {std::move(strides), extra - low, extra - low + high + 1};
}
inline Operand dense(const std::vector<int64_t>& sizes, int64_t extra = 0) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) strides[d] = stride;
  return operand(sizes, strides, extra);
}

/// One shape and the layouts of out, in[0], in[1], in[2] over it.
struct Layouts {
  std::string name;
  std::vector<int64_t> sizes;
  Operand operands[4];
};

inline Layouts all_dense(std::vector<int64_t> sizes, int64_t extra = 0) {
  const Operand each = dense(sizes, extra);
  return {"dense", sizes, {each, each, each, each}};
}

/// Sizes around the limits of packets and blocks, and every kind of stride.
inline std::vector<Layouts> all_layouts() {
  std::vector<Layouts> all;
  for (const int64_t n : {1, 3, 4, 5, 15, 16, 17, 33, 1023, 1024, 1025, 4097}) {
    all.push_back(all_dense({n}));
  }
  all.push_back({"no dimension", {}, {operand({}, {}), operand({}, {}), operand({}, {}), {}}});
  all.back().operands[3] = all.back().operands[0];
  all.push_back(all_dense({70}, 1));
  all.back().name = "not aligned";
  const std::vector<int64_t> matrix = {9, 48};
  const Operand row = operand(matrix, {0, 1}), column = operand(matrix, {1, 0});
  const Operand whole = dense(matrix), one = operand(matrix, {0, 0});
  all.push_back({"row", matrix, {whole, whole, row, row}});
  all.push_back({"column", matrix, {whole, column, whole, column}});
  all.push_back({"one element", matrix, {whole, one, whole, one}});
  all.push_back({"row and column", matrix, {whole, row, column, whole}});
  const std::vector<int64_t> odd = {11, 10};
  all.push_back({"odd row", odd, {dense(odd), dense(odd), operand(odd, {0, 1}), dense(odd)}});
  const Operand pitched = operand(matrix, {64, 1});
  all.push_back({"rows of a larger matrix", matrix, {pitched, pitched, whole, pitched}});
  const std::vector<int64_t> square = {37, 35};
  const Operand across = operand(square, {1, 37}), along = dense(square);
  all.push_back({"transposed", square, {along, across, along, across}});
  all.push_back({"transposed out", square, {across, along, across, along}});
  all.push_back({"backwards",
                 square,
                 {along, operand(square, {-35, -1}), operand(square, {70, -2}, 1), along}});
  all.push_back(
      {"gaps", square, {operand(square, {90, 2}), along, operand(square, {1, 40}), along}});
  const std::vector<int64_t> planes = {2, 3, 5, 16};
  all.push_back({"planes and a number for each",
                 planes,
                 {dense(planes), dense(planes), operand(planes, {0, 1, 0, 0}), dense(planes)}});
  all.push_back({"permuted",
                 planes,
                 {dense(planes), operand(planes, {240, 1, 48, 3}), operand(planes, {1, 32, 6, 96}),
                  dense(planes)}});
  return all;
}

template <int N>
void make_plan(ElementwisePlan<N>& plan, const Layouts& layouts) {
  const int64_t* strides[N + 1];
  for (int k = 0; k <= N; ++k) strides[k] = layouts.operands[k].strides.data();
  make_elementwise_plan<N>(plan, static_cast<int>(layouts.sizes.size()), layouts.sizes.data(),
                           strides);
}

/// Numbers of a dtype: ordinary ones, and some that are special. `seed` tells operands apart.
inline std::vector<uint8_t> some_values(ScalarType dtype, int64_t count, uint32_t seed,
                                        bool zeros = true) {
  std::vector<uint8_t> bytes(static_cast<size_t>(count) * element_size(dtype));
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double special[] = {0, -0.0, 1, -1, kInfinity, -kInfinity, std::nan(""), 0.5, -20, 3000};
    uint32_t state = seed * 2654435761u + 12345;
    for (int64_t i = 0; i < count; ++i) {
      state = state * 1664525u + 1013904223u;
      const uint32_t pick = state >> 8;
      T value;
      if constexpr (std::is_same_v<T, bool>) {
        value = pick % 3 != 0;
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(pick % 7 == 0   ? std::numeric_limits<T>::min()
                               : pick % 7 == 1 ? std::numeric_limits<T>::max()
                                               : static_cast<T>(static_cast<int>(pick % 41) - 20));
        if (!zeros && value == 0) value = 3;
      } else {
        const double number =
            pick % 5 == 0 ? special[pick / 5 % 10] : static_cast<double>(pick % 8001) / 1000.0 - 4;
        value = static_cast<T>(static_cast<float>(number));
      }
      std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(T), &value, sizeof value);
    }
  });
  return bytes;
}

/// The two sides' outputs; `exact` for what moves bits.
inline void check_outputs(Twin<uint8_t>& out, ScalarType dtype, bool exact, double slack = 1) {
  if (exact || is_integral(dtype, true)) return check_equal(out);
  const std::vector<uint8_t> got = out.download();
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    // A few units in the last place of what is computed, one of a half that is stored.
    const double units = sizeof(T) == 8 ? 0x1p-43 : sizeof(T) == 4 ? 0x1p-18 : 0x1p-9;
    const double relative = slack * (dtype == kBFloat16 ? 0x1p-6 : units);
    const double absolute = slack * (sizeof(T) == 8 ? 1e-13 : 2e-6);
    for (size_t i = 0; i * sizeof(T) < got.size(); ++i) {
      T mine, expected;
      std::memcpy(&mine, got.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&expected, out.host() + i * sizeof(T), sizeof(T));
      const double a = static_cast<double>(mine), b = static_cast<double>(expected);
      if (a == b || (a != a && b != b)) continue;
      if (std::abs(a - b) <= absolute + relative * std::abs(b) && std::isfinite(b)) continue;
      INFO("element " << i << ": CUDA " << a << ", CPU " << b);
      FAIL("CUDA and CPU differ");
    }
  });
}

}  // namespace cuda_tests
