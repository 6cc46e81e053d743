"""What the machine code lets a row of cpu_vs_cuda reach, as a share of a copy, and did it?"""
import json
import os

KERNELS = os.path.join("docs", "cuda-kernels.json")  # by scripts/sass_check
ROWS = os.path.join("bench", "cpu_vs_cuda", "kernels.json")  # by bench/row_kernels


def judge(results, root):
    """Adds kernel, limit and expected share to the rows that a copy is the goal of. Where something
    else than memory limits the kernel, that expectation is the goal: the less, the more a copy here
    is faster than the memory of the card that it was written down for."""
    kernels, names = read(root, KERNELS), read(root, ROWS)
    card = card_of(results["capability"], kernels["cards"])
    copy = results.get("copy_gb_per_s")  # not where nothing is timed
    faster = max(1, copy / kernels["cards"][card]["bandwidth"]) if card and copy else 1
    known = {kernel["kernel"]: kernel for kernel in kernels["kernels"]}
    for row in results["rows"]:
        if "goal" not in row or "share_of_copy" not in row:
            continue
        name = on(card, names.get(f"{row['section']}: {row['name']}"))
        kernel = known.get(name, {})
        limit, share = on(card, kernel.get("limit")), on(card, kernel.get("copy"))
        if share and limit != "memory":
            share = round(share / faster, 2)
        row |= {key: value for key, value in (
            ("kernel", name), ("limit", kernels["limits"].get(limit)), ("expected", share)) if value}
        row["met"] = row["share_of_copy"] >= min(row["goal"], row.get("expected", row["goal"]))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return json.load(file)


def card_of(capability, cards):
    """The newest card of the file that is no newer than this one; None before them all."""
    number = int(capability.replace(".", ""))
    older = {int(card["arch"][len("sm_"):]): name for name, card in cards.items()}
    return older.get(max((arch for arch in older if arch <= number), default=None))


def on(card, value):
    """Of what is one for all cards, or one for each."""
    return value.get(card) if isinstance(value, dict) else value if card else None
