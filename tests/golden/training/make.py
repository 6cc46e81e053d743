#!/usr/bin/env python3
"""Writes the losses of short trainings in PyTorch, which tests/training follows.

Usage: make.py   (needs the Python packages torch and numpy)
The training is that of docs/examples/side_by_side.py: the tutorial's CNN, dropout included, on the digits
that come with Taper.
"""

import pathlib
import sys
import types

root = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "docs/examples"))
import side_by_side  # noqa: E402

for dtype, batch in (("float64", 16), ("float32", 16)):
    options = types.SimpleNamespace(dtype=dtype, batch=batch, steps=100, seed=7, threads=1)
    losses = side_by_side.reference(str(root / "data/digits"), options)
    path = pathlib.Path(__file__).with_name(f"losses_{dtype}.txt")
    path.write_text("".join(f"{loss:.17g}\n" for loss in losses))
