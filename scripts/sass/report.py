"""docs/cuda-kernels.md and docs/cuda-kernels.json."""
import json
import os
from collections import defaultdict

from cards import CARDS, SHARED, blocks_on_multiprocessor, work_of
from kinds import EXCEPTIONS, TYPE, Kernel

GOALS = {"memory": {"share": 0.85, "of": "a copy on the device"},
         "gemm": {"share": 0.97, "of": "bare cuBLAS"}}
# Instances that speak for their template, where they are there; else one of float's.
EXAMPLES = (
    "elementwise_packets<Add, 2, float>", "elementwise_strided<Add, 2, float>",
    "reduce_rows<FoldOp<float, SumRule>>", "reduce_columns<FoldOp<float, SumRule>>",
    "fill_packets<unsigned int, 4>", "transpose_tiles<MoveTile<unsigned int>>",
    "product_fma_double_buffered<FmaTile<float, 128, 128, 16, 8, 8>, MatrixSource<float, true, "
    "false>, MatrixSource<float, false, false>, MatrixSink<float, float>>",
    "product_mma_three_stages<MmaTile<__half, 128, 128, 2, 4>, MatrixSource<__half, true, true>, "
    "MatrixSource<__half, false, true>, MatrixSink<__half, float>>")
# Of the JSON file. A number where it is the same for all, else one for each architecture or card.
COLUMNS = {
    "threads": "of a block at most", "blocks": "that the launch bound states, on a multiprocessor",
    "shared": "bytes of shared memory of a block", "registers": "of a thread",
    "resident": "threads on a multiprocessor", "bytes": "of an element",
    "instructions": "for an element", "limit": "what takes the most time",
    "copy": "expected share of the speed of a copy on the device",
    "peak": "share of the time that the tensor cores, or the float32 units, are busy"}
PARTS = {"memory": "memory", "issue": "issue slots", "alu": "integer units", "fma": "float32 units",
         "double": "float64 units", "special": "special functions", "tensor": "tensor cores"}

HEAD = """# What the kernels' machine code says

Written by `scripts/sass_check --write` from what nvcc {nvcc} makes; CI fails if it is out of date.
Nothing here was measured: it is what can be known without a card, and what `scripts/gpu_check`
compares with when there is one. [cuda-kernels.json](cuda-kernels.json) has every kernel.

## How to read it

**Registers, shared memory, threads.** A multiprocessor has 65,536 registers, given out to warps 256
at a time, and {shared_a100} KiB (A100) or {shared_h100} KiB (H100, B200) of shared memory; 2048
threads are the most. `blocks` is what a kernel states, `__launch_bounds__(threads, blocks)`; the
check fails below it, and where nothing is stated below half of the threads.

**The main way.** Of all ways through a kernel, the one that moves the most data by 16-byte
accesses; where that is in loops, one turn of those. Bytes and instructions are counted there and
divided by the elements that it handles. All bytes are taken to come from memory, though some are in
a cache: the parameters of a norm, a row's second reading.

**The limit.** A warp has 32 elements under way, and a multiprocessor four parts that each take one
instruction of a warp in a cycle. For 32 elements, then:

| what | cycles of one of the four parts | A100 | H100 |
|---|---|---|---|
| memory | 32 x bytes / what memory gives in one | {bytes_a100:.2f} bytes | {bytes_h100:.2f} bytes |
| issue slots | instructions | 1 | 1 |
{pipes}

The largest is the limit. Memory gives {bandwidth_a100} GB/s (A100 with 80 GB, {mp_a100}
multiprocessors, {ghz_a100} GHz) and {bandwidth_h100} GB/s (H100 SXM, {mp_h100}, {ghz_h100} GHz):
a kernel is bound by memory as long as a byte costs fewer than {balance_a100:.0f} instructions on an
A100 and {balance_h100:.0f} on an H100.

**The goals.** {memory:.0%} of a copy on the device where memory is the limit; where it is not, that
times memory's share of the largest (`copy` in the tables). For products {gemm:.0%} of bare cuBLAS,
by way of cuBLAS; our own are there for machines without it, and `peak` is what share of the time
their inner loop keeps the tensor cores, or the float32 units, busy. On an H100 `mma.sync`, which
they use, reaches some 60 % of what the tensor cores can do by other instructions.
"""


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".") if value < 100 else f"{value:.0f}"


def span(values):
    low, high = min(values), max(values)
    return f"{low}" if low == high else f"{low}-{high}"


def rows_of(kernels):
    """A dictionary for each kernel, over all architectures."""
    rows = {}
    for kernel in kernels:
        named = Kernel.of(kernel["name"])
        # A kernel of a header is in several objects, and the same in all.
        row = rows.setdefault(kernel["name"], {
            "kernel": kernel["name"], "file": kernel["file"], "threads": kernel["threads"],
            "blocks": kernel["blocks"], "shared": kernel["shared"] + named.dynamic_shared(),
            "registers": {}, "resident": {}})
        row["registers"][kernel["arch"]] = kernel["registers"]
        row["resident"][kernel["arch"]] = kernel["threads"] * blocks_on_multiprocessor(
            kernel, named.dynamic_shared())
        for card in CARDS:
            if card.arch == kernel["arch"]:
                add_work(row, kernel, named, card)
    return [rows[name] for name in sorted(rows)]


def add_work(row, kernel, named, card):
    work = work_of(kernel, named, card)
    if not work:
        return
    row.setdefault("limit", {})[card.name] = work.limit()
    if named.kind.access in ("mma", "fma"):
        pipe = "tensor" if named.kind.access == "mma" else "fma"
        row.setdefault("peak", {})[card.name] = round(work.share(pipe), 2)
        return
    row.setdefault("bytes", {})[card.name] = round(work.bytes, 2)
    row.setdefault("instructions", {})[card.name] = round(work.instructions, 1)
    if named.kind.access == "cached":
        return
    row.setdefault("copy", {})[card.name] = round(GOALS["memory"]["share"] * work.share("memory"),
                                                  2)


def shorter(row):
    """Without zeros, and once what is the same for all architectures or cards."""
    short = {}
    for key, value in row.items():
        if isinstance(value, dict) and len(set(value.values())) == 1:
            value = next(iter(value.values()))
        if value != 0 or key == "copy":
            short[key] = value
    return short


def as_json(rows, nvcc):
    """One line a kernel, so that a change can be read."""
    head = {"nvcc": nvcc, "goals": GOALS,
            "columns": COLUMNS, "limits": PARTS,
            "cards": {card.name: {"arch": card.arch, "multiprocessors": card.multiprocessors,
                                  "gigahertz": card.gigahertz, "bandwidth": card.bandwidth}
                      for card in CARDS}}
    lines = [json.dumps(key) + ": " + json.dumps(value) + "," for key, value in head.items()]
    body = ",\n".join("  " + json.dumps(shorter(row)) for row in rows)
    return "{\n" + "\n".join(lines) + '\n"kernels": [\n' + body + "\n]\n}\n"


def example_of(rows):
    for row in rows:
        if row["kernel"] in EXAMPLES:
            return row
    told = [row for row in rows if "limit" in row] or rows
    # Packets rather than single elements, float rather than others.
    return min(told, key=lambda row: (Kernel.of(row["kernel"]).kind.access in ("none", "cached"),
                                      TYPE.findall(row["kernel"])[:1] != ["float"],
                                      row["kernel"]))


def on_cards(row, key, write=number):
    values = [write(row[key][card.name]) for card in CARDS if card.name in row.get(key, {})]
    return values[0] if len(set(values)) == 1 else " / ".join(values) if values else ""


def limits(row):
    return on_cards(row, "limit", PARTS.get)


def head(nvcc):
    a100, h100 = CARDS
    pipes = "\n".join(f"| {PARTS[pipe]} | such instructions x | {a100.cycles[pipe]} | "
                      f"{h100.cycles[pipe]} |" for pipe in ("alu", "fma", "double", "special",
                                                            "tensor"))
    return HEAD.format(
        nvcc=nvcc, pipes=pipes, memory=GOALS["memory"]["share"], gemm=GOALS["gemm"]["share"],
        shared_a100=SHARED["sm_80"], shared_h100=SHARED["sm_90"],
        bytes_a100=a100.bytes_per_cycle(), bytes_h100=h100.bytes_per_cycle(),
        bandwidth_a100=a100.bandwidth, bandwidth_h100=h100.bandwidth,
        mp_a100=a100.multiprocessors, mp_h100=h100.multiprocessors, ghz_a100=a100.gigahertz,
        ghz_h100=h100.gigahertz, balance_a100=32 / a100.bytes_per_cycle(),
        balance_h100=32 / h100.bytes_per_cycle())


def as_markdown(rows, nvcc):
    families = defaultdict(list)
    for row in rows:
        families[Kernel.of(row["kernel"]).template].append(row)
    archs = sorted({arch for row in rows for arch in row["registers"]},
                   key=lambda arch: int(arch[len("sm_"):]))
    out = [head(nvcc), "## Resources\n",
           f"All instances of each kernel, {len(rows)} in all. Registers of a thread on "
           f"{', '.join(archs)}; bytes of shared memory of a block; threads of a multiprocessor "
           "(the fewest of all instances) on A100 and H100.\n",
           "| kernel | instances | bound | " + " | ".join(archs) + " | shared | threads |",
           "|---" * (5 + len(archs)) + "|"]
    for name, own in sorted(families.items()):
        bounds = sorted({f"{row['threads']}" + (f", {row['blocks']}" if row["blocks"] else "")
                         for row in own})
        threads = [min(row["resident"].get(card.arch, 0) for row in own) for card in CARDS]
        out.append(f"| `{name}` | {len(own)} | {'; '.join(bounds)} | " +
                   " | ".join(span([row["registers"][arch] for row in own if arch in
                                    row["registers"]]) for arch in archs) +
                   f" | {span([row['shared'] for row in own])} | " +
                   " / ".join(map(str, dict.fromkeys(threads))) + " |")
    out += ["\n## Work of an element\n",
            "One instance of each kernel, on A100 / H100 where they differ.\n",
            "| kernel | bytes | instructions | limit | copy or peak |", "|---|---|---|---|---|"]
    for name, own in sorted(families.items()):
        row = example_of(own)
        share = on_cards(row, "peak" if "peak" in row else "copy", "{:.0%}".format)
        out.append(f"| `{row['kernel']}` | {on_cards(row, 'bytes')} | "
                   f"{on_cards(row, 'instructions')} | {limits(row)} | {share} |")
    slow = [row for row in rows if "copy" in row and row["limit"].get("H100") != "memory"
            and Kernel.of(row["kernel"]).kind.access != "none"]
    out += ["\n## Contiguous kernels that memory does not limit\n",
            "On an H100, of the kernels that move 16 bytes at a time.\n",
            "| kernel | bytes | instructions | limit | copy |", "|---|---|---|---|---|"]
    for row in slow:
        out.append(f"| `{row['kernel']}` | {on_cards(row, 'bytes')} | "
                   f"{on_cards(row, 'instructions')} | {limits(row)} | "
                   f"{on_cards(row, 'copy', '{:.0%}'.format)} |")
    out += ["\n## Exceptions from the rules\n", "| kernels | rule | why |", "|---|---|---|"]
    out += ["| `{}` | {} | {} |".format(kernels.replace("|", "\\|"), rule, why)
            for kernels, rule, why in EXCEPTIONS]
    return "\n".join(out) + "\n"


def files(root, kernels, nvcc):
    """{path: text}"""
    rows = rows_of(kernels)
    return {os.path.join(root, "docs", "cuda-kernels.md"): as_markdown(rows, nvcc),
            os.path.join(root, "docs", "cuda-kernels.json"): as_json(rows, nvcc)}
