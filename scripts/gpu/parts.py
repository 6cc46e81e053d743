"""The parts of scripts/gpu_check, the most important one first."""
import json
import math
import os
import re
import shutil
import tarfile
import xml.etree.ElementTree

from . import expected, machine
from .check import Failed, Skipped

# What the first parts run. The suite's programs are built later, when there are results already.
FIRST = ["taper-info", "test_cuda", "cpu_vs_cuda", "train_cnn"]
# What the bundle brings must not come from the system as well, or it could lack something unseen.
SYSTEM = re.compile(r"/usr/(?:local/)?include/(?:[a-z0-9_]+-linux-gnu/)?"
                    r"(?:(?:eigen3|Eigen|catch2|CLI|nlohmann|benchmark)/|zlib\.h|zconf\.h)\S*")
# Kernels whose threads exchange data through shared memory, by the names of their tests.
SHARING = "*softmax*,*norm*,*scan*,*sort*,*gemm*,*reduce*"


class Settings:
    """What was asked for, and where things lie."""

    def __init__(self, options, root):
        self.emulated, self.quick = options.emulated, options.quick
        self.archive = options.bundle
        # Started from an unpacked bundle, that is what is checked.
        self.unpacked = not options.bundle and os.path.exists(os.path.join(root, "BUNDLE.json"))
        self.source = root if self.unpacked else os.path.join(options.work, "taper-gpu")
        self.build = os.path.join(self.source, "build", "check")
        self.torch = None
        self.root = machine.toolkit()

    @property
    def kind(self):
        return "emulated" if self.emulated else "hardware"

    def program(self, name):
        path = os.path.join(self.build, "bin", name)
        if not os.path.exists(path):
            raise Skipped(f"{name} was not built")
        return path


def commit_of(settings):
    """The commit that a bundle was made from."""
    if settings.unpacked:
        with open(os.path.join(settings.source, "BUNDLE.json"), encoding="utf-8") as file:
            return json.load(file)["commit"]
    with tarfile.open(settings.archive) as bundle:
        return json.load(bundle.extractfile("taper-gpu/BUNDLE.json"))["commit"]


def see_machine(check, settings):
    found = check.report["machine"] = machine.describe(settings.emulated)
    settings.torch = machine.torch()
    if settings.root:
        check.environment.setdefault("CUDA_HOME", settings.root)
    check.environment |= {"TAPER_CUDA": settings.kind, "CCACHE_BASEDIR": settings.source,
                          "CCACHE_NOHASHDIR": "1",
                          # Float is float, in the tests and in the rows that are compared.
                          "NVIDIA_TF32_OVERRIDE": "0"}
    if settings.torch and not settings.emulated:  # cuBLAS and cuDNN, the same as PyTorch's
        paths = settings.torch["libraries"] + [os.environ.get("LD_LIBRARY_PATH", "")]
        check.environment["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, paths))
    if settings.emulated:
        return found["processor"]
    card = found["card"]
    return f"{card['name']}, compute capability {card['capability']}, driver {card['driver']}"


def unpack(check, settings):
    if settings.unpacked:
        return "runs from an unpacked bundle"
    marker = os.path.join(settings.source, ".unpacked")
    stamp = f"{check.report['commit']} {os.stat(settings.archive).st_mtime_ns}"
    if os.path.exists(marker) and open(marker, encoding="utf-8").read() == stamp:
        return "was unpacked already"
    # The files carry their commit's date: what was built from another one would look up to date.
    shutil.rmtree(settings.source, ignore_errors=True)
    with tarfile.open(settings.archive) as bundle:
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        bundle.extractall(os.path.dirname(settings.source), **safe)
        count = len(bundle.getnames())
    with open(marker, "w", encoding="utf-8") as file:
        file.write(stamp)
    return f"{count} files"


def configure(check, settings):
    deps = os.path.join(settings.source, "deps")
    flags = [f"-D{name}_DIR={deps}/cmake/{name}"
             for name in ("Eigen3", "Catch2", "CLI11", "nlohmann_json")]
    flags += [f"-DZLIB_INCLUDE_DIR={deps}/include", f"-DZLIB_LIBRARY={deps}/lib/libz.so.1",
              "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON",
              f"-DTAPER_CPU_LEVELS={machine.cpu_level()}"]
    if settings.emulated:
        flags += ["-DTAPER_CUDA=OFF", "-DTAPER_CUDA_EMULATED=ON"]
        what = "for the emulator"
    else:
        number = check.report["machine"]["card"]["capability"].replace(".", "")
        # Another compiler warns of other things.
        flags += ["-DTAPER_WERROR=OFF", "-DTAPER_CUDA=ON", "-DTAPER_CUDA_EMULATED=OFF",
                  f"-DTAPER_CUDA_ARCHITECTURES={number}"]
        what = f"for sm_{number}"
    check.run(["cmake", "--preset", "release", "-B", settings.build, *flags], "configure",
              cwd=settings.source)
    return f"{what}, CPU kernels {machine.cpu_level()}"


def make(check, settings, targets, log):
    # One file that does not compile must not keep the rest from being tested.
    check.run(["cmake", "--build", settings.build, "--target", *targets, "--", "-k", "0"], log)
    _, used = check.run(["ninja", "-C", settings.build, "-t", "deps"], "headers")
    strange = sorted(set(SYSTEM.findall(used)))
    if strange:
        raise Failed(f"{len(strange)} headers came from the system, not from the bundle: "
                     f"{strange[0]}\n" + "\n".join(strange[:20]))


def build(check, settings):
    plugin = "taper_cuda_emulated_plugin" if settings.emulated else "taper_cuda"
    targets = [plugin] + [name for name in FIRST if not (settings.quick and name == "test_cuda")]
    make(check, settings, targets, "build")
    _, info = check.run([settings.program("taper-info")], "taper-info")
    versions = re.findall(r"^\s+(driver|runtime|cuBLAS|cuDNN)\s+(.*)$", info, re.MULTILINE)
    return f"{' '.join(targets)}; " + ", ".join(f"{name} {value}" for name, value in versions)


def catch_results(path):
    """(number of tests, [(name, message) of those that failed]) of a JUnit file."""
    root = xml.etree.ElementTree.parse(path).getroot()
    count, failed = 0, []
    for case in root.iter("testcase"):
        count += 1
        problem = case.find("failure") if case.find("failure") is not None else case.find("error")
        if problem is not None:
            text = problem.text or problem.get("message") or ""
            failed.append((case.get("name"), text.strip()))
    return count, failed


def judge(count, failed, what):
    """The summary of tests, or their failures."""
    if not count:
        raise Failed(f"no {what} ran")
    if failed:
        names = ", ".join(name for name, _ in failed[:5]) + (", ..." if len(failed) > 5 else "")
        raise Failed(f"{len(failed)} of {count} {what} failed: {names}\n"
                     + "\n\n".join(f"{name}\n{text[:1500]}" for name, text in failed[:10]))
    return f"{count} {what} passed"


def kernel_tests(check, settings, log, **environment):
    out = os.path.join(check.logs, log + ".xml")
    program = settings.program("test_cuda")
    status, printed = check.run([program, "-r", "junit", "-o", out], log, accept=None,
                                **environment)
    if status < 0 or not os.path.exists(out):
        raise Failed(f"test_cuda ended with {status}; logs/{log}.log\n"
                     + "\n".join(printed.splitlines()[-15:]))
    return judge(*catch_results(out), "tests of kernels")


def kernels(check, settings):
    return kernel_tests(check, settings, "kernels")


def own_kernels(check, settings):
    return kernel_tests(check, settings, "own-kernels", TAPER_BLAS="own", TAPER_DNN="own")


def speed(check, settings):
    path = os.path.join(check.folder, "rows.json")
    if os.path.exists(path):
        os.remove(path)
    try:
        check.run([settings.program("cpu_vs_cuda"), "--device", "cuda", "--json", path], "speed",
                  accept=(0, 1))
    finally:  # also of a run that was stopped
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                check.report["rows"] = json.load(file)
            expected.judge(check.report["rows"], settings.source)
    rows = check.report["rows"]["rows"]
    wrong = [(row["name"], row.get("problem") or f"apart by {row['difference']}, allowed is "
              f"{row['allowed']}") for row in rows if not row["agrees"]]
    text = judge(len(rows), wrong, "comparisons with the CPU")
    goals = [row["met"] for row in rows if "met" in row]
    return text + (f"; {sum(goals)} of {len(goals)} rows reach their goal" if goals
                   else "; the emulator says nothing about speed")


def compare_torch(check, settings):
    if not settings.torch:
        raise Skipped("no Python here has PyTorch")
    rows, out = (os.path.join(check.folder, name) for name in ("rows.json", "torch.json"))
    if not os.path.exists(rows):
        raise Skipped("there are no rows to compare with")
    command = [settings.torch["python"], os.path.join(settings.source, "bench", "torch_rows"), rows]
    version = f"PyTorch {settings.torch['version']}"
    if settings.emulated:
        check.run([*command, "--check", "--device", "cpu"], "torch")
        return f"every row runs in {version}, on the CPU"
    if os.path.exists(out):
        os.remove(out)
    try:
        check.run([*command, "--json", out], "torch", accept=(0, 1))
    finally:
        ratios = merge_torch(check.report["rows"]["rows"], out)
    if not ratios:
        raise Failed("no row was measured in PyTorch; logs/torch.log")
    mean = math.exp(sum(math.log(ratio) for ratio in ratios) / len(ratios))
    return (f"{version}: Taper takes {mean:.2f} of its time (geometric mean of {len(ratios)} "
            f"rows), {min(ratios):.2f} to {max(ratios):.2f}")


def merge_torch(rows, path):
    """Puts PyTorch's times into the rows; returns Taper's as shares of them."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        times = json.load(file)["rows"]
    ratios = []
    for row in rows:
        if "cuda_ns" in row and row["name"] in times:
            row["torch_ns"] = times[row["name"]]
            ratios.append(row["cuda_ns"] / row["torch_ns"])
    return ratios


def demo(check, settings):
    out = os.path.join(check.folder, "demo")
    shutil.rmtree(out, ignore_errors=True)
    command = [settings.program("train_cnn"), "--device", "cuda", "--out", out]
    least = 0.8
    if settings.emulated:  # four steps, to see that it runs
        command += ["--images", "128", "--batch", "32", "--epochs", "1"]
        least = 0
    check.run(command, "demo")
    with open(os.path.join(out, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    text = (f"test accuracy {100 * summary['test_accuracy']:.1f} % on {summary['dataset']}, "
            f"{summary['samples_per_second']:,.0f} samples/s")
    if summary["test_accuracy"] < least:
        raise Failed(f"{text}; at least {100 * least:.0f} % was expected")
    return text


def suite(check, settings):
    """All of the suite that runs as device cuda, but for test_cuda, which has parts of its own."""
    make(check, settings, ["cuda_tests"], "suite-build")
    ctest = ["ctest", "--test-dir", settings.build, "-L", "cuda", "-E", "^cuda"]
    out = os.path.join(check.logs, "suite.xml")
    jobs = min(8, os.cpu_count() or 1)
    check.run([*ctest, "-j", str(jobs), "--output-on-failure", "--output-junit", out, "--timeout",
               str(max(1, int(check.left() - 2)))], "suite", accept=None)
    root = xml.etree.ElementTree.parse(out).getroot()
    cases = list(root.iter("testcase"))
    failed = [(case.get("name"), tail(case.findtext("system-out"))) for case in cases
              if case.get("status") != "run"]
    return judge(len(cases), failed, "programs of the suite")


def tail(text):
    return "\n".join((text or "").splitlines()[-30:])


def sanitizer(check, settings, name, *what):
    program = machine.tool("compute-sanitizer", settings.root)
    if settings.emulated:
        raise Skipped("it needs a card; for the emulator there are the presets asan and tsan")
    if not program:
        raise Skipped("there is no compute-sanitizer here")
    # Calls that a test wants to fail are no findings.
    status, printed = check.run(
        [program, "--tool", name, "--error-exitcode", "9", "--report-api-errors", "no",
         settings.program("test_cuda"), "-d", "yes", *what], name, accept=None)
    found = re.findall(r"ERROR SUMMARY: (\d+) error", printed) or \
        re.findall(r"RACECHECK SUMMARY: (\d+) hazard", printed)
    if status != 0:
        raise Failed(f"{name}: {found[-1] if found else 'no'} findings, ended with {status}; "
                     f"logs/{name}.log\n{tail(printed)}")
    return f"{name}: no findings in {what[0] if what else 'all tests of kernels'}"


def memcheck(check, settings):
    return sanitizer(check, settings, "memcheck")


def racecheck(check, settings):
    return sanitizer(check, settings, "racecheck", SHARING)


# (name, seconds on a card, function, whether it belongs to --quick)
PARTS = [
    ("machine", 20, see_machine, True),
    ("unpack", 15, unpack, True),
    ("configure", 30, configure, True),
    ("build", 220, build, True),
    ("kernels", 60, kernels, False),
    ("speed", 110, speed, True),
    ("suite", 170, suite, False),
    ("torch", 60, compare_torch, False),
    ("demo", 40, demo, True),
    ("own kernels", 40, own_kernels, False),
    ("memcheck", 70, memcheck, False),
    ("racecheck", 40, racecheck, False),
]
# The emulator, on few processors, takes this much longer.
EMULATED = 20
