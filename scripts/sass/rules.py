"""What is demanded of each kernel's machine code."""
from cards import MOST_WARPS, REGISTERS, SHARED, STATIC_SHARED, blocks_on_multiprocessor
from kinds import KINDS, Kernel, exception

# Where __launch_bounds__ names no number of blocks: half of the threads that a multiprocessor has.
# With 16 bytes under way for each of them that is 16 KiB, which is what memory's latency asks for.
LEAST_THREADS = MOST_WARPS * 32 // 2


def local(kernel, _):
    """Registers are enough."""
    if kernel["stack"]:
        yield f"{kernel['stack']} bytes of local memory a thread (spills, or an indexed array)"
    elif kernel["code"] and kernel["code"]["local"]:
        yield f"{kernel['code']['local']} accesses of local memory"


def bounds(kernel, named):
    """What the launch bound promises fits on a multiprocessor."""
    threads, registers = kernel["threads"], kernel["registers"]
    if not threads:
        yield "no __launch_bounds__"
        return
    if threads * registers > REGISTERS:
        yield f"{threads} threads with {registers} registers each, of {REGISTERS}"
    if kernel["shared"] > STATIC_SHARED:
        yield f"{kernel['shared']} bytes of static shared memory, of {STATIC_SHARED}"
    most = (SHARED[kernel["arch"]] - 1) << 10
    shared = kernel["shared"] + named.dynamic_shared()
    if shared > most:
        yield f"{shared} bytes of shared memory, of {most}"


def occupancy(kernel, named):
    """As many blocks as the kernel states run side by side."""
    if not kernel["threads"]:
        return
    blocks = blocks_on_multiprocessor(kernel, named.dynamic_shared())
    wanted = kernel["blocks"] or LEAST_THREADS // kernel["threads"]
    if blocks < wanted:
        stated = "it states" if kernel["blocks"] else "a kernel has that states no number"
        yield (f"{blocks} blocks on a multiprocessor ({kernel['registers']} registers, "
               f"{kernel['shared'] + named.dynamic_shared()} bytes of shared memory), of {wanted} "
               f"that {stated}")


def access(kernel, named):
    """Data moves by 16 bytes, and halves are multiplied on tensor cores."""
    code = kernel["code"]
    if not code:
        return
    kind, main = named.kind, code["main"]
    if kind.access == "mma":
        if not main["pipes"]["tensor"]:
            yield "no HMMA in its main loop"
        return
    if kind.access in ("none", "cached", "fma"):
        return
    loads, stores = main["loads"], main["stores"]
    full_loads = bool(loads) and max(loads) >= 16
    full_stores = bool(stores) and max(stores) >= 16
    if kind.access in ("both", "loads") and not full_loads:
        yield f"no LDG.E.128 on its main way (loads of {sorted(set(loads))} bytes)"
    if kind.access in ("both", "stores") and not full_stores:
        yield f"no STG.E.128 on its main way (stores of {sorted(set(stores))} bytes)"
    if kind.access == "either" and not full_loads and not full_stores:
        yield (f"neither LDG.E.128 nor STG.E.128 on its main way (loads of {sorted(set(loads))}, "
               f"stores of {sorted(set(stores))} bytes)")


RULES = {"local": local, "bounds": bounds, "occupancy": occupancy, "access": access}


def problems(kernels):
    """Yields (kernel, message). The same of several architectures is one message."""
    found = {}
    for kernel in kernels:
        named = Kernel.of(kernel["name"])
        if named.template not in KINDS:
            found.setdefault((kernel["file"], kernel["name"],
                              "not in scripts/sass/kinds.py, which says what to expect"), [])
            continue
        for name, rule in RULES.items():
            if exception(kernel["name"], name):
                continue
            for message in rule(kernel, named):
                found.setdefault((kernel["file"], kernel["name"], message), []).append(
                    kernel["arch"])
    for (file, name, message), archs in found.items():
        yield f"{file}: {name}: {message}" + (f" ({', '.join(archs)})" if archs else "")
