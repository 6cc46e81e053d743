"""Inputs of the golden cases, made from a few words: `f32[2,3]:real:7` is shape 2x3, dtype float32, values
from the domain `real`, seed 7. tests/op_table/recipe.cpp computes the same values, bit for bit: everything here
is integer arithmetic followed by an exact scaling, so no input has to be stored.
"""

import numpy as np
import torch

DTYPES = {
    "f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8,
    "u8": torch.uint8, "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATING = ("f32", "f64", "f16", "bf16")

# Floating values are multiples of 2^-shift, few enough to be exact in the dtype.
SHIFT = {"f64": 40, "f32": 20, "f16": 7, "bf16": 5}

# domain: (lowest, highest) in sixteenths for floating dtypes, (lowest, highest) for integers.
RANGES = {
    "real": ((-48, 48), (-10, 10)),
    "positive": ((2, 64), (1, 9)),
    "unit": ((-15, 15), (-1, 1)),
    "above_one": ((17, 64), (2, 9)),
    "probability": ((1, 15), (0, 1)),
    "nonzero": ((4, 64), (1, 9)),  # with a random sign
    "negative": ((-64, -2), (-9, -1)),
    "shift": ((0, 64), (0, 6)),
    "count": ((0, 64), (0, 3)),
}
# Odd sixteenths: never at a multiple of 1/8, where piecewise functions have their kinks.
SPACED = range(-24, 24)

# The points where functions are special; the order is that of recipe.cpp.
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 2.0, -2.0, float("inf"), float("-inf"),
           float("nan"), 100.0, -100.0, 65504.0, 6.103515625e-05, 5.9604644775390625e-08]

MASK64 = 0xFFFFFFFFFFFFFFFF


def hashes(seed, n):
    """splitmix64 of seed and position."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed * 0xD1342543DE82EF95 & MASK64) + np.arange(
            1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


class Recipe:
    """One input. `constant`: no gradient is asked for it. `fixed`: keeps its dtype in the run over all dtypes."""

    def __init__(self, shape, domain, seed, dtype="f32", constant=False, fixed=False):
        self.shape, self.domain, self.seed, self.dtype = list(shape), domain, seed, dtype
        self.constant, self.fixed = constant, fixed

    def with_dtype(self, dtype):
        return self if self.fixed else Recipe(self.shape, self.domain, self.seed, dtype, self.constant)

    @property
    def numel(self):
        return int(np.prod(self.shape, dtype=np.int64))

    def differentiable(self):
        return self.dtype in FLOATING and not self.constant and not self.fixed

    def __str__(self):
        shape = ",".join(map(str, self.shape))
        return f"{self.dtype}[{shape}]:{self.domain}:{self.seed}{'!' if not self.differentiable() else ''}"

    def values(self):
        """float64, or int64 for integers."""
        n, domain, dtype = self.numel, self.domain, self.dtype
        z = hashes(self.seed, n)
        pick = z >> np.uint64(32)
        if domain.startswith("index"):
            return (pick % np.uint64(int(domain[5:]))).astype(np.int64)
        if domain == "special":
            return np.array([SPECIAL[i % len(SPECIAL)] for i in range(n)])
        if dtype == "bool" or domain == "mask":
            return (z & np.uint64(1)).astype(np.int64)
        if domain == "sign":
            return (z & np.uint64(1)).astype(np.int64) * 2 - 1
        if domain in ("distinct", "sorted"):
            rank = np.arange(n)
            if domain == "distinct":
                rank = np.empty(n, dtype=np.int64)
                rank[np.argsort(z, kind="stable")] = np.arange(n)
            low = 0 if dtype == "u8" else n // 2
            return (2 * (rank - low) + 1) / 16 if dtype in FLOATING else rank - low
        if domain == "spaced":
            if dtype in FLOATING:
                return (2 * (SPACED.start + (pick % np.uint64(len(SPACED))).astype(np.int64)) + 1) / 16
            domain = "real"
        (low16, high16), (low, high) = RANGES[domain]
        if dtype in FLOATING:
            shift = SHIFT[dtype]
            low, high = (low16 << shift) // 16, (high16 << shift) // 16
        elif dtype == "u8" and low < 0:
            low, high = 0, high - low
        count = np.uint64(high - low + 1)
        # 24-bit ranges and below take the high half; float64's 45 bits need the whole word.
        value = low + ((z if count > 2**32 else pick) % count).astype(np.int64)
        if domain == "nonzero" and dtype != "u8":
            value = np.where(z & np.uint64(1), value, -value)
        return value / 2.0 ** SHIFT[dtype] if dtype in FLOATING else value

    def tensor(self, dtype=None):
        values = torch.from_numpy(np.ascontiguousarray(self.values())).reshape(self.shape)
        return values.to(DTYPES[dtype or self.dtype])
