#include "op_table/op_table.h"

namespace op_table {

static const Table kTable{
    "activation",
    {
        ROW(relu, (a), "any spaced", twice),
        ROW(relu6, (a), "any spaced", twice),
        ROW(elu, (a), "any spaced", twice),
        ROW(elu, (a, 0.5, 2.0, 1.5), "any spaced", twice),
        ROW(selu, (a), "any spaced", twice),
        ROW(celu, (a), "any spaced", twice),
        ROW(celu, (a, 0.5), "any spaced", twice),
        ROW(leaky_relu, (a), "any spaced", twice),
        ROW(leaky_relu, (a, 0.25), "any spaced", twice),
        ROW(gelu, (a), "any", twice),
        ROW(gelu, (a, "tanh"), "any", twice),
        ROW(silu, (a), "any", twice),
        ROW(mish, (a), "any", twice),
        ROW(softplus, (a), "any", twice),
        ROW(softplus, (a, 2, 3), "any spaced", twice),
        ROW(log_sigmoid, (a), "any", twice),
        ROW(hardtanh, (a), "any spaced", twice),
        ROW(hardtanh, (a, -0.5, 2), "any spaced", twice),
        ROW(hardsigmoid, (a), "any spaced", twice,
            loose_double(1e5, "PyTorch's backward takes 1/6 in float32")),
        ROW(hardswish, (a), "any spaced", twice),
        ROW(softsign, (a), "any spaced", twice),
        ROW(tanhshrink, (a), "native any", twice,
            {.looser = 2, .reason = "a - tanh(a) cancels; CUDA's tanh is off by up to two units"}),
        ROW(softshrink, (a), "any spaced", twice),
        ROW(hardshrink, (a), "any spaced", twice),
        ROW(threshold, (a, 0.5, -1), "any spaced", twice),
        ROW(prelu, (a, b), "2,3,5:spaced 3 | 2,3:spaced 1 | 4:spaced 1", twice),
        ROW(glu, (a), "2,6 | 3,4,2 | 8 | 2,3 | 0,4", twice),
        ROW(glu, (a, 0), "6,3 | 4 | 5,2", twice),
    },
    {
        WRONG(gelu(ones({2}), "none at all"), "approximate argument must be either none or tanh"),
        WRONG(glu(ones({2, 3})), "must be even"),
        WRONG(softshrink(ones({2}), -1), "lambda must be greater or equal to 0"),
    }};

TEST_CASE("activation", "[op_table]") { kTable.run(); }

}  // namespace op_table
