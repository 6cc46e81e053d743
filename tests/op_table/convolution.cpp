#include "op_table/op_table.h"

namespace op_table {

static const Options kFloating = {
    .floating_only = true,
    .apart_on_cuda = true,
    .reason =
        "a convolution of integers trains nothing; cuDNN's result is rounded, and the bias "
        "added to it, as in PyTorch"};

static const Table kTable{
    "convolution",
    {
        ROW(conv1d, (a, b, c),
            "sums 2,3,7 4,3,3 4 | 3,9 2,3,2 2 | 1,3,17 5,3,1 5 | 0,3,7 4,3,3 4 | 1,2,4 2,2,3 2",
            twice, kFloating),
        ROW(conv1d, (a, b, c, 2, 1), "sums 2,3,7 4,3,3 4 | 1,2,5 2,2,3 2", twice, kFloating),
        ROW(conv1d, (a, b, c, {1}, {2}, {3}, 2), "sums 2,4,9 6,2,3 6 | 1,2,5 2,1,3 2", twice,
            kFloating),
        ROW(conv2d, (a, b, c),
            "sums 2,3,7,7 4,3,3,3 4 | 3,6,5 2,3,3,3 2 | 1,1,9,17 3,1,2,5 3 | 0,3,7,7 4,3,3,3 4 |"
            "2,16,14,14 33,16,3,3 33 | 3,4,8,8 8,4,1,1 8 | 1,2,4,4 2,2,3,3 2",
            twice, kFloating),
        ROW(conv2d, (a, b),
            "sums 2,3,7,7 4,3,3,3 | 1,2,5,5 3,3,3,3 | 1,3,2,2 4,3,3,3 | 1,1,4,3 2,1,2,3", twice,
            kFloating),
        ROW(conv2d, (a, b, c, {1, 1}, {1, 1}),
            "sums 2,3,7,7 4,3,3,3 4 | 2,8,14,14 16,8,3,3 16 |"
            "1,1,28,28 32,1,3,3 32 | 1,2,3,3 2,2,3,3 2",
            twice, kFloating),
        ROW(conv2d, (a, b, c, 2, {1, 0}), "sums 2,3,7,9 4,3,3,5 4 | 1,2,5,5 2,2,3,3 2", twice,
            kFloating),
        ROW(conv2d, (a, b, c, {2, 1}, {2, 1}, {2, 3}),
            "sums 1,2,9,11 3,2,3,3 3 | 1,1,5,7 1,1,3,3 1", twice, kFloating),
        ROW(conv2d, (a, b, c, 1, 1, 1, 2), "sums 2,4,7,7 6,2,3,3 6 | 1,2,3,3 4,1,3,3 4", twice,
            kFloating),
        ROW(conv2d, (a, b, c, 1, 1, 1, 3), "sums 2,3,7,7 3,1,3,3 3 | 1,3,4,3 6,1,2,2 6", twice,
            kFloating),
        ROW(conv_transpose1d, (a, b, c), "sums 2,3,5 3,4,3 4 | 3,5 3,2,2 2 | 1,2,3 2,2,2 2", twice,
            kFloating),
        ROW(conv_transpose1d, (a, b, c, 2, 1, 1), "sums 2,3,5 3,4,3 4 | 1,2,3 2,1,3 1", twice,
            kFloating),
        ROW(conv_transpose2d, (a, b, c),
            "sums 2,3,5,4 3,4,3,3 4 | 3,4,5 3,2,2,3 2 | 1,2,3,3 2,1,2,2 1", twice, kFloating),
        ROW(conv_transpose2d, (a, b, c, 2, 1, 1), "sums 2,3,5,4 3,4,3,3 4 | 1,2,3,2 2,1,3,3 1",
            twice, kFloating),
        ROW(conv_transpose2d, (a, b, c, {1, 2}, {1, 0}, 0, 2, {2, 1}),
            "sums 1,4,5,4 4,2,3,3 4 | 1,2,4,3 2,1,2,3 2", twice, kFloating),
    },
    {
        WRONG(conv2d(ones({1, 3, 2, 2}), ones({4, 3, 3, 3})),
              "Kernel size can't be greater than actual input size"),
        WRONG(conv2d(ones({1, 2, 5, 5}), ones({4, 3, 3, 3})),
              "to have 3 channels, but got 2 channels instead"),
        WRONG(conv2d(ones({1, 3, 5, 5}), ones({4, 3, 3, 3}), std::nullopt, 1, 0, 1, 2), "conv2d"),
        WRONG(conv2d(ones({1, 3, 5, 5}), ones({4, 3, 3, 3}), ones({3})), "bias"),
        WRONG(conv2d(ones({1, 3, 5, 5}), ones({4, 3, 3, 3}), std::nullopt, 0), "stride"),
        WRONG(conv2d(ones({1, 3, 5, 5}), ones({4, 3, 3, 3}), std::nullopt, 1, -1), "padding"),
        WRONG(conv2d(ones({1, 3, 5, 5}), ones({4, 3, 3, 3}, kDouble)), "conv2d"),
        WRONG(conv1d(ones({1, 3, 5, 5}), ones({4, 3, 3})), "conv1d"),
        WRONG(conv_transpose2d(ones({1, 3, 5, 5}), ones({3, 4, 3, 3}), std::nullopt, 2, 1, 2),
              "output padding must be smaller"),
    }};

TEST_CASE("convolution", "[op_table]") { kTable.run(); }

}  // namespace op_table
