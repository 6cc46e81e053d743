#!/usr/bin/env python3
"""Makes the four files of this folder from scikit-learn's copy of the UCI optical digits.

    pip install numpy scikit-learn
    python make.py [FOLDER]

The 1,797 images of 8x8 pixels (0 to 16) become 28x28 (0 to 255) by bilinear interpolation with the
corners of both grids half a pixel outside, as torch.nn.functional.interpolate(align_corners=False)
places them. The first 1,437 images are for training and the last 360 for testing.
"""
import gzip
import pathlib
import struct
import sys

import numpy
from sklearn.datasets import load_digits

SIZE, TRAIN = 28, 1437


def bilinear(images, size):
    old = images.shape[-1]
    at = numpy.clip((numpy.arange(size) + 0.5) * old / size - 0.5, 0, old - 1)
    low = numpy.minimum(at.astype(int), old - 2)
    weights = numpy.zeros((size, old))
    weights[numpy.arange(size), low] = 1 - (at - low)
    weights[numpy.arange(size), low + 1] = at - low
    return weights @ images @ weights.T


def write_idx(path, array):
    header = struct.pack(">HBB", 0, 0x08, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as out:
        out.write(header + array.tobytes())


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    digits = load_digits()
    images = numpy.rint(bilinear(digits.images, SIZE) * 255 / 16).astype(numpy.uint8)
    labels = digits.target.astype(numpy.uint8)
    for name, part in (("train", slice(0, TRAIN)), ("t10k", slice(TRAIN, None))):
        write_idx(folder / f"{name}-images-idx3-ubyte.gz", images[part])
        write_idx(folder / f"{name}-labels-idx1-ubyte.gz", labels[part])


if __name__ == "__main__":
    main()
