#include "op_table/op_table.h"

namespace op_table {

static const Table kTable{
    "ternary",
    {
        ROW(where, (a, b, c), "3,5:mask 3,5 3,5 | 5:mask 3,1 1,5 | -:mask 3 3 | 0:mask 1 1", twice),
        ROW(where, (a, 2, b), "3,5:mask 5 | -:mask 2", twice),
        ROW(where, (a, b, 1.5), "3,5:mask 5 | -:mask 2", twice),
        ROW(where, (a, 1.5, 2.5), "3,5:mask | -:mask | 0:mask", none),
        ROW(where, (a), "3,5:count | 0 | - | 7:mask", none),
        ROW(clamp, (a, -1, 2), "any spaced", twice),
        ROW(clamp, (a, std::nullopt, 1.5), "any spaced", twice),
        ROW(clamp, (a, -0.5), "any spaced", twice),
        ROW(clamp, (a, 2, 1), "any spaced", twice),
        ROW(clamp, (a, std::optional<Tensor>(b), std::optional<Tensor>(c)),
            "3,5 3,5:negative 3,5:positive | 3,1 5:negative - | 2,3 3:positive 2,1:negative",
            twice),
        ROW(clip, (a, -1, 1), "any spaced", twice),
        ROW(clamp_min, (a, 0.5), "any spaced", twice),
        ROW(clamp_min, (a, 1), "any spaced", twice),
        ROW(clamp_max, (a, 0.5), "any spaced", twice),
        ROW(addcmul, (a, b, c), "3,5 3,5 3,5 | 3,1 5 - | 0 1 1 | 2,3 3 2,1", twice),
        ROW(addcmul, (a, b, c, 2), "3,5 3,5 3,5 | 7 7 7", twice),
        ROW(addcdiv, (a, b, c), "3,5 3,5 3,5:nonzero | 3,1 5 -:nonzero | 2,3 3 2,1:nonzero", twice),
        ROW(addcdiv, (a, b, c, 0.5), "3,5 3,5 3,5:nonzero | 7 7 7:nonzero", twice),
        ROW(lerp, (a, b, c), "3,5 3,5 3,5 | 3,1 5 3,5 | 2,3 3 2,1", twice),
        ROW(lerp, (a, b, 0.25), "3,5 3,5 | 3,1 5 | 33 33 | 2,3 2,3", twice),
        ROW(lerp, (a, b, 0.75), "3,5 3,5 | 7 7", twice),
        ROW(masked_fill, (a, b, 2), "3,5 3,5:mask | 3,5 5:mask | 3,1 5:mask | - -:mask | 0 0:mask",
            twice),
        ROW(masked_fill, (a, b, c), "3,5 3,5:mask - | 2,3 3:mask -", twice),
    },
    {
        WRONG(where(ones({3}, kBool), ones({3}), ones({4})), "must match the size of tensor b (4)"),
        WRONG(masked_fill(ones({2}), ones({2}), 1), "only supports boolean masks"),
        WRONG(masked_fill(ones({2}), ones({2}, kBool), ones({2})), "0-dimensional value tensor"),
        WRONG(lerp(ones({2}), ones({2}, kDouble), 0.5), "to have the same dtype"),
        WRONG(clamp(ones({2}), std::nullopt, std::optional<Scalar>()),
              "At least one of 'min' or 'max' must not be None"),
    }};

TEST_CASE("ternary", "[op_table]") { kTable.run(); }

}  // namespace op_table
