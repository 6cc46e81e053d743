#!/usr/bin/env python3
"""Writes the golden data: what PyTorch 2.15 gives for every row of tests/op_table.

    python3 tests/golden/generate.py            # all; `generate.py reduction` does one file
    python3 tests/golden/generate.py --check    # also lists where PyTorch misses its own float64 result

For each tests/op_table/NAME.cpp it writes NAME.txt, the cases in words, and NAME.bin, the values that they point
into. Expected floating values are computed in float64 from the exact inputs and rounded once to the
result's dtype; dtype, shape and errors are those of the run in the case's own dtype.
"""

import argparse
import pathlib
import warnings

import torch

import cases
import rows

HERE = pathlib.Path(__file__).resolve().parent
OP_TABLE = HERE.parent / "op_table"
# What PyTorch throws at bad input; anything else is a mistake in a row.
REFUSALS = (RuntimeError, IndexError, ValueError)


class Writer:
    """Collects values; equal ones are stored once."""

    def __init__(self):
        self.data, self.offsets = bytearray(), {}

    def add(self, tensor):
        packed = tensor.detach().flatten().clone(memory_format=torch.contiguous_format)
        raw = bytes(packed.untyped_storage())[:packed.numel() * packed.element_size()]
        if raw not in self.offsets:
            self.data += bytes(-len(self.data) % 8)
            self.offsets[raw] = len(self.data)
            self.data += raw
        return f"{cases.NAMES[tensor.dtype]}[{','.join(map(str, tensor.shape))}]@{self.offsets[raw]}"


def differentiable(tensor):
    return tensor.is_floating_point() and tensor.requires_grad


def gradients(row, inputs, recipes):
    """d(sum of outputs * weights) / d(inputs), with weights from the recipe `real`, seed 90 + output."""
    for tensor, recipe in zip(inputs, recipes):
        if recipe.differentiable():
            tensor.requires_grad_(True)
    outputs = row.call(inputs)
    chosen = [(i, out) for i, out in enumerate(outputs) if differentiable(out)]
    # The weights have the case's dtype, whatever the run's: exact in both.
    weights = [cases.weight(out.shape, i, recipes).to(out.dtype) for i, out in chosen]
    wanted = [t for t in inputs if t.requires_grad]
    return torch.autograd.grad([out for _, out in chosen], wanted, weights, allow_unused=True)


def unsupported(error):
    return isinstance(error, NotImplementedError) or "not implemented for" in str(error)


def works(row, recipes):
    try:
        row.call([recipe.tensor() for recipe in recipes])
        return True
    except REFUSALS:
        return False


def evaluate(row, case, writer, check):
    """The right-hand side of a case's line."""
    make = lambda: [recipe.tensor() for recipe in case.recipes]
    try:
        native = row.call(make())
    except REFUSALS as error:
        return "unsupported" if unsupported(error) else f"error {str(error).splitlines()[0][:60]}"
    # In float64 a sum of float64 values is no more exact: the native run is the reference then.
    wide_run = not case.native and all(
        r.fixed or r.dtype in cases.FLOATING for r in case.recipes)
    widen = lambda ts: [t.double() if t.is_floating_point() else t for t in ts]
    expected = native
    if wide_run:
        wide = row.call(widen(make()))
        expected = [w.to(n.dtype) if n.is_floating_point() else n for w, n in zip(wide, native)]
    words = []
    if case.sums:
        magnitudes = row.call([t.double().abs() if t.is_floating_point() else t for t in make()])
        finite = [m[m.isfinite()].abs().max().item() for m in magnitudes
                  if m.is_floating_point() and m[m.isfinite()].numel()]
        words.append(f"scale={max(finite, default=0):.6g}")
    words += [writer.add(out) for out in expected]
    if check:
        report(row, case, native, expected)
    if case.tag.startswith("gradient"):
        words.append("grad")
        dtypes = [t.dtype for t in make()]
        results = iter(gradients(row, widen(make()), case.recipes))
        for recipe, dtype in zip(case.recipes, dtypes):
            if recipe.differentiable():
                gradient = next(results)
                words.append("-" if gradient is None else writer.add(gradient.to(dtype)))
    return " ".join(words)


def report(row, case, native, expected):
    for i, (n, e) in enumerate(zip(native, expected)):
        if not n.is_floating_point():
            continue
        tolerance = {torch.float16: 2**-10, torch.bfloat16: 2**-7}.get(n.dtype, 1e-6)
        if not torch.allclose(n.double(), e.double(), rtol=tolerance, atol=2e-7, equal_nan=True):
            print(f"  PyTorch itself: {row.key} {case.tag} {' '.join(map(str, case.recipes))} output {i}")


def write_file(source, check):
    writer, lines = Writer(), []
    table = [row for row in rows.read_rows(source) if row.kind != "PROMOTES"]
    if len({row.key for row in table}) < len(table):
        raise RuntimeError(f"{source.name}: two rows make the same call")
    for row in table:
        try:
            expanded = cases.expand(row, lambda recipes: works(row, recipes))
            lines.append(f"row {row.key}{' elementwise' if expanded.elementwise else ''}")
            for case in expanded.cases:
                recipes = " ".join(map(str, case.recipes))
                lines.append(f"{case.tag} {recipes} -> {evaluate(row, case, writer, check)}")
        except Exception as error:
            raise RuntimeError(f"{source.name}: {row.key}: {error}") from error
    name = source.stem
    header = f"# PyTorch {torch.__version__.split('+')[0]}, by tests/golden/generate.py\n"
    suspicious = [line for line in lines if line.startswith("gradient") and " grad " not in line]
    for line in suspicious:
        print("  no gradient:", line)
    (HERE / f"{name}.txt").write_text(header + "".join(line + "\n" for line in lines))
    (HERE / f"{name}.bin").write_bytes(writer.data)
    print(f"{name}: {len(table)} rows, {len(lines) - len(table)} cases, {len(writer.data)} bytes")


def write_promotion(source):
    """Result dtypes of two operands: for each op, mode and left dtype, the ten right dtypes; `-` for an error."""
    lines = []
    names = list(cases.DTYPES)
    for row in rows.read_rows(source):
        for mode, left, right in (("TT", [2], [2]), ("T0", [2], []), ("0T", [], [2]), ("00", [], [])):
            for a in names:
                results = []
                for b in names:
                    tensors = [torch.ones(left, dtype=cases.DTYPES[a]),
                               torch.ones(right, dtype=cases.DTYPES[b])]
                    try:
                        results.append(cases.NAMES[row.call(tensors)[0].dtype])
                    except REFUSALS as error:
                        results.append("?" if unsupported(error) else "-")
                lines.append(f"{row.op} {mode} {a} {' '.join(results)}")
    (HERE / "promotion.txt").write_text(
        f"# op, operands (T: one dimension, 0: none), left dtype; results for {' '.join(names)}\n"
        + "".join(line + "\n" for line in lines))
    print(f"promotion: {len(lines)} lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="files of tests/op_table without .cpp; default all")
    parser.add_argument("--check", action="store_true", help="compare PyTorch with its float64 result")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for source in sorted(OP_TABLE.glob("*.cpp")):
        if options.names and source.stem not in options.names:
            continue
        if source.stem == "promotion":
            write_promotion(source)
        elif any(row.kind != "PROMOTES" for row in rows.read_rows(source)):
            write_file(source, options.check)


if __name__ == "__main__":
    main()
