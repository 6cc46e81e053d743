#include "op_table/op_table.h"

namespace op_table {

// Differences from a mean cancel: a few more units than an elementwise function.
static const Options kCentred = loose(8, "differences from a mean");

static const Table kTable{
    "normalisation",
    {
        ROW(softmax, (a, 0), "rows", twice),
        ROW(softmax, (a, -1), "rows", twice),
        ROW(softmax, (a, 1, kDouble), "rows", twice),
        ROW(log_softmax, (a, 0), "rows", twice, loose(4, "a small difference of larger numbers")),
        ROW(log_softmax, (a, -1), "rows", twice, loose(4, "a small difference of larger numbers")),
        ROW(log_softmax, (a, -1, kDouble), "rows", twice),
        ROW(layer_norm, (a, {5}), "3,5 | 5 | 2,3,5 | 0,5 | 3,4 | 2,5", twice, kCentred),
        ROW(layer_norm, (a, {5}, b, c), "3,5 5 5 | 2,3,5 5 5 | 2,5 5 5", twice, kCentred),
        ROW(layer_norm, (a, {33}, b, c, 0.1), "7,33 33 33 | 2,33 33 33", twice, kCentred),
        ROW(layer_norm, (a, {3, 4}, b, c), "2,3,4 3,4 3,4", twice, kCentred),
        ROW(batch_norm, (a, b, c, std::nullopt, std::nullopt, true, 0.1, 1e-5, true),
            "4,3 3 3 | 2,3,5 3 3 | 2,3,4,5 3 3 | 7,17 17 17 | 3,2 2 2", twice, kCentred),
        ROW(batch_norm, (a, b, c, d, e, true, 0.1, 1e-5, true),
            "4,3 3 3 3:real! 3:positive! | 2,3,4,5 3 3 3:real! 3:positive!", twice, kCentred),
        ROW(batch_norm, (a, b, c, d, e, false, 0.1, 1e-3, true),
            "4,3 3 3 3:real! 3:positive! | 2,3,4,5 3 3 3:real! 3:positive! | 3,2 2 2 2:real! "
            "2:positive!",
            twice, kCentred),
        ROW(batch_norm,
            (a, std::nullopt, std::nullopt, std::nullopt, std::nullopt, true, 0.1, 1e-5, true),
            "4,3 | 2,3,5 | 3,2", twice, kCentred),
        ROW(group_norm, (a, 2), "2,4 | 2,4,5 | 3,4,2,3 | 2,3,5 | 2,4,2", twice, kCentred),
        ROW(group_norm, (a, 3, b, c, 1e-3), "2,6,5 6 6 | 1,3,4 3 3", twice, kCentred),
        ROW(instance_norm, (a, b, c, std::nullopt, std::nullopt, true, 0.1, 1e-5, true),
            "2,3,5 3 3 | 2,3,4,5 3 3 | 1,2,4 2 2", twice, kCentred),
        ROW(instance_norm, (a, std::nullopt, std::nullopt, b, c, false, 0.1, 1e-5, true),
            "2,3,5 3:real! 3:positive! | 1,2,3 2:real! 2:positive!", twice, kCentred),
        ROW(dropout, (a, 0.5, false), "any", twice),
        ROW(dropout, (a, 0.0, true), "any", twice),
        ROW(dropout, (a, 1.0, true), "3,5 | 0 | -", none, floating_only("dropout is for training")),
    },
    {
        WRONG(softmax(ones({2, 3}), 2),
              "Dimension out of range (expected to be in range of [-2, 1], but got 2)"),
        WRONG(layer_norm(ones({2, 3}), {4}),
              "Given normalized_shape=[4], expected input with shape [*, 4]"),
        WRONG(group_norm(ones({2, 3}), 2),
              "Expected number of channels in input to be divisible by num_groups"),
        WRONG(batch_norm(ones({2, 3}), ones({2}), std::nullopt, std::nullopt, std::nullopt, true,
                         0.1, 1e-5),
              "batch_norm"),
        WRONG(batch_norm(ones({1, 3}), std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                         false, 0.1, 1e-5),
              "running_mean"),
        WRONG(dropout(ones({2}), 1.1, true),
              "dropout probability has to be between 0 and 1, but got 1.1"),
    }};

TEST_CASE("normalisation", "[op_table]") { kTable.run(); }

}  // namespace op_table
