#include "op_table/op_table.h"

namespace op_table {

using indexing::None;
using indexing::Slice;

static const Table kTable{
    "indexing",
    {
        METHOD(index, ({Slice(0, 2), None, 1}), "3,5 | 2,3,4 | 1,1", twice),
        METHOD(index, ({"...", Slice(None, None, 2)}), "3,5 | 7 | 2,3,17 | 0,3", twice),
        METHOD(index, ({b}), "5,3 4:index5 | 3 2,2:index3 | 4,2 0:index4", twice),
        METHOD(index, ({b, c}), "3,4 5:index3 5:index4 | 3,4,2 2,1:index3 3:index4", twice),
        METHOD(index, ({Slice(), b}), "3,4 3:index4 | 2,5,3 2,2:index5", twice),
        METHOD(index, ({b, Slice(1, 3), c}), "3,4,5 2:index3 2:index5", twice),
        METHOD(index, ({b, "..."}), "3,4 3:mask | 3,4 3,4:mask | 7 7:mask | 3,4 4:mask", twice),
        ROW(index_select, (a, 0, b), "5,3 4:index5 | 3 7:index3 | 4,2 0:index4", twice),
        ROW(index_select, (a, -1, b), "3,5 4:index5 | 2,3,4 2:index4", twice),
        ROW(index_add, (a, 0, b, c),
            "5,3 4:index5 4,3 | 3 7:index3 7 | 4,2 0:index4 0,2 | 3,2 2:index3 2,2", twice),
        ROW(index_add, (a, 1, b, c, 2), "3,4 6:index4 3,6 | 2,3 2:index3 2,2", twice),
        ROW(index_copy, (a, 0, b, c), "5,3 1:index5 1,3 | 4 1:index4 1", twice),
        ROW(index_copy, (a, 1, b, c), "3,5 1:index5 3,1", twice),
        ROW(index_fill, (a, 0, b, 2), "5,3 4:index5 | 3 7:index3 | 3,2 0:index3", twice),
        ROW(index_fill, (a, 1, b, -1), "3,5 4:index5", twice),
        ROW(gather, (a, 0, b), "5,3 4,3:index5 | 3 7:index3 | 5,3 2,2:index5 | - -:index1", twice),
        ROW(gather, (a, 1, b), "3,5 3,7:index5 | 2,3,4 2,2,4:index3 | 3,5 3,0:index5", twice),
        ROW(scatter, (a, 1, b, c), "3,5 3,1:index5 3,1 | 2,3,4 2,1,4:index3 2,1,4", twice),
        ROW(scatter, (a, 0, b, 2), "5,3 4,3:index5 | 3 7:index3", twice),
        ROW(scatter_add, (a, 0, b, c), "5,3 4,3:index5 4,3 | 3 7:index3 7 | 3,2 2,2:index3 2,2",
            twice),
        ROW(scatter_add, (a, 1, b, c), "3,5 3,7:index5 3,7 | 2,3 2,2:index3 2,2", twice),
        ROW(take, (a, b), "3,4 5:index12 | 3 2,2:index3 | 3,4 0:index12", twice),
        ROW(take_along_dim, (a, b, 1), "3,5 3,2:index5 | 3,5 1,2:index5", twice),
        ROW(take_along_dim, (a, b), "3,4 5:index12", twice),
        ROW(masked_select, (a, b),
            "3,5 3,5:mask | 3,5 5:mask | 3,1 5:mask | 0 0:mask | 2,3 2,3:mask", twice),
        ROW(masked_scatter, (a, b, c), "3,5 3,5:mask 15 | 2,3 3:mask 7", twice),
        ROW(nonzero, (a), "reduce count", none),
        ROW(argwhere, (a), "reduce count", none),
        ROW(bincount, (a), "9:index5 | 0:index5 | 1:index3", none),
        ROW(bincount, (a, b, 7), "native 9:index5 9", none),
        ROW(one_hot, (a), "5:index4 | 2,3:index3 | -:index3", none),
        ROW(one_hot, (a, 6), "5:index4 | 2,3:index3 | 0:index3", none),
        ROW(_unique2, (a, true, true, true), "12:count | 3,4:count | 0 | 1", none),
        ROW(_unique2, (a), "12:count | 33:count", none),
        ROW(searchsorted, (a, b), "7:sorted 5 | 2,7:sorted 2,3 | 7:sorted - | 0 3", none),
        ROW(searchsorted, (a, b, true, true), "7:sorted 5:spaced | 33:sorted 33:spaced", none),
        ROW(embedding, (a, b), "5,3 4:index5 | 4,2 2,3:index4 | 3,2 0:index3", twice),
        ROW(embedding, (a, b, 1), "5,3 4:index5 | 4,2 2,3:index4", defined),
        ROW(embedding, (a, b, -1, true), "4,2 6:index4", defined),
    },
    {
        WRONG(index_select(ones({3}), 0, tensor({3})), "out of bounds for dimension"),
        WRONG(index_select(ones({3}), 0, tensor({-1})), "out of bounds for dimension"),
        WRONG(gather(ones({3}), 0, tensor({3})), "out of bounds for dimension"),
        WRONG(gather(ones({3}), 0, tensor({-1})), "out of bounds for dimension"),
        WRONG(gather(ones({3}), 0, ones({1})), "int64"),
        WRONG(ones({3}).index({tensor({3})}), "out of bounds for dimension"),
        WRONG(ones({3}).index({0, 0}), "too many indices for tensor of dimension 1"),
        WRONG(ones({3}).index({3}), "out of bounds for dimension"),
        WRONG(ones({3, 2}).index({ones({2}, kBool)}),
              "does not match the shape of the indexed tensor"),
        WRONG(embedding(ones({3, 2}), tensor({3})), "out of bounds for dimension"),
        WRONG(embedding(ones({3, 2}), ones({1})), "embedding"),
        WRONG_ON_CPU(one_hot(tensor({0, 5}), 3), "Class values must be smaller than num_classes"),
        WRONG(one_hot(tensor({-1})), "Class values must be non-negative"),
        WRONG(index_add(ones({3}), 0, tensor({0, 3}), ones({2})), "out of bounds for dimension"),
        WRONG(scatter_add(ones({3}), 0, tensor({0, 3}), ones({2})), "out of bounds for dimension"),
        WRONG(take(ones({3}), tensor({3})), "out of bounds for dimension"),
        WRONG(masked_select(ones({3}), ones({3})), "masked_select"),
        WRONG(bincount(tensor({-1})), "bincount"),
    }};

TEST_CASE("indexing", "[op_table]") { kTable.run(); }

}  // namespace op_table
