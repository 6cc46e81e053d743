#include "op_table/op_table.h"

namespace op_table {

static const Table kTable{
    "scan",
    {
        ROW(cumsum, (a, 0), "sums rows", twice),
        ROW(cumsum, (a, -1), "sums rows", twice),
        ROW(cumsum, (a, 1, kDouble), "sums rows", twice),
        ROW(cumprod, (a, 0), "rows unit", twice, loose(8, "a product of n factors rounds n times")),
        ROW(cumprod, (a, -1), "rows nonzero", twice,
            loose(8, "a product of n factors rounds n times")),
        ROW(cummax, (a, 0), "rows distinct", twice),
        ROW(cummax, (a, -1), "rows distinct", twice),
        ROW(cummin, (a, 0), "rows distinct", twice),
        ROW(cummin, (a, -1), "rows distinct", twice),
        ROW(logcumsumexp, (a, 0), "rows", twice),
        ROW(logcumsumexp, (a, -1), "rows", twice),
        ROW(diff, (a), "3,5 | 7 | 2,3,4 | 1 | 0 | 3,0 | -", twice),
        ROW(diff, (a, 2, 0), "3,5 | 5,2,3 | 2,3 | 1,4", twice),
        ROW(diff, (a, 3, -1, b, c), "3,5 3,1 3,2 | 2,2 2,2 2,1 | 4 1 1 | 2,3 3 2,1", twice),
        ROW(diff, (a, 0), "3,5 | 7", twice),
        ROW(sort, (a), "rows distinct", twice),
        ROW(sort, (a, 0, true), "rows distinct", twice),
        ROW(sort, (a, std::optional<bool>(true), -1, true), "rows count", none),
        ROW(sort, (a, std::optional<bool>(true), 0), "rows count", none),
        ROW(argsort, (a), "rows distinct", none),
        ROW(argsort, (a, 0, true), "rows distinct", none),
        ROW(topk, (a, 2),
            "3,5:distinct | 4,33:distinct | 7:distinct | 2,3,17:distinct | 1 | 2,3:distinct",
            twice),
        ROW(topk, (a, 2, 0, false), "3,5:distinct | 4,33:distinct | 7:distinct | 3,2:distinct",
            twice),
        ROW(topk, (a, 0), "3,5:distinct", none),
    },
    {
        WRONG(cumsum(ones({2, 3}), 2), "Dimension out of range"),
        WRONG(sort(ones({2, 3}), -3), "Dimension out of range"),
        WRONG(topk(ones({3}), 4), "out of range"),
    }};

TEST_CASE("scan", "[op_table]") { kTable.run(); }

}  // namespace op_table
