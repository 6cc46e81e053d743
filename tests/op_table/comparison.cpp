#include "op_table/op_table.h"

namespace op_table {

static const Table kTable{
    "comparison",
    {
        ROW(eq, (a, b), "pair count count", none),
        ROW(eq, (a, 1), "any count", none),
        ROW(ne, (a, b), "pair count count", none),
        ROW(ne, (a, 1), "any count", none),
        ROW(lt, (a, b), "pair", none),
        ROW(lt, (a, 0.5), "any", none),
        ROW(le, (a, b), "pair", none),
        ROW(le, (a, 1), "any", none),
        ROW(gt, (a, b), "pair", none),
        ROW(gt, (a, 0), "any", none),
        ROW(ge, (a, b), "pair", none),
        ROW(ge, (a, -1), "any", none),
        ROW(not_equal, (a, b), "pair count count", none),
        ROW(less, (a, b), "pair", none),
        ROW(less_equal, (a, 1), "any", none),
        ROW(greater, (a, 0), "any", none),
        ROW(greater_equal, (a, b), "pair", none),
        ROW(logical_and, (a, b), "pair count count", none),
        ROW(logical_or, (a, b), "pair count count", none),
        ROW(logical_xor, (a, b), "pair count count", none),
        ROW(bitwise_and, (a, b), "pair", none),
        ROW(bitwise_and, (a, 6), "any", none),
        ROW(bitwise_or, (a, b), "pair", none),
        ROW(bitwise_or, (a, 6), "any", none),
        ROW(bitwise_xor, (a, b), "pair", none),
        ROW(bitwise_xor, (a, 6), "any", none),
        ROW(bitwise_left_shift, (a, b), "pair count shift", none),
        ROW(bitwise_left_shift, (a, 2), "any count", none),
        ROW(bitwise_right_shift, (a, b), "pair real shift", none),
        ROW(bitwise_right_shift, (a, 1), "any", none),
        ROW(equal, (a, a), "any", none),
        ROW(equal, (a, b), "3 3 | 3 4 | 0 0 | 2,3 3,2", none),
        ROW(allclose, (a, b), "3 3 | 2,3 3", none),
        ROW(allclose, (a, a), "4 | 0 | -", none),
        ROW(isclose, (a, b), "pair", none),
        ROW(isclose, (a, b, 0.5, 0.25), "pair", none),
        ROW(isclose, (a, b, 0, 0, true), "pair", none),
    },
    {
        WRONG(bitwise_and(ones({2}), ones({2})), "bitwise_and"),
        WRONG(eq(ones({3}), ones({4})), "must match the size of tensor b (4)"),
    }};

TEST_CASE("comparison", "[op_table]") { kTable.run(); }

}  // namespace op_table
