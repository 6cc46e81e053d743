#include "op_table/op_table.h"

namespace op_table {

static const Table kTable{
    "binary",
    {
        ROW(add, (a, b), "pair", twice),
        ROW(add, (a, b, 2), "pair", twice),
        ROW(add, (a, 1.5), "any", twice),
        ROW(add, (a, 3, 2), "any", twice),
        ROW(sub, (a, b), "pair", twice),
        ROW(sub, (a, b, 2), "pair", twice),
        ROW(sub, (a, 1.5), "any", twice),
        ROW(rsub, (a, b), "pair", twice),
        ROW(rsub, (a, 2), "any", twice),
        ROW(mul, (a, b), "pair", twice),
        ROW(mul, (a, 0.5), "any", twice),
        ROW(multiply, (a, b), "pair", twice),
        ROW(multiply, (a, 3), "any", twice),
        ROW(div, (a, b), "pair real nonzero", twice),
        ROW(div, (a, 3), "any", twice),
        ROW(div, (a, b, "floor"), "pair spaced nonzero", twice),
        ROW(div, (a, b, "trunc"), "pair spaced nonzero", twice),
        ROW(div, (a, 2, "floor"), "any spaced", twice),
        ROW(true_divide, (a, b), "pair real nonzero", twice),
        ROW(true_divide, (a, 3), "any", twice),
        ROW(floor_divide, (a, b), "pair spaced nonzero", none),
        ROW(floor_divide, (a, 3), "any spaced", none),
        ROW(remainder, (a, b), "pair real nonzero", twice),
        ROW(remainder, (a, 1.75), "any spaced", twice),
        ROW(fmod, (a, b), "pair real nonzero", twice),
        ROW(fmod, (a, 1.75), "any spaced", twice),
        ROW(pow, (a, b), "pair positive positive", twice),
        ROW(pow, (a, 2), "any", twice),
        ROW(pow, (a, 3), "any", twice),
        ROW(pow, (a, 0.5), "any positive", twice),
        ROW(pow, (a, -1.5), "any positive", twice),
        ROW(pow, (2.5, a), "any", twice),
        ROW(pow, (2, a), "any positive", twice),
        ROW(atan2, (a, b), "pair nonzero nonzero", twice),
        ROW(hypot, (a, b), "pair nonzero nonzero", twice),
        ROW(maximum, (a, b), "pair", twice),
        ROW(minimum, (a, b), "pair", twice),
        ROW(max, (a, b), "pair", twice),
        ROW(min, (a, b), "pair", twice),
        ROW(fmax, (a, b), "pair", twice),
        ROW(fmin, (a, b), "pair", twice),
        ROW(xlogy, (a, b), "pair real positive", twice),
        ROW(logaddexp, (a, b), "pair", twice),
        ROW(copysign, (a, b),
            "3,5:spaced 3,5:nonzero | 5:spaced 3,1:nonzero | -:spaced 4:nonzero | 0 1 | 131:spaced "
            "131:nonzero | 2,3:spaced 3:nonzero",
            twice),
    },
    {
        WRONG(add(ones({3}), ones({4})),
              "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
              "dimension 0"),
        WRONG(mul(ones({2, 3}), ones({2, 4})),
              "The size of tensor a (3) must match the size of tensor b (4) at non-singleton "
              "dimension 1"),
        WRONG(sub(ones({2}, kBool), ones({2}, kBool)), "Subtraction, the `-` operator"),
        WRONG(div(ones({2}), ones({2}), "up"), "rounding_mode"),
        WRONG(ones({2}, kLong).add_(1.5), "can't be cast to the desired output type"),
        WRONG(ones({2}, kInt).div_(2), "can't be cast to the desired output type"),
        WRONG(pow(ones({2}, kLong), -1), "Integers to negative integer powers are not allowed"),
        WRONG(add(ones({2}), ones({2}), true), "add"),
        WRONG(div(ones({2}, kLong), zeros({2}, kLong), "floor"), "division by zero"),
        WRONG(remainder(ones({2}, kInt), zeros({2}, kInt)), "division by zero"),
    }};

TEST_CASE("binary", "[op_table]") { kTable.run(); }

}  // namespace op_table
