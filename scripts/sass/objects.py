"""What nvcc left in an object file, kernel by kernel: resources, launch bounds, machine code."""
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import subprocess
import tempfile

import flow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Whose machine code is read; of all others the resources alone.
READ = ("sm_80", "sm_90")
USAGE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+)")
ENTRY = re.compile(r"\.entry (\w+)\(")
BOUND = re.compile(r"\.(maxntid|minnctapersm) (\d+)(?:, (\d+), (\d+))?")


class Failure(Exception):
    """What the user has to know, in one line."""


def run(*command, **options):
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    except subprocess.CalledProcessError as error:
        raise Failure(f"{' '.join(command[:2])} failed: {error.stderr.strip()}") from error


def tools():
    """The folder with cuobjdump and nvdisasm, which scripts/lib.sh finds or fetches."""
    found = subprocess.run(["bash", "-c", "source scripts/lib.sh && setup_disassembler"], cwd=ROOT,
                           text=True, stdout=subprocess.PIPE, check=False)
    if found.returncode != 0 or not found.stdout.strip():
        raise Failure("neither cuobjdump and nvdisasm nor a network to fetch them")
    return os.path.join(ROOT, found.stdout.strip().splitlines()[-1])


def demangle(names):
    text = run("c++filt", input="\n".join(names))
    return dict(zip(names, map(short_name, text.splitlines())))


def short_name(name):
    """taper's own names without their namespaces, the result and the parameters."""
    name = re.sub(r"taper::kernels::(cuda|functors)::", "", name)
    name = re.sub(r"_GLOBAL__N__\w+::|\(anonymous namespace\)::", "", name)
    name = re.sub(r"^void ", "", name).replace(" >", ">")
    depth = 0
    for i, letter in enumerate(name):  # the parameters begin outside of angle brackets
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return name[:i]
    return name


def resources(folder, path):
    """{(arch, kernel): [registers, stack, shared]}"""
    found, arch, kernel = {}, None, None
    for line in run(os.path.join(folder, "cuobjdump"), "-res-usage", path).splitlines():
        if line.startswith("arch = "):
            arch = line[len("arch = "):]
        elif line.startswith(" Function "):
            kernel = line[len(" Function "):].rstrip(":")
        elif kernel and USAGE.search(line):
            found[arch, kernel] = [int(n) for n in USAGE.search(line).groups()]
            kernel = None
    return found


def bounds(folder, path):
    """{kernel: [threads, blocks]} as __launch_bounds__ has them, 0 for what it does not say."""
    found, kernel = {}, None
    for line in run(os.path.join(folder, "cuobjdump"), "-ptx", path).splitlines():
        if ENTRY.search(line):
            kernel = ENTRY.search(line).group(1)
            found[kernel] = [0, 0]
        elif BOUND.match(line.strip()):
            what, *sizes = BOUND.match(line.strip()).groups()
            number = 1
            for size in sizes:
                number *= int(size or 1)
            found[kernel][what == "minnctapersm"] = number
    return found


def machine_code(folder, path):
    """{(arch, kernel): flow's summary}"""
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for arch in READ:
            run(os.path.join(folder, "cuobjdump"), "-xelf", arch, os.path.abspath(path), cwd=work)
        for cubin in sorted(glob.glob(os.path.join(work, "*.cubin"))):
            arch = re.search(r"\.(sm_\w+)\.cubin$", cubin).group(1)
            text = run(os.path.join(folder, "nvdisasm"), "-c", cubin)
            for kernel, lines in flow.split(text):
                found[arch, kernel] = flow.summary(lines)
    return found


def read(folder, path):
    """A list with a dictionary for each kernel and architecture of an object."""
    usage, code = resources(folder, path), machine_code(folder, path)
    bound = bounds(folder, path)
    names = demangle(sorted({kernel for _, kernel in usage}))
    kernels = []
    for (arch, kernel), (registers, stack, shared) in sorted(usage.items()):
        if kernel not in bound:
            raise Failure(f"{path}: no PTX of {names[kernel]}, which would tell its launch bounds")
        threads, blocks = bound[kernel]
        kernels.append({"name": names[kernel], "arch": arch, "registers": registers, "stack": stack,
                        "shared": shared, "threads": threads, "blocks": blocks,
                        "code": code.get((arch, kernel))})
    return kernels


def nvcc_version(build):
    """Of the compiler that CMake chose for the build folder, None where that cannot be told."""
    try:
        with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
            path = re.search(r"^TAPER_NVCC:\w+=(.+)$", file.read(), re.MULTILINE)
        found = path and re.search(r"release [\d.]+, V([\d.]+)", run(path.group(1), "--version"))
    except (OSError, Failure):
        return None
    return found.group(1) if found else None


def sources_hash():
    digest = hashlib.sha256()
    for name in ("objects.py", "flow.py"):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "rb") as file:
            digest.update(file.read())
    return digest


def keep(folder, path, kept):
    """Writes what `read` finds to the file `kept`."""
    own = read(folder, path)
    with open(kept + ".new", "w", encoding="utf-8") as file:
        json.dump(own, file)
    os.replace(kept + ".new", kept)


def read_all(paths, cache):
    """As `read`, of many objects; remembers what an object of the same content had."""
    os.makedirs(cache, exist_ok=True)
    places = {}
    for path in paths:
        digest = sources_hash()
        with open(path, "rb") as file:
            digest.update(file.read())
        places[path] = os.path.join(cache, digest.hexdigest()[:32] + ".json")
    new = [path for path in paths if not os.path.exists(places[path])]
    if new:
        folder = tools()
        with concurrent.futures.ProcessPoolExecutor() as pool:
            jobs = [pool.submit(keep, folder, path, places[path]) for path in new]
            for job in jobs:
                job.result()
    kernels = []
    for path in paths:
        with open(places[path], encoding="utf-8") as file:
            for kernel in json.load(file):
                kernels.append({**kernel, "file": os.path.basename(path)[:-len(".o")]})
    return kernels
