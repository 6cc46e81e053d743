#include "op_table/recipe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace op_table {
namespace {

// splitmix64 of seed and position.
uint64_t hash(uint64_t seed, uint64_t position) {
  uint64_t z = seed * 0xD1342543DE82EF95u + (position + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Lowest and highest value, in sixteenths for floating dtypes.
struct Range {
  const char* domain;
  int64_t low16, high16, low, high;
};
constexpr Range kRanges[] = {
    {"real", -48, 48, -10, 10},    {"positive", 2, 64, 1, 9},    {"unit", -15, 15, -1, 1},
    {"above_one", 17, 64, 2, 9},   {"probability", 1, 15, 0, 1}, {"nonzero", 4, 64, 1, 9},
    {"negative", -64, -2, -9, -1}, {"shift", 0, 64, 0, 6},       {"count", 0, 64, 0, 3},
};

const Range& range_of(const std::string& domain) {
  for (const Range& range : kRanges) {
    if (domain == range.domain) return range;
  }
  throw std::invalid_argument("unknown domain " + domain);
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSpecial[] = {0.0,
                               -0.0,
                               1.0,
                               -1.0,
                               0.5,
                               -0.5,
                               1.5,
                               -2.5,
                               2.0,
                               -2.0,
                               kInfinity,
                               -kInfinity,
                               std::numeric_limits<double>::quiet_NaN(),
                               100.0,
                               -100.0,
                               65504.0,
                               6.103515625e-05,
                               5.9604644775390625e-08};

// Floating values are multiples of 2^-shift, few enough to be exact in the dtype.
int shift_of(ScalarType dtype) {
  switch (dtype) {
    case taper::kDouble:
      return 40;
    case taper::kFloat:
      return 20;
    case taper::kHalf:
      return 7;
    default:
      return 5;
  }
}

// Integers in floating form are divided where Python divides: exactly.
std::vector<double> ranked(const Recipe& recipe, size_t n) {
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  if (recipe.domain == "distinct") {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return hash(recipe.seed, a) < hash(recipe.seed, b);
    });
  }
  const int64_t low = recipe.dtype == taper::kByte ? 0 : static_cast<int64_t>(n / 2);
  std::vector<double> values(n);
  for (size_t rank = 0; rank < n; ++rank) {
    const auto centred = static_cast<double>(static_cast<int64_t>(rank) - low);
    values[order[rank]] = taper::is_floating_point(recipe.dtype) ? (2 * centred + 1) / 16 : centred;
  }
  return values;
}

double value_in(const Range& range, ScalarType dtype, uint64_t z) {
  const uint64_t pick = z >> 32;
  const bool floating = taper::is_floating_point(dtype);
  int64_t low = range.low, high = range.high;
  if (floating) {
    const int64_t unit = int64_t{1} << shift_of(dtype);
    low = range.low16 * unit / 16;
    high = range.high16 * unit / 16;
  } else if (dtype == taper::kByte && low < 0) {
    high -= low;
    low = 0;
  }
  const auto count = static_cast<uint64_t>(high - low + 1);
  int64_t value = low + static_cast<int64_t>((count > uint64_t{1} << 32 ? z : pick) % count);
  if (std::string(range.domain) == "nonzero" && dtype != taper::kByte && (z & 1) == 0)
    value = -value;
  return floating ? std::ldexp(static_cast<double>(value), -shift_of(dtype))
                  : static_cast<double>(value);
}

}  // namespace

ScalarType dtype_named(const std::string& name) {
  const std::pair<const char*, ScalarType> names[] = {
      {"f32", taper::kFloat},     {"f64", taper::kDouble}, {"f16", taper::kHalf},
      {"bf16", taper::kBFloat16}, {"i64", taper::kLong},   {"i32", taper::kInt},
      {"i16", taper::kShort},     {"i8", taper::kChar},    {"u8", taper::kByte},
      {"bool", taper::kBool}};
  for (const auto& [text, dtype] : names) {
    if (name == text) return dtype;
  }
  throw std::invalid_argument("unknown dtype " + name);
}

Recipe Recipe::parse(const std::string& words) {
  Recipe recipe;
  const size_t bracket = words.find('['), close = words.find(']');
  const size_t colon = words.find(':', close + 2);
  recipe.dtype = dtype_named(words.substr(0, bracket));
  for (size_t at = bracket + 1; at < close;) {
    const size_t end = std::min(words.find(',', at), close);
    recipe.sizes.push_back(std::stoll(words.substr(at, end - at)));
    at = end + 1;
  }
  recipe.domain = words.substr(close + 2, colon - close - 2);
  recipe.seed = std::stoull(words.substr(colon + 1));
  recipe.constant = words.back() == '!';
  return recipe;
}

std::vector<double> Recipe::values() const {
  const auto n = static_cast<size_t>(support::count(sizes));
  if ((domain == "distinct" || domain == "sorted") && dtype != taper::kBool)
    return ranked(*this, n);
  std::vector<double> values(n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t z = hash(seed, i), pick = z >> 32;
    if (domain.rfind("index", 0) == 0) {
      values[i] = static_cast<double>(pick % std::stoull(domain.substr(5)));
    } else if (domain == "special") {
      values[i] = kSpecial[i % std::size(kSpecial)];
    } else if (dtype == taper::kBool || domain == "mask") {
      values[i] = static_cast<double>(z & 1);
    } else if (domain == "sign") {
      values[i] = static_cast<double>(z & 1) * 2 - 1;
    } else if (domain == "spaced" && taper::is_floating_point(dtype)) {
      // Odd sixteenths: never at a multiple of 1/8, where piecewise functions have their kinks.
      values[i] = (2 * (static_cast<double>(pick % 48) - 24) + 1) / 16;
    } else {
      values[i] = value_in(range_of(domain == "spaced" ? "real" : domain), dtype, z);
    }
  }
  return values;
}

Tensor lay_out(const std::vector<double>& elements, const Sizes& sizes, ScalarType dtype,
               Layout layout) {
  Sizes strides = support::packed_strides(sizes);
  if (layout == Layout::kTransposed) {
    const Sizes reversed(sizes.rbegin(), sizes.rend());
    strides = support::packed_strides(reversed);
    std::reverse(strides.begin(), strides.end());
  } else if (layout == Layout::kStepped) {
    for (int64_t& stride : strides) stride *= 2;
  }
  return support::make(elements, sizes, dtype, &strides);
}

}  // namespace op_table
