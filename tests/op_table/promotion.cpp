#include <fstream>
#include <sstream>

#include "op_table/compare.h"
#include "op_table/op_table.h"

// Result dtypes of every pair of dtypes, with and without dimensions, against golden/promotion.txt.

namespace op_table {
namespace {

struct Promoting {
  const char* op;
  Tensor (*run)(const Tensor& a, const Tensor& b);
};
#define PROMOTES(op, args)                                                         \
  Promoting {                                                                      \
    #op, [](const Tensor& a, const Tensor& b) -> Tensor { return taper::op args; } \
  }

const Promoting kOps[] = {
    PROMOTES(add, (a, b)),
    PROMOTES(sub, (a, b)),
    PROMOTES(mul, (a, b)),
    PROMOTES(div, (a, b)),
    PROMOTES(floor_divide, (a, b)),
    PROMOTES(remainder, (a, b)),
    PROMOTES(fmod, (a, b)),
    PROMOTES(pow, (a, b)),
    PROMOTES(atan2, (a, b)),
    PROMOTES(maximum, (a, b)),
    PROMOTES(minimum, (a, b)),
    PROMOTES(eq, (a, b)),
    PROMOTES(lt, (a, b)),
    PROMOTES(logical_and, (a, b)),
    PROMOTES(bitwise_and, (a, b)),
    PROMOTES(where, (a.eq(a), a, b)),
    PROMOTES(cat, ({a.reshape({-1}), b.reshape({-1})})),
    PROMOTES(stack, ({a.flatten().sum(), b.flatten().sum()})),
};

}  // namespace

TEST_CASE("promotion", "[op_table]") {
  std::ifstream file(std::string(TAPER_GOLDEN_DIR) + "/promotion.txt");
  REQUIRE(file);
  const char* names[] = {"f32", "f64", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"};
  for (std::string line; std::getline(file, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    std::string op, mode, left, expected;
    words >> op >> mode >> left;
    const auto* row =
        std::find_if(std::begin(kOps), std::end(kOps), [&](auto& r) { return r.op == op; });
    REQUIRE(row != std::end(kOps));
    const Sizes with{2}, without{};
    const auto ones = [](ScalarType dtype, const Sizes& sizes) {
      return support::make(std::vector<double>(static_cast<size_t>(support::count(sizes)), 1),
                           sizes, dtype);
    };
    const Tensor a = ones(dtype_named(left), mode[0] == 'T' ? with : without);
    for (const char* right : names) {
      words >> expected;
      const Tensor b = ones(dtype_named(right), mode[1] == 'T' ? with : without);
      INFO(op << "(" << left << ", " << right << "), " << mode << ": expected " << expected);
      std::string got = "-";
      const std::string error =
          support::error_of([&] { got = dtype_name(row->run(a, b).scalar_type()); });
      INFO("got " << got << " " << error);
      if (expected == "?") continue;  // PyTorch lacks it; Taper may have it
      CHECK(got == (expected == "-" ? "-" : dtype_name(dtype_named(expected))));
    }
  }
}

}  // namespace op_table
