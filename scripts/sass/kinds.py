"""What each kernel is expected to be: one line for each, with its exceptions and their reasons."""
import re
from typing import NamedTuple, Union

SIZES = {"unsigned char": 1, "signed char": 1, "bool": 1, "char": 1,
         "unsigned short": 2, "short": 2, "__half": 2, "__nv_bfloat16": 2,
         "unsigned int": 4, "int": 4, "float": 4,
         "unsigned long": 8, "long": 8, "double": 8, "uint4": 16}
TYPE = re.compile(r"(?<!\w)(" + "|".join(sorted(SIZES, key=len, reverse=True)) + r")(?!\w)")


class Kind(NamedTuple):
    """What a kernel does.

    access    the 16-byte accesses that the check demands: both, loads, stores; either: the side
              whose elements are larger; none where it works element by element, by nature; cached
              where most of what it reads was read by others before. mma: tensor cores; fma: a
              product without them
    side      of the accesses that tell how many elements the main way has: those of its widest
    arrays    how many arrays of that side have a number for each element
    element   the template argument whose type an element has, or that type
    packet    the template argument that is the elements of a packet: 16 bytes, else as if `none`
    """
    access: str
    side: str = "stores"
    arrays: int = 1
    element: Union[int, str] = 0
    packet: Union[int, None] = None


KINDS = {
    # elementwise.cuh, copies
    "elementwise_packets": Kind("either", "loads", 1, 2),
    "elementwise_strided": Kind("none", "loads", 1, 2),
    "cast_strided": Kind("none"),
    "transpose_tiles": Kind("none"),
    "fill_packets": Kind("stores", packet=1),
    "range_packets": Kind("stores", packet=1),
    "triangle_packets": Kind("both", packet=1),
    # reductions, scans
    "reduce_rows": Kind("loads", "loads"),
    "reduce_columns": Kind("loads", "loads"),
    "fold_partials": Kind("none", "loads"),
    "scan_rows": Kind("both"),
    "scan_columns": Kind("none"),
    "scan_carries": Kind("none"),
    # rows
    "softmax_rows_in_registers": Kind("both"),
    "softmax_rows_online": Kind("both"),
    "softmax_columns_online": Kind("none"),
    "softmax_backward_rows_in_registers": Kind("both"),
    "softmax_backward_rows_two_pass": Kind("both"),
    "softmax_backward_columns_two_pass": Kind("none"),
    "layer_norm_rows_in_registers": Kind("both"),
    "layer_norm_rows_welford": Kind("both"),
    "layer_norm_of_nothing": Kind("none", "stores", 2),
    "layer_norm_backward_rows_in_registers": Kind("both"),
    "layer_norm_backward_rows_two_pass": Kind("both"),
    "layer_norm_parameters_chunks": Kind("none", "loads", 2),
    "layer_norm_parameters_finish": Kind("none", "loads", 2),
    "cross_entropy_rows": Kind("loads", "loads"),
    "cross_entropy_backward_rows": Kind("both"),
    # channels
    "batch_norm_moments_planes": Kind("loads", "loads"),
    "batch_norm_moments_columns": Kind("none", "loads"),
    "batch_norm_finish_training": Kind("cached"),
    "batch_norm_finish_evaluation": Kind("cached"),
    "batch_norm_normalise": Kind("both"),
    "batch_norm_sums_planes": Kind("loads", "loads", 2),
    "batch_norm_sums_columns": Kind("none", "loads", 2),
    "batch_norm_finish_sums": Kind("cached"),
    "batch_norm_input_gradient": Kind("both"),
    # products and convolutions
    "product_mma_three_stages": Kind("mma"),
    "product_fma_double_buffered": Kind("fma"),
    "product_sum_parts": Kind("cached"),
    "fill_rows_with_bias": Kind("none"),
    "conv_forward_per_output": Kind("cached"),
    "conv_data_per_input": Kind("cached"),
    "conv_weight_per_tap": Kind("cached"),
    "conv_bias_relu_in_packs": Kind("both", packet=1),
    # pooling
    "average_pool_per_output": Kind("cached"),
    "average_pool_gradient_per_input": Kind("cached"),
    "max_pool_per_output": Kind("cached"),
    "max_pool_gradient_per_input": Kind("cached"),
    "resize_nearest_per_output": Kind("cached"),
    "resize_bilinear_per_output": Kind("cached"),
    "resize_gradient_per_input": Kind("cached"),
    # indices, sets, sorting: where an element comes from is known only there
    "gather_units": Kind("none"),
    "add_up_indices": Kind("none", element="long"),
    "make_targets": Kind("none", element="long"),
    "update_columns": Kind("none"),
    "update_groups": Kind("none"),
    "update_long": Kind("none"),
    "count_in_shared": Kind("none", "loads", element="long"),
    "count_in_memory": Kind("none", "loads", element="long"),
    "make_bin_keys": Kind("none", "loads", element="long"),
    "sum_bins": Kind("none", "loads"),
    "count_set": Kind("none", "loads"),
    "add_counts": Kind("none", element="long"),
    "list_set": Kind("none", "loads"),
    "select_set": Kind("none", "loads"),
    "scatter_set": Kind("none", "loads"),
    "make_keys": Kind("none"),
    "put_rows": Kind("none"),
    "radix_count": Kind("none", "loads"),
    "radix_offsets": Kind("none"),
    "radix_scatter": Kind("none"),
    "sort_short_rows": Kind("none"),
    "select_long_rows": Kind("none", "loads"),
    # random numbers
    "random_fill": Kind("stores", element=1),
    "random_bernoulli_each": Kind("none"),
    "permutation_cut_keys": Kind("none"),
    "permutation_store": Kind("none"),
    "permutation_shuffle_runs": Kind("none"),
    "dropout_packs": Kind("both", packet=1),
    "dropout_elements": Kind("none"),
    "dropout_backward_packs": Kind("both"),
    # recurrent cells: an element is a unit of the hidden state
    "gru_cell_packs": Kind("both", "stores", 5, packet=1),
    "gru_cell_backward_packs": Kind("both", "stores", 7, packet=1),
    "lstm_cell_packs": Kind("both", "stores", 6, packet=1),
    "lstm_cell_backward_packs": Kind("both", "stores", 5, packet=1),
    # optimizers
    "sgd_step_chunks": Kind("both", "stores", 2),
    "adam_step_chunks": Kind("both", "stores", 4),
    "rmsprop_step_chunks": Kind("both", "stores", 4),
    "adagrad_step_chunks": Kind("both", "stores", 2),
    "multi_scale_chunks": Kind("both"),
    "multi_unscale_chunks": Kind("both"),
    "multi_zero_chunks": Kind("stores", element="unsigned char"),
    "multi_norm_chunks": Kind("loads", "loads", element=1),
    "multi_norm_finish": Kind("none", "loads", element=1),
}

# (kernels, rule, reason): what a rule finds there is as it should be. Names as the check prints
# them; rules: local, access, occupancy.
EXCEPTIONS = [
    (r"elementwise_(packets|strided)<(Sin|Cos|Tan|Digamma), 1, double>", "local",
     "CUDA's own reduction of large float64 arguments indexes an array of 40 bytes"),
    (r"random_fill<DrawUniformDouble, double, CauchyMap<double>>", "local",
     "the same, for the tangent"),
    (r"elementwise_packets<GeluGrad, 2, double>", "occupancy",
     "erf and exp of two elements side by side; float64 units are the limit, not memory"),
    (r"reduce_columns<(ArgOf|\w+)<(__half|__nv_bfloat16|short|unsigned short|signed char|"
     r"unsigned char|bool).*", "access",
     "a thread keeps 64 bytes of partial results, so that it reads fewer narrow elements at once"),
    (r"reduce_columns<MomentsOp<float>>", "access",
     "three numbers for each column: a thread takes two columns"),
    (r"scan_rows<\w+<((un)?signed char|bool)(, \w+)?>, \d+>", "access",
     "eight elements a thread, whose running values have eight bytes each"),
    (r"elementwise_packets<Is(Inf|Nan|Finite), 1, (int|long|short)>", "access",
     "integers are always finite: nothing is read"),
    (r"(layer_norm_rows_welford<double>|lstm_cell_packs<double, 2>)", "local",
     "one float64 on sm_100, outside of the loop over memory"),
    (r"random_fill<\w+, (__half|__nv_bfloat16|(un)?signed char|(unsigned )?short|bool), .*", "access",
     "four neighbours a thread, as PyTorch's numbers lie: 8 or 4 bytes of narrow elements"),
]


class Kernel(NamedTuple):
    """A kernel's name taken apart."""
    template: str
    arguments: list

    @staticmethod
    def of(name):
        template, _, rest = name.partition("<")
        arguments, depth, start = [], 0, 0
        for i, letter in enumerate(rest):
            if letter in "<(":
                depth += 1
            elif letter in ">)":
                depth -= 1
            if (letter == "," and depth == 0) or depth < 0:
                arguments.append(rest[start:i].strip())
                start = i + 1
        return Kernel(template, arguments)

    @property
    def kind(self):
        kind = KINDS[self.template]
        if self.template.startswith("elementwise_"):
            # Where has a mask first, which is not of the element's type.
            masks = self.arguments[0].startswith("Where")
            kind = kind._replace(arrays=int(self.arguments[1]) - masks)
        if kind.packet is not None:
            packet = int(self.arguments[kind.packet]) * SIZES[self.element(kind)]
            if packet < 16:
                kind = kind._replace(access="none")
        return kind

    def element(self, kind):
        """The type of an element."""
        if isinstance(kind.element, str):
            return kind.element
        text = ", ".join(self.arguments[kind.element:])
        found = TYPE.search(text)
        return found.group(1) if found else None

    def dynamic_shared(self):
        """Bytes of shared memory that the launch gives, as the host computes them."""
        if self.template == "product_mma_three_stages":
            tile, *sources = self.arguments[:3]
            rows, columns = map(int, Kernel.of(tile).arguments[1:3])
            depth, stages, size, pad = 32, 3, 2, 8
            numbers = 0
            for lines, source in ((rows, sources[0]), (columns, sources[1])):
                if is_deep(source):
                    numbers += lines * (depth + pad)
                else:
                    numbers += depth * (lines + pad)
            return size * stages * numbers
        if self.template == "count_in_shared":
            return 4 * 4096  # kSharedBins
        return 0


def is_deep(source):
    """Whether an operand's neighbours lie along the depth: device/product.cuh, patches.cuh."""
    kernel = Kernel.of(source)
    if kernel.template == "MatrixSource":
        return kernel.arguments[1] == "true"
    return kernel.template in ("StridedSource", "TurnedWeights", "GradRows", "PatchRows")


def exception(name, rule):
    """The reason why the rule does not hold for the kernel, or None."""
    return next((why for kernels, of, why in EXCEPTIONS
                 if of == rule and re.fullmatch(kernels, name)), None)
