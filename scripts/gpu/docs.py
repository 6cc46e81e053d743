"""Puts a report into docs/gpu-results.md."""
import os

from . import report

PAGE = os.path.join("docs", "gpu-results.md")
# What stands above stays.
MARK = "<!-- Below: written by scripts/gpu_check --write-docs. -->"


class Refused(Exception):
    """The report cannot go there; the text says why."""


def write(root, path):
    try:
        results = report.read(path)
        kind, commit = results["kind"], results["commit"]
    except (OSError, ValueError, KeyError) as error:
        raise Refused(f"--write-docs {path}: this is no report of gpu_check: {error}") from None
    if kind != "hardware":
        raise Refused(f"--write-docs {path}: this report is the emulator's, not a card's")
    if commit.endswith("-dirty"):
        raise Refused(f"--write-docs {path}: the bundle had changes that were not committed")
    page = os.path.join(root, PAGE)
    with open(page, encoding="utf-8") as file:
        head, found, _ = file.read().partition(MARK)
    if not found:
        raise Refused(f"{page}: the line {MARK} is missing, below which the results go")
    text = "\n".join([head + MARK, "", f"## {report.title(results)}", "",
                      *("#" + line if line.startswith("##") else line
                        for line in report.body(results)), ""])
    with open(page, "w", encoding="utf-8") as file:
        file.write(text)
    print(f"{PAGE} now holds {report.title(results)}")
