#!/usr/bin/env python3
"""Writes nn.txt: what PyTorch's modules give for tests/nn.

    python3 tests/golden/generate_nn.py

`bits NAME HASH` is the FNV-1a hash of a parameter's bytes after manual_seed(0); `values NAME NUMBERS` are the elements of
a tensor in float64; `digest NAME SUM DOT` stands for a larger one: its sum, and its product with cos(0), cos(1), ...
"""

import pathlib

import torch
from torch import nn

OUT = pathlib.Path(__file__).resolve().parent / "nn.txt"
lines = []


def wave(*sizes, phase=0.0):
    n = torch.Size(sizes).numel()
    return (0.8 * torch.sin(0.7 * torch.arange(n, dtype=torch.float64) + phase)).reshape(sizes)


def bits(name, tensor):
    value = 0xCBF29CE484222325
    for byte in tensor.detach().contiguous().flatten().view(torch.uint8).tolist():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    lines.append(f"bits {name} {value:016x}")


def values(name, tensor):
    numbers = " ".join(f"{x:.17g}" for x in tensor.detach().double().flatten().tolist())
    lines.append(f"values {name} {numbers}")


def digest(name, tensor):
    flat = tensor.detach().double().flatten()
    dot = (flat * torch.cos(torch.arange(flat.numel(), dtype=torch.float64))).sum()
    lines.append(f"digest {name} {flat.sum().item():.17g} {dot.item():.17g}")


def seeded(make):
    torch.manual_seed(0)
    return make()


def initial_weights():
    modules = {
        "Linear": lambda: nn.Linear(30, 20),
        "LinearNoBias": lambda: nn.Linear(3, 2, bias=False),
        "Bilinear": lambda: nn.Bilinear(4, 3, 5),
        "Conv1d": lambda: nn.Conv1d(4, 6, 5),
        "Conv2d": lambda: nn.Conv2d(4, 8, (3, 5), groups=2),
        "ConvTranspose1d": lambda: nn.ConvTranspose1d(4, 6, 3),
        "ConvTranspose2d": lambda: nn.ConvTranspose2d(4, 6, 3, groups=2),
        "RNN": lambda: nn.RNN(3, 4),
        "LSTM": lambda: nn.LSTM(5, 7, num_layers=2, bidirectional=True),
        "GRU": lambda: nn.GRU(5, 7, num_layers=2, bias=False),
        "RNNCell": lambda: nn.RNNCell(5, 7),
        "LSTMCell": lambda: nn.LSTMCell(5, 7),
        "GRUCell": lambda: nn.GRUCell(5, 7),
        "CNN": lambda: nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(128, 10)),
    }
    for name, make in modules.items():
        for key, parameter in seeded(make).named_parameters():
            bits(f"{name}.{key}", parameter)
    for sizes in ((3, 5), (5, 3), (4, 2, 3), (70, 100)):
        torch.manual_seed(0)
        weight = nn.init.orthogonal_(torch.empty(sizes, dtype=torch.float64), 2)
        digest("orthogonal." + ".".join(map(str, sizes)), weight)


def recurrent():
    kinds = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN}
    settings = {
        "plain": dict(),
        "deep": dict(num_layers=2, bidirectional=True, batch_first=True),
        "nobias": dict(num_layers=2, bias=False),
        "unbatched": dict(bidirectional=True),
    }
    for kind, make in kinds.items():
        for setting, options in settings.items():
            run_recurrent(f"{kind}.{setting}", kind, seeded(lambda: make(3, 4, **options)).double(),
                          options, unbatched=setting == "unbatched")
    model = seeded(lambda: nn.RNN(3, 4, nonlinearity="relu")).double()
    run_recurrent("RNN.relu", "RNN", model, {}, unbatched=False)
    relu = lambda *sizes: nn.RNNCell(*sizes, nonlinearity="relu")
    for kind, make in (("LSTMCell", nn.LSTMCell), ("GRUCell", nn.GRUCell), ("RNNCell", nn.RNNCell),
                       ("RNNCell.relu", relu)):
        cell = seeded(lambda: make(3, 4)).double()
        x, h, c = wave(2, 3).requires_grad_(), wave(2, 4, phase=1), wave(2, 4, phase=2)
        out = cell(x, (h, c) if kind == "LSTMCell" else h)
        out = torch.cat(out) if kind == "LSTMCell" else out
        values(f"{kind}.out", out)
        (out * wave(*out.shape, phase=3)).sum().backward()
        values(f"{kind}.grad_input", x.grad)
        for key, parameter in cell.named_parameters():
            digest(f"{kind}.grad.{key}", parameter.grad)


def run_recurrent(name, kind, model, options, unbatched):
    sizes = (5, 3) if unbatched else (2, 5, 3) if options.get("batch_first") else (5, 2, 3)
    states = options.get("num_layers", 1) * (2 if options.get("bidirectional") else 1)
    state = (states, 4) if unbatched else (states, 2, 4)
    x = wave(*sizes).requires_grad_()
    h, c = wave(*state, phase=1).requires_grad_(), wave(*state, phase=2).requires_grad_()
    out, last = model(x, (h, c) if kind == "LSTM" else h)
    last = torch.stack(last) if kind == "LSTM" else last
    values(f"{name}.out", out)
    values(f"{name}.last", last)
    loss = (out * wave(*out.shape, phase=3)).sum() + (last * wave(*last.shape, phase=4)).sum()
    loss.backward()
    values(f"{name}.grad_input", x.grad)
    values(f"{name}.grad_hidden", h.grad)
    for key, parameter in model.named_parameters():
        digest(f"{name}.grad.{key}", parameter.grad)


def convolution():
    x = wave(1, 2, 5, 6)
    for mode in ("zeros", "reflect", "replicate", "circular"):
        model = seeded(lambda: nn.Conv2d(2, 2, (3, 2), padding=(1, 1), padding_mode=mode)).double()
        values(f"Conv2d.{mode}", model(x))
    for mode in ("zeros", "reflect"):
        model = seeded(lambda: nn.Conv2d(2, 2, (4, 3), padding="same", padding_mode=mode)).double()
        values(f"Conv2d.same.{mode}", model(x))
    model = seeded(lambda: nn.Conv1d(2, 2, 4, padding="same", dilation=2)).double()
    values("Conv1d.same", model(wave(1, 2, 9)))
    model = seeded(lambda: nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)).double()
    values("ConvTranspose2d.plain", model(wave(1, 2, 3, 3)))
    values("ConvTranspose2d.sized", model(wave(1, 2, 3, 3), output_size=[6, 5]))


def normalization():
    for name, model, sizes in (
        ("BatchNorm1d", nn.BatchNorm1d(3), (4, 3)),
        ("BatchNorm2d", nn.BatchNorm2d(3), (2, 3, 4, 2)),
        ("BatchNorm2d.cumulative", nn.BatchNorm2d(3, momentum=None), (2, 3, 4, 2)),
        ("InstanceNorm1d", nn.InstanceNorm1d(3, affine=True, track_running_stats=True), (2, 3, 5)),
    ):
        model = model.double()
        with torch.no_grad():
            model.weight.copy_(wave(3, phase=1))
            model.bias.copy_(wave(3, phase=2))
        for step in range(3):
            out = model(wave(*sizes, phase=step) * (step + 1))
        values(f"{name}.train", out)
        values(f"{name}.running_mean", model.running_mean)
        values(f"{name}.running_var", model.running_var)
        values(f"{name}.eval", model.eval()(wave(*sizes)))
    values("InstanceNorm2d", nn.InstanceNorm2d(3)(wave(2, 3, 2, 2)))
    values("LayerNorm", nn.LayerNorm([3, 2]).double()(wave(2, 3, 2)))
    values("GroupNorm", nn.GroupNorm(2, 4).double()(wave(2, 4, 3)))


def main():
    torch.set_num_threads(1)
    for part in (initial_weights, recurrent, convolution, normalization):
        part()
    header = f"# PyTorch {torch.__version__.split('+')[0]}, by tests/golden/generate_nn.py\n"
    OUT.write_text(header + "".join(line + "\n" for line in lines))


if __name__ == "__main__":
    main()
