"""What the machine has: card, compiler, PyTorch, processor. Nothing here needs more than Python."""
import ctypes
import glob
import json
import os
import platform
import shutil
import subprocess
import sys

LEVELS = {  # cmake/TaperCpuLevels.cmake, what each needs besides the one before it
    "v2": {"sse4_2", "ssse3", "popcnt", "cx16"},
    "v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"},
    "v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def output(command, seconds=20):
    """What a command prints, or None where it is missing, fails or takes too long."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=seconds, check=True)
        return done.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def card():
    """The first card: {name, capability, driver, memory}, or None."""
    found = output(["nvidia-smi", "--query-gpu=name,compute_cap,driver_version,memory.total",
                    "--format=csv,noheader"])
    if not found:
        return card_of_driver()
    name, capability, driver, memory = (field.strip() for field in found.splitlines()[0].split(","))
    return {"name": name, "capability": capability, "driver": driver, "memory": memory}


def card_of_driver(library="libcuda.so.1"):
    """The same from the driver itself, for machines (containers, say) without nvidia-smi."""
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return None

    def number(call, *arguments, kind=ctypes.c_int):
        value = kind()
        if getattr(driver, call)(ctypes.byref(value), *arguments) != 0:
            raise OSError(call)
        return value.value

    try:
        if driver.cuInit(0) != 0:
            return None
        device = number("cuDeviceGet", 0)
        name = ctypes.create_string_buffer(256)
        if driver.cuDeviceGetName(name, len(name), device) != 0:
            return None
        major, minor = (number("cuDeviceGetAttribute", which, device) for which in (75, 76))
        version = number("cuDriverGetVersion")
        memory = number("cuDeviceTotalMem_v2", device, kind=ctypes.c_size_t)
    except (OSError, AttributeError):
        return None
    return {"name": name.value.decode(errors="replace"), "capability": f"{major}.{minor}",
            "driver": f"for CUDA {version // 1000}.{version % 1000 // 10}",
            "memory": f"{memory >> 20} MiB"}


def toolkit():
    """The folder of the CUDA toolkit, or None."""
    for root in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")):
        if root and os.path.exists(os.path.join(root, "bin", "nvcc")):
            return root
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin:/opt/cuda/bin")
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc))) if nvcc else None


def tool(name, root):
    """A program of the toolkit's, or None."""
    folders = [os.path.join(root, sub) for sub in ("bin", "compute-sanitizer")] if root else []
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(folders))


def cpu_level():
    """The best of Taper's instruction sets that this processor has."""
    if platform.machine() not in ("x86_64", "amd64"):
        return "generic"
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        flags = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    best = "v2"
    for level, needs in LEVELS.items():
        if not needs <= flags:
            break
        best = level
    return best


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} processors"


def torch():
    """Which Python has PyTorch: {python, version, libraries}, or None. Does not import it: that
    takes seconds."""
    look = ("import importlib.metadata as m, importlib.util as u, json, os;"
            "s = u.find_spec('torch');"
            "print(json.dumps([os.path.dirname(s.origin), m.version('torch')]))")
    for python in dict.fromkeys([sys.executable, shutil.which("python3"), shutil.which("python")]):
        found = output([python, "-c", look]) if python else None
        if found:
            folder, version = json.loads(found)
            libraries = glob.glob(os.path.join(os.path.dirname(folder), "nvidia", "*", "lib"))
            return {"python": python, "version": version, "libraries": sorted(libraries)}
    return None


def describe(emulated):
    """What the report says of the machine."""
    root, found = toolkit(), torch()
    nvcc = output([os.path.join(root, "bin", "nvcc"), "--version"]) if root else None
    return {
        "card": None if emulated else card(),
        "processor": processor(),
        "system": f"{platform.system()} {platform.release()}",
        "compiler": (output(["c++", "--version"]) or "none").splitlines()[0],
        "nvcc": nvcc.splitlines()[-2].strip() if nvcc else None,
        "cmake": (output(["cmake", "--version"]) or "none").splitlines()[0],
        "python": platform.python_version(),
        "torch": found["version"] if found else None,
    }
