#!/usr/bin/env python3
"""Writes golden.h: parameters after five steps of PyTorch's optimizers, and the rates its schedulers give."""
import itertools
import os

import torch

GRADIENTS = [[0.5, -1.25, 2.0], [-0.75, 0.1, 0.3], [1.5, 1.0, -0.6], [0.2, -0.4, 0.9], [-1.1, 0.8, 0.05]]
START = [1.0, -2.0, 0.5]


def after(make):
    p = torch.tensor(START, dtype=torch.float64, requires_grad=True)
    optimizer = make([p])
    for gradient in GRADIENTS:
        p.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
    return p.tolist()


def numbers(values):
    return "{" + ", ".join(repr(v) for v in values) + "}"


def flag(value):
    return ("true" if value else "false") if isinstance(value, bool) else repr(value)


def setters(options):
    out = ""
    for name, value in options.items():
        if isinstance(value, tuple):
            out += ".%s({%s})" % (name, ", ".join(map(repr, value)))
        else:
            out += ".%s(%s)" % (name, flag(value))
    return out


def rows(name, lr, grid, allowed=lambda o: True):
    kind = getattr(torch.optim, name)
    keys = list(grid)
    for values in itertools.product(*grid.values()):
        options = dict(zip(keys, values))
        if not allowed(options):
            continue
        result = after(lambda params: kind(params, lr=lr, **options))
        yield "    STEPS(%s, %sOptions(%r)%s, %s),\n" % (
            name, name, lr, setters(options), numbers(result).replace("{", "").replace("}", ""))


def rates(make, count=12, lrs=(0.5, 0.1), step=None):
    params = [torch.zeros(1, requires_grad=True) for _ in lrs]
    optimizer = torch.optim.SGD([{"params": [p], "lr": lr} for p, lr in zip(params, lrs)], lr=1.0)
    scheduler = make(optimizer)
    if not isinstance(scheduler, list):
        scheduler = [scheduler]
    out = [g["lr"] for g in optimizer.param_groups]
    for i in range(count):
        optimizer.step()
        for s in scheduler:
            s.step(*([] if step is None else [step[i]]))
        out += [g["lr"] for g in optimizer.param_groups]
    return out


def main():
    both = [False, True]
    text = "// Made by make.py with PyTorch %s. Do not edit.\n#pragma once\n\n#include <vector>\n\n" % torch.__version__.split("+")[0]
    text += "// clang-format off\n#define OPTIMIZER_ROWS \\\n"
    lines = []
    lines += rows("SGD", 0.1, {"momentum": [0.0, 0.9], "dampening": [0.0, 0.5], "weight_decay": [0.0, 0.1],
                               "nesterov": both, "maximize": both},
                  lambda o: not (o["momentum"] == 0 and (o["dampening"] or o["nesterov"])) and
                  not (o["nesterov"] and o["dampening"]))
    for name in "Adam", "AdamW":
        lines += rows(name, 0.1, {"betas": [(0.9, 0.999), (0.3, 0.7)], "eps": [1e-8], "weight_decay": [0.0, 0.1],
                                  "amsgrad": both, "maximize": both})
    lines += rows("RMSprop", 0.1, {"alpha": [0.9], "momentum": [0.0, 0.5], "centered": both,
                                   "weight_decay": [0.0, 0.1], "maximize": both})
    lines += rows("Adagrad", 0.1, {"lr_decay": [0.0, 0.2], "weight_decay": [0.0, 0.1],
                                   "initial_accumulator_value": [0.0, 0.5], "maximize": both})
    text += "".join(line.rstrip("\n") + " \\\n" for line in lines).rstrip(" \\\n") + "\n\n"

    s = torch.optim.lr_scheduler
    metrics = [1.0, 0.9, 0.95, 0.91, 0.9, 0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6]
    tables = {
        "kStep": rates(lambda o: s.StepLR(o, 3, gamma=0.5)),
        "kMultiStep": rates(lambda o: s.MultiStepLR(o, [2, 5, 5], gamma=0.5)),
        "kExponential": rates(lambda o: s.ExponentialLR(o, 0.9)),
        "kCosine": rates(lambda o: s.CosineAnnealingLR(o, 4, eta_min=0.01)),
        "kLambda": rates(lambda o: s.LambdaLR(o, lambda epoch: 1 / (epoch + 2))),
        "kLambdas": rates(lambda o: s.LambdaLR(o, [lambda epoch: 0.9 ** epoch, lambda epoch: 1 + epoch])),
        "kLinear": rates(lambda o: s.LinearLR(o, start_factor=0.25, total_iters=4)),
        "kChained": rates(lambda o: [s.LinearLR(o, 0.5, total_iters=3), s.ExponentialLR(o, 0.9)]),
        "kPlateau": rates(lambda o: s.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=1, min_lr=0.06),
                          step=metrics),
    }
    for name, values in tables.items():
        text += "inline const std::vector<double> %s = %s;\n" % (name, numbers(values))
    text += "// clang-format on\n"
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden.h"), "w") as out:
        out.write(text)


main()
