#!/usr/bin/env python3
"""Makes the files of this folder with NumPy, safetensors and PyTorch's loader: python make.py"""
import pathlib

import numpy as np
import torch
from safetensors.torch import save_file
from torch.utils.data import DataLoader, random_split

HERE = pathlib.Path(__file__).parent
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def values(dtype, shape=(3, 4)):
    """0, 1, 2, ..."""
    return np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)


def arrays():
    for dtype in DTYPES:
        np.save(HERE / f"{dtype}.npy", values(dtype))
    np.save(HERE / "fortran.npy", np.asfortranarray(values("float32", (2, 3, 4))))
    np.save(HERE / "big_endian.npy", values(">i4"))
    np.save(HERE / "scalar.npy", np.float64(3.5))
    np.save(HERE / "vector.npy", values("int64", (5,)))
    np.save(HERE / "empty.npy", values("float32", (0, 3)))
    np.save(HERE / "complex.npy", values("complex64"))
    np.lib.format.write_array(open(HERE / "version2.npy", "wb"), values("float32"), version=(2, 0))


def safetensors():
    tensors = {name: torch.from_numpy(values(name)) for name in DTYPES}
    tensors["bfloat16"] = torch.arange(12).reshape(3, 4).to(torch.bfloat16)
    tensors["scalar"] = torch.tensor(3.5)
    tensors["empty"] = torch.empty(0, 3)
    save_file(tensors, HERE / "all.safetensors", metadata={"format": "pt", "note": "naïve \"quotes\""})


def orders():
    lines = []

    def line(name, numbers):
        lines.append(name + ": " + " ".join(str(int(n)) for n in numbers))

    def epochs(name, count, **options):
        torch.manual_seed(7)
        loader = DataLoader(range(10), batch_size=3, shuffle=True, **options)
        for epoch in range(count):
            line(f"{name}.{epoch}", [x for batch in loader for x in batch])
        line(f"{name}.after", [torch.randint(1 << 30, ())])

    epochs("shuffle", 3)
    epochs("drop_last", 2, drop_last=True)
    generator = torch.Generator().manual_seed(3)
    epochs("generator", 3, generator=generator)
    line("generator.own", [torch.randint(1 << 30, (), generator=generator)])
    epochs("workers", 2, num_workers=2)
    epochs("persistent", 3, num_workers=2, persistent_workers=True)

    torch.manual_seed(7)
    loader = DataLoader(range(10), batch_size=4)
    line("sequential.0", [x for batch in loader for x in batch])
    line("sequential.after", [torch.randint(1 << 30, ())])

    torch.manual_seed(7)
    for i, part in enumerate(random_split(range(10), [7, 3])):
        line(f"split.{i}", part)
    for i, part in enumerate(random_split(range(10), [0.55, 0.45], torch.Generator().manual_seed(5))):
        line(f"fractions.{i}", part)
    (HERE / "orders.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    arrays()
    safetensors()
    orders()
