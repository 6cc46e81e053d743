"""What fits on a multiprocessor, and how long a main way keeps which part of a card busy."""
from typing import NamedTuple

from kinds import SIZES


class Card(NamedTuple):
    """NVIDIA's numbers. Cycles are those in which an instruction of a warp keeps one of the four
    parts of a multiprocessor from taking another of its kind."""
    name: str
    arch: str
    multiprocessors: int
    gigahertz: float
    bandwidth: float  # of memory, GB/s
    shared: int       # KiB of a multiprocessor, of which a block can have 1 less
    cycles: dict

    def bytes_per_cycle(self):
        """What memory gives to one of the four parts of a multiprocessor."""
        return self.bandwidth / self.gigahertz / self.multiprocessors / 4


CARDS = [
    Card("A100", "sm_80", 108, 1.41, 2039, 164,
         {"issue": 1, "alu": 2, "fma": 2, "double": 4, "special": 8, "tensor": 8}),
    Card("H100", "sm_90", 132, 1.83, 3352, 228,
         {"issue": 1, "alu": 2, "fma": 1, "double": 2, "special": 8, "tensor": 4}),
]
SHARED = {"sm_80": 164, "sm_90": 228, "sm_100": 228}
REGISTERS = 65536  # of a multiprocessor
MOST_WARPS, MOST_BLOCKS = 64, 32
STATIC_SHARED = 48 << 10


def blocks_on_multiprocessor(kernel, dynamic):
    """How many blocks of the kernel, as large as its launch bound allows, are there at a time."""
    warps = -(-kernel["threads"] // 32)
    # Registers are given out to warps, 256 at a time, to four groups of warps.
    of_warp = -(-kernel["registers"] * 32 // 256) * 256
    by_registers = REGISTERS // of_warp // 4 * 4 // warps if of_warp else MOST_BLOCKS
    own = -(-(kernel["shared"] + dynamic + 1024) // 128) * 128  # 1 KiB is the system's
    by_shared = (SHARED[kernel["arch"]] << 10) // own
    return min(MOST_BLOCKS, MOST_WARPS // warps, by_registers, by_shared)


def widest(widths):
    return [width for width in widths if width == max(widths)]


class Work(NamedTuple):
    """Of one element, by a thread."""
    bytes: float
    instructions: float
    limits: dict  # cycles of a warp for 32 elements, by what takes them

    def limit(self):
        return max(self.limits, key=self.limits.get)

    def share(self, part):
        return self.limits[part] / max(self.limits.values())


def work_of(kernel, named, card):
    """What an element of the kernel costs; None where the main way does not tell."""
    main = kernel["code"]["main"]
    kind = named.kind
    limits = {"issue": main["instructions"] * card.cycles["issue"]}
    for pipe, count in main["pipes"].items():
        limits[pipe] = count * card.cycles[pipe]
    if kind.access in ("mma", "fma"):  # memory's part depends on the tile, not on the loop
        return Work(0, main["instructions"], limits)
    element = named.element(kind)
    counted = main[kind.side]
    if not element or not counted:
        return None
    loads, stores = main["loads"], main["stores"]
    if kind.access in ("none", "cached"):  # ways for several widths, of which one is taken
        loads, stores = widest(loads) if loads else [], widest(stores) if stores else []
    elements = sum(widest(counted)) / (kind.arrays * SIZES[element])
    moved = sum(loads) + sum(stores)
    if kind.access != "cached":
        limits["memory"] = 32 * moved / card.bytes_per_cycle()
    return Work(moved / elements, main["instructions"] / elements,
                {part: cycles / elements for part, cycles in limits.items()})
