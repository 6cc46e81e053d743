#include "op_table/op_table.h"

namespace op_table {

static const Options kFactors =
    loose_half(8, "differences of products that are rounded first, as in PyTorch");

static const Options kBilinear =
    loose_half(64, "the product of two of the three factors is rounded before it is summed");

static const Table kTable{
    "matrix",
    {
        ROW(matmul, (a, b),
            "sums 3,4 4,5 | 4 4 | 3,4 4 | 4 4,5 | 2,3,4 4,5 | 2,3,4 2,4,5 | 3,4 2,4,5 |"
            "5,1,2,3 4,3,6 | 4 2,4,3 | 2,3,4 4 | 0,4 4,3 | 3,0 0,2 | 2,0,4 4,3 | 3,4 3,4 | 3 4 | "
            "1,1 1,1 |"
            "7,17 17,33 | 33,7 7,1 | 1,33 33,17 | 70,130 130,65 | 1,300 300,1 | 9,257 257,70 | 2,3 "
            "3,2",
            twice),
        ROW(mm, (a, b),
            "sums 3,4 4,5 | 0,4 4,3 | 3,0 0,2 | 7,17 17,33 | 65,33 33,129 | 4 4,5 | 3,4 3,4 | 2,3 "
            "3,2",
            twice),
        ROW(bmm, (a, b),
            "sums 2,3,4 2,4,5 | 0,3,4 0,4,5 | 3,7,17 3,17,5 | 2,3,4 3,4,5 | 5,1,9 5,9,1 | 2,2,3 "
            "2,3,1",
            twice),
        ROW(mv, (a, b), "sums 3,4 4 | 0,4 4 | 3,0 0 | 17,33 33 | 129,70 70 | 3,4 3", twice),
        ROW(dot, (a, b), "sums 4 4 | 0 0 | 1 1 | 33 33 | 1025 1025 | 3 4 | 2,2 2,2", twice),
        ROW(outer, (a, b), "4 3 | 0 3 | 1 7 | 17 33 | 2 3", twice),
        ROW(ger, (a, b), "4 3 | 2,2 2", twice),
        ROW(addmm, (a, b, c),
            "sums 3,5 3,4 4,5 | 5 3,4 4,5 | 3,1 3,4 4,5 | - 3,4 4,5 | 5 3,0 0,5 |"
            "33 17,70 70,33 | 5 0,4 4,5 | 4 3,4 4,5 | 2 2,3 3,2",
            twice),
        ROW(addmm, (a, b, c, 3, 2), "sums 3,5 3,4 4,5 | 5 3,4 4,5 | 2,3 2,2 2,3", twice),
        ROW(addmm, (a, b, c, 0, 1), "sums 3,5 3,4 4,5 | 2 2,3 3,2", twice),
        ROW(addmv, (a, b, c), "sums 3 3,4 4 | - 3,4 4 | 3 3,0 0 | 2 2,3 3", twice),
        ROW(addmv, (a, b, c, 2, 3), "sums 3 3,4 4 | 2 2,3 3", twice),
        ROW(baddbmm, (a, b, c),
            "sums 2,3,5 2,3,4 2,4,5 | 5 2,3,4 2,4,5 | 2,1,1 2,3,4 2,4,5 | 1,2,2 2,2,1 2,1,2",
            twice),
        ROW(baddbmm, (a, b, c, 3, 2), "sums 2,3,5 2,3,4 2,4,5 | 2 2,2,1 2,1,2", twice),
        ROW(linear, (a, b, c),
            "sums 3,4 5,4 5 | 4 5,4 5 | 2,3,4 5,4 5 | 0,4 5,4 5 | 17,33 7,33 7 |"
            "33,130 65,130 65 | 3,4 5,3 5 | 2,3 2,3 2",
            twice),
        ROW(linear, (a, b), "sums 3,4 5,4 | 2,3,4 5,4 | 4 5,4 | 2,3 2,3", twice),
        ROW(bilinear, (a, b, c, d),
            "sums 3,4 3,5 2,4,5 2 | 4 5 2,4,5 2 | 2,3,4 2,3,5 2,4,5 2 | 3,4 3,5 2,5,4 2 | 2,2 2,3 "
            "2,2,3 2",
            twice, kBilinear),
        ROW(bilinear, (a, b, c), "sums 3,4 3,5 2,4,5 | 2,2 2,3 2,2,3", twice, kBilinear),
        ROW(einsum, ("ij,jk->ik", {a, b}), "sums 3,4 4,5 | 2,3 3,2", twice),
        ROW(einsum, ("bij,bjk->bik", {a, b}), "sums 2,3,4 2,4,5 | 2,2,3 2,3,1", twice),
        ROW(einsum, ("ii", {a}), "sums 4,4 | 3,3", twice),
        ROW(einsum, ("ii->i", {a}), "4,4 | 3,3", twice),
        ROW(einsum, ("ij->ji", {a}), "3,4 | 2,3", twice),
        ROW(einsum, ("ij,j", {a, b}), "sums 3,4 4 | 2,3 3", twice),
        ROW(einsum, ("i,j->ij", {a, b}), "3 4", twice, free_integers("bool has no matrix product")),
        ROW(einsum, ("...ij,...jk->...ik", {a, b}), "sums 2,3,4 4,5 | 1,2,3 2,3,2", twice),
        ROW(einsum, ("bi,ijk,bk->bj", {a, b, c}), "sums 2,3 3,4,5 2,5 | 2,2 2,2,2 2,2", twice,
            kFactors),
        ROW(cross, (a, b), "sums 4,3 4,3 | 3 3 | 3,5 3,5", twice, kFactors),
        ROW(cross, (a, b, 0), "sums 3,5 3,5 | 3,2 3,2", twice, kFactors),
        ROW(trace, (a), "sums 3,5 | 5,3 | 4,4 | 0,3 | 7", twice),
        ROW(cdist, (a, b), "3,4 5,4 | 2,3,4 2,5,4 | 0,4 3,4 | 2,3 2,3", twice,
            loose(8, "differences of near points, then a square root")),
        ROW(cdist, (a, b, 1), "3,4 5,4 | 2,3:spaced 2,3:distinct", once),
    },
    {
        WRONG(matmul(ones({2, 3}), ones({2, 3})),
              "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        WRONG(mm(ones({2, 3}), ones({2, 3})),
              "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
        WRONG(mm(ones({3}), ones({3, 2})), "mm"),
        WRONG(matmul(ones({}), ones({3})), "matmul"),
        WRONG(mm(ones({2, 3}), ones({3, 2}, kDouble)), "to have the same dtype"),
        WRONG(bmm(ones({2, 3}), ones({2, 3, 4})), "bmm"),
        WRONG(mv(ones({2, 3}), ones({2})), "size mismatch, got input (2), mat (2x3), vec (2)"),
        WRONG(dot(ones({3}), ones({4})),
              "inconsistent tensor size, expected tensor [3] and src [4] to have the same number "
              "of elements"),
        WRONG(matmul(ones({2, 0}), ones({3, 2})), "cannot be multiplied (2x0 and 3x2)"),
        WRONG(linear(ones({2, 3}), ones({4, 2})), "cannot be multiplied (2x3 and 2x4)"),
        WRONG(einsum("ij,jk", {ones({2, 3}), ones({4, 2})}), "einsum"),
        WRONG(einsum("ij", {ones({2, 3}), ones({4, 2})}), "einsum"),
        WRONG(addmm(ones({4}), ones({2, 3}), ones({3, 5})), "addmm"),
        WRONG(trace(ones({3})), "trace"),
    }};

TEST_CASE("matrix", "[op_table]") { kTable.run(); }

}  // namespace op_table
