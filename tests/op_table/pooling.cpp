#include "op_table/op_table.h"

namespace op_table {

static const Options kFloating =
    floating_only("PyTorch pools some integers; images are made floating first");

static const Table kTable{
    "pooling",
    {
        ROW(max_pool1d, (a, 2), "2,3,8:distinct | 3,7:distinct | 0,3,8 | 1,1,1 | 1,2,4:distinct",
            twice),
        ROW(max_pool1d, (a, 3, 2, 1, 1, true), "2,3,8:distinct | 1,2,5:distinct", twice),
        ROW(max_pool1d, (a, 2, 1, 0, 2), "2,3,8:distinct | 1,2,5:distinct", twice),
        ROW(max_pool2d, (a, 2),
            "2,3,6,6:distinct | 3,5,4:distinct | 1,2,28,28:distinct | 0,3,4,4 |"
            "1,1,17,33:distinct | 1,1,4,4:distinct",
            twice, kFloating),
        ROW(max_pool2d, (a, {3, 2}, {2, 1}, {1, 0}, 1, true), "2,3,6,7:distinct | 1,2,5,3:distinct",
            twice, kFloating),
        ROW(max_pool2d, (a, 3, 1, 1, {2, 1}), "1,2,7,6:distinct | 1,1,4,3:distinct", twice,
            kFloating),
        ROW(max_pool2d_with_indices, (a, 2), "2,3,6,6:distinct | 3,5,4:distinct | 1,1,4,4:distinct",
            twice, kFloating),
        ROW(max_pool2d_with_indices, (a, 3, 2, 1), "2,3,7,6:distinct | 1,1,5,4:distinct", twice,
            kFloating),
        ROW(avg_pool1d, (a, 2), "sums 2,3,8 | 3,7 | 0,3,8 | 1,2,4", twice, kFloating),
        ROW(avg_pool1d, (a, 3, 2, 1, true, false), "sums 2,3,8 | 1,2,5", twice, kFloating),
        ROW(avg_pool2d, (a, 2), "sums 2,3,6,6 | 3,5,4 | 1,1,17,33 | 0,3,4,4 | 1,1,4,4", twice,
            kFloating),
        ROW(avg_pool2d, (a, {3, 2}, {2, 1}, {1, 1}, true), "sums 2,3,6,7 | 1,2,5,3", twice,
            kFloating),
        ROW(avg_pool2d, (a, 3, 2, 1, false, false), "sums 2,3,6,7 | 1,1,5,4", twice, kFloating),
        ROW(avg_pool2d, (a, 2, 2, 0, false, true, 3), "sums 2,3,6,6 | 1,1,4,4", twice, kFloating),
        ROW(adaptive_avg_pool1d, (a, 3), "sums 2,3,7 | 3,5 | 1,2,2 | 1,2,3", twice, kFloating),
        ROW(adaptive_avg_pool2d, (a, {1, 1}), "sums 2,3,6,7 | 3,5,4 | 0,3,4,4 | 1,2,3,2", twice,
            kFloating),
        ROW(adaptive_avg_pool2d, (a, {3, 5}), "sums 2,3,7,4 | 1,1,4,6", twice, kFloating),
        ROW(adaptive_max_pool1d, (a, 3), "2,3,7:distinct | 3,5:distinct | 1,2,2 | 1,2,3:distinct",
            twice, kFloating),
        ROW(adaptive_max_pool2d, (a, {2, 3}),
            "2,3,4,6:distinct | 3,5,4:distinct | 0,3,4,4 | 1,1,17,33:distinct | 1,1,2,3:distinct",
            twice, kFloating),
        ROW(adaptive_max_pool2d, (a, {3, 5}), "2,3,7,4:distinct | 1,1,4,6:distinct", twice,
            kFloating),
        ROW(pixel_shuffle, (a, 2), "2,8,3,4 | 4,2,3 | 2,2,4,1,2 | 0,4,2,2 | 1,3,2,2 | 1,4,1,2",
            twice),
        ROW(pixel_unshuffle, (a, 3), "2,2,3,6 | 1,6,3 | 1,2,4,3 | 1,1,3,3", twice),
        ROW(upsample_nearest1d, (a, 7), "sums 2,3,4 | 1,2,9 | 1,1,3", twice, kFloating),
        ROW(upsample_nearest2d, (a, {5, 8}), "sums 2,3,3,4 | 1,1,9,3 | 1,1,2,3", twice, kFloating),
        ROW(upsample_nearest2d, (a, {6, 6}, 2.0, 1.5), "sums 1,2,3,4", twice, kFloating),
        ROW(upsample_bilinear2d, (a, {5, 8}, false), "sums 2,3,3,4 | 1,1,9,3 | 1,1,2,3", twice,
            kFloating),
        ROW(upsample_bilinear2d, (a, {5, 8}, true), "sums 2,3,3,4 | 1,1,1,1 | 1,1,2,3", twice,
            kFloating),
        ROW(reflection_pad1d, (a, {2, 1}), "2,3,5 | 3,4 | 1,2,3 | 1,1,2", twice),
        ROW(reflection_pad2d, (a, {2, 1, 1, 2}), "2,3,4,5 | 3,3,4 | 1,1,3,3", twice),
        ROW(replication_pad1d, (a, {2, 1}), "2,3,5 | 3,4 | 1,2,1", twice),
        ROW(replication_pad2d, (a, {2, 1, 1, 2}), "2,3,4,5 | 3,3,4 | 1,1,1,2", twice),
    },
    {
        WRONG(max_pool2d(ones({1, 1, 4, 4}), 2, 2, 2),
              "pad should be at most half of effective kernel size"),
        WRONG(max_pool2d(ones({1, 1, 2, 2}), 3), "max_pool2d"),
        WRONG(max_pool2d(ones({4, 4}), 2), "max_pool2d"),
        WRONG(avg_pool2d(ones({1, 1, 4, 4}), 2, 2, 2),
              "pad should be at most half of effective kernel size"),
        WRONG(avg_pool2d(ones({1, 1, 4, 4}), 2, 2, 0, false, true, 0), "divisor must be not zero"),
        WRONG(reflection_pad1d(ones({1, 3}), {3, 0}),
              "adding size should be less than the corresponding input dimension"),
    }};

TEST_CASE("pooling", "[op_table]") { kTable.run(); }

}  // namespace op_table
