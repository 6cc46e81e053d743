"""Does a check survive parts that fail, hang and crash, and does its report name them?"""
import copy
import json
import os
import subprocess
import sys
import tempfile
import time

from . import docs, expected, machine, report
from .check import Check, Failed, Skipped

# Starts a program of its own, which writes later, and waits for it.
HANGS = '(sleep 9; echo late >"$0") & echo up >"$0"; wait'
FACTS = {"kind": "hardware", "commit": "0123456789abcdef", "machine": {"card": {
    "name": "Card of the self-test", "capability": "9.0", "driver": "1", "memory": "1 MiB"}}}
ROW = {"section": "Elementwise", "agrees": True, "cpu_ns": 2e6, "cuda_ns": 1e6, "ratio": 2.0,
       "gb_per_s": 100.0}
OF_COPY = {**ROW, "goal": 0.85}
ROWS = {"copy_gb_per_s": 120.0, "threads": 2, "capability": "9.0", "rows": [
    {**OF_COPY, "name": "quick row", "share_of_copy": 0.9, "met": True, "torch_ns": 2e6},
    {**OF_COPY, "name": "slow row", "share_of_copy": 0.5, "met": False},
    {**OF_COPY, "name": "busy row", "share_of_copy": 0.5, "met": False},
    {**OF_COPY, "name": "library's row", "share_of_copy": 0.8, "met": False},
    {**OF_COPY, "name": "new row", "share_of_copy": 0.86, "met": True},
    {**ROW, "name": "row without a goal", "share_of_copy": 0.1},
    {**ROW, "name": "product", "share_of_cublas": 0.98, "goal": 0.97, "met": True}]}
KERNELS = {"cards": {"A100": {"arch": "sm_80", "bandwidth": 200},
                     "H100": {"arch": "sm_90", "bandwidth": 200}},
           "limits": {"memory": "memory", "issue": "issue slots", "alu": "integer units"},
           "kernels": [{"kernel": "moves<float>", "limit": "memory", "copy": 0.85},
                       {"kernel": "draws<int>", "limit": {"A100": "alu", "H100": "issue"},
                        "copy": {"A100": 0.6, "H100": 0.45}}]}
NAMES = {"Elementwise: quick row": "moves<float>",
         "Elementwise: slow row": {"A100": "draws<int>", "H100": "moves<float>"},
         "Elementwise: busy row": "draws<int>",
         "Elementwise: library's row": "cublasGemmStridedBatchedEx"}


# As much of a driver as is asked for a card where there is no nvidia-smi.
DRIVER = """
#include <stddef.h>
#include <string.h>
int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDeviceGet(int* device, int index) { *device = 7; return index == 0 ? 0 : 101; }
int cuDeviceGetName(char* name, int size, int device) {
  strncpy(name, device == 7 ? "Card without a tool" : "?", size);
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  *value = which == 75 ? 9 : which == 76 ? 0 : -1;
  return device == 7 ? 0 : 101;
}
int cuDriverGetVersion(int* version) { *version = 13020; return 0; }
int cuDeviceTotalMem_v2(size_t* bytes, int device) { *bytes = (size_t)80 << 30; return 0; }
"""


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run():
    with tempfile.TemporaryDirectory() as folder:
        try:
            run_in(folder)
        except AssertionError as error:
            print(f"error: the self-test of gpu_check failed: {error}", file=sys.stderr)
            return 1
    print("the self-test passed")
    return 0


def run_in(folder):
    seen = []

    def stored(check):
        """What the report on the disk says while a part runs."""
        stored_parts = report.read(os.path.join(folder, "report.json"))["parts"]
        seen.append([part["outcome"] for part in stored_parts])
        return "saw it"

    def fails(check):
        raise Failed("found something\nwith details")

    def ends_badly(check):
        check.run([sys.executable, "-c", "print('last words'); raise SystemExit(3)"], "bad")

    def lacks_program(check):
        check.run(["/nonexistent/program"], "lacks")

    def skips(check):
        raise Skipped("not here")

    def hangs(check):
        check.run(["sh", "-c", HANGS, os.path.join(folder, "mark")], "hangs")

    def measures(check):
        check.report["rows"] = copy.deepcopy(ROWS)
        expected.judge(check.report["rows"], folder)

    for path, content in ((expected.KERNELS, KERNELS), (expected.ROWS, NAMES)):
        os.makedirs(os.path.join(folder, os.path.dirname(path)))
        with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
            json.dump(content, file)
    check_expected(folder)
    check_driver(folder)
    check = Check(folder, FACTS, minutes=5)
    for name, limit, part in (("passes", 30, stored), ("fails", 30, fails), ("status", 30, ends_badly),
                              ("lacks", 30, lacks_program), ("crashes", 30, lambda check: 1 / 0),
                              ("skips", 30, skips), ("hangs", 5, hangs), ("sees", 30, stored),
                              ("measures", 30, measures)):
        check.part(name, limit, part)
    check.end = time.monotonic()
    check.part("late", 30, stored)
    expect(not check.finish(), "a check with failures has passed")

    stored_parts = report.read(os.path.join(folder, "report.json"))["parts"]
    outcomes = {part["name"]: part for part in stored_parts}
    for name, outcome, word in (
            ("passes", "passed", "saw it"), ("fails", "failed", "found something"),
            ("status", "failed", "ended with 3"), ("lacks", "failed", "cannot start"),
            ("crashes", "failed", "ZeroDivisionError"), ("skips", "skipped", "not here"),
            ("hangs", "timed out", "stopped"), ("sees", "passed", ""),
            ("late", "skipped", "no time")):
        got = outcomes[name]
        expect(got["outcome"] == outcome and word in got["summary"], f"{name}: {got}")
    expect("last words" in outcomes["status"]["detail"], "a failed program's output is lost")
    expect(outcomes["hangs"]["seconds"] < 9, f"a limit of 5 s took {outcomes['hangs']}")
    # The part before a running one is on the disk already.
    expect(seen == [[], ["passed", "failed", "failed", "failed", "failed", "skipped", "timed out"]],
           f"the report is not written after each part: {seen}")
    time.sleep(5)
    expect(text_of(folder, "mark") == "up\n", "what a stopped part started goes on")

    page = text_of(folder, "report.md")
    for words in ("GPU check on Card of the self-test", "| hangs | **timed out** |", "last words",
                  "4 of 6 rows reach their goal", "### Below their goal\n\n|  | CPU |",
                  "| slow row | 2 ms | 1 ms | 2.0 | 100 GB/s | 50.0 % | 85 % |  |  |  | "
                  "`moves<float>` | memory |",
                  "| busy row | 2 ms | 1 ms | 2.0 | 100 GB/s | 50.0 % | 45 % |  |  |  |\n",
                  "| quick row | 2 ms | 1 ms | 2.0 | 100 GB/s | 90.0 % | 85 % |  | 2 ms | 0.50 |"):
        expect(words in page, f"report.md lacks '{words}':\n{page}")
    write_docs(folder)


def check_expected(folder):
    """A kernel that memory does not limit has what is expected of it as its goal, on each card."""
    untimed = {"timed": False, "threads": 2, "capability": "9.0",
               "rows": [{"section": "memory", "name": "busy row", "agrees": True}]}
    expected.judge(untimed, folder)  # as the emulator's: nothing to compare, and no failure
    expect("met" not in untimed["rows"][0], "a row without a time is judged")
    def judged(capability, copy_speed=120.0):
        results = copy.deepcopy(
            {**ROWS, "capability": capability, "copy_gb_per_s": copy_speed})
        expected.judge(results, folder)
        return {row["name"]: row for row in results["rows"]}

    for capability, met in (("9.0", (True, False, True, False, True, None, True)),
                            ("12.0", (True, False, True, False, True, None, True)),
                            ("8.6", (True, False, False, False, True, None, True)),
                            ("7.5", (True, False, False, False, True, None, True))):
        got = tuple(row.get("met") for row in judged(capability).values())
        expect(got == met, f"compute capability {capability}: goals are met as {got}, not {met}")
    row = judged("8.6")["busy row"]
    expect((row["kernel"], row["limit"], row["expected"]) == ("draws<int>", "integer units", 0.6),
           f"on an older card: {row}")
    expect("expected" not in judged("7.5")["busy row"], "a card before all of them has expectations")
    rows = judged("9.0", copy_speed=300.0)  # 1.5 times the memory that was reckoned with
    expect((rows["busy row"]["expected"], rows["slow row"]["expected"]) == (0.3, 0.85),
           f"with faster memory: {rows}")
    expect(judged("9.0")["library's row"]["kernel"] == "cublasGemmStridedBatchedEx",
           "a library's row does not name it")


def check_driver(folder):
    """Without nvidia-smi the driver tells of its card; without either there is none."""
    library = os.path.join(folder, "libdriver.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=DRIVER,
                   text=True, check=True)
    got = machine.card_of_driver(library)
    expect(got == {"name": "Card without a tool", "capability": "9.0", "driver": "for CUDA 13.2",
                   "memory": "81920 MiB"}, f"a driver's card is {got}")
    for library in ("libthere-is-none.so", "libc.so.6"):
        expect(machine.card_of_driver(library) is None, f"{library} has a card")


def text_of(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write_docs(folder):
    """The page keeps its head; the emulator's and unclean reports stay out."""
    path = os.path.join(folder, "report.json")
    page = os.path.join(folder, docs.PAGE)
    with open(page, "w", encoding="utf-8") as file:
        file.write(f"# Head\n\n{docs.MARK}\n\nNone so far.\n")
    docs.write(folder, path)
    text = text_of(page)
    expect(text.startswith("# Head\n") and "Card of the self-test" in text
           and "None so far" not in text, f"the page is wrong:\n{text}")
    for change in ({"kind": "emulated"}, {"commit": "0123-dirty"}):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**FACTS, "parts": [], **change}, file)
        try:
            docs.write(folder, path)
        except docs.Refused:
            continue
        expect(False, f"a report with {change} went into the page")
