#!/usr/bin/env python3
"""Runs one training in PyTorch and in Taper and prints the two columns of losses.

Usage: side_by_side.py --program build/release/bin/side_by_side [--steps 100] [--dtype float64] ...
Needs the Python packages torch and numpy. The exit status is 1 when the columns part further than
the bounds: float64 1e-9 relative; float32 1e-4 over 5 steps and 2.6 % after 100.
"""

import argparse
import gzip
import os
import subprocess
import sys

import numpy
import torch
from torch import nn


class CNN(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(64 * 7 * 7, 256)
        self.dropout = nn.Dropout(0.5)
        self.fc2 = nn.Linear(256, classes)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = self.dropout(torch.relu(self.fc1(x.flatten(1))))
        return self.fc2(x)


def read_idx(folder, name, header):
    for suffix, opener in ((".gz", gzip.open), ("", open)):
        path = os.path.join(folder, name + suffix)
        if os.path.exists(path):
            with opener(path, "rb") as file:
                return numpy.frombuffer(file.read(), numpy.uint8, offset=header)
    sys.exit(f"{folder}: no {name}")


def reference(folder, options):
    dtype = getattr(torch, options.dtype)
    torch.set_num_threads(options.threads)
    labels = torch.from_numpy(read_idx(folder, "train-labels-idx1-ubyte", 8).astype("int64"))
    pixels = torch.from_numpy(read_idx(folder, "train-images-idx3-ubyte", 16).copy())
    images = pixels.view(len(labels), 1, 28, 28).float() / 255
    torch.manual_seed(options.seed)
    model = CNN(int(labels.max()) + 1).to(dtype)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = len(labels) // options.batch
    for step in range(options.steps):
        first = step % batches * options.batch
        inputs = (images[first : first + options.batch].to(dtype) - 0.5) / 0.5
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels[first : first + options.batch])
        loss.backward()
        optimizer.step()
        yield loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--program", default="build/release/bin/side_by_side")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", default="float64", choices=["float32", "float64"])
    parser.add_argument("--data", default="")
    options = parser.parse_args()

    if not os.path.exists(options.program):
        parser.error(f"there is no {options.program}: scripts/test builds it, and after scripts/demo "
                     "`cmake --build build/release --target side_by_side`")
    command = [options.program]
    for name in ("steps", "batch", "seed", "threads", "dtype"):
        command += [f"--{name}", str(getattr(options, name))]
    if options.data:
        command += ["--data", options.data]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)  # it has said why
    folder, *ours = done.stdout.split("\n")
    print(f"{'step':>5} {'PyTorch':>22} {'Taper':>22} {'relative':>10}")
    worst_early = worst = 0.0
    for step, (theirs, mine) in enumerate(zip(reference(folder, options), map(float, ours))):
        gap = abs(theirs - mine) / abs(theirs)
        worst = max(worst, gap)
        if step < 5:
            worst_early = max(worst_early, gap)
        print(f"{step + 1:>5} {theirs:>22.17g} {mine:>22.17g} {gap:>10.1e}", flush=True)
    print(f"largest relative difference: {worst:.2e}")
    good = worst <= 1e-9 if options.dtype == "float64" else worst_early <= 1e-4 and worst <= 0.026
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
