"""The way that the bulk of the data takes through a kernel's machine code.

Of all ways from a kernel's first instruction to its end, each loop once, the one that moves the
most bytes by 16-byte accesses, then the most bytes at all, then takes the fewest instructions.
Where its accesses are in loops, those loops are what counts: the rest happens once for many
elements.
"""
import re

SECTION = re.compile(r"^\s*\.section\s+\.text\.([^,\s]+),")
OTHER = re.compile(r"^\s*\.section\s")
LABEL = re.compile(r"^(\S+):\s*$")
INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?);")
TARGET = re.compile(r"`\(([^)]+)\)")
LOADS = ("LDG", "LD", "LDGSTS")
STORES = ("STG", "ST")
# Which part of a multiprocessor an instruction keeps busy, by its first word; the rest only take
# their place in the queue.
PIPES = (("tensor", re.compile(r"\w+MMA$")), ("double", re.compile(r"D(ADD|MUL|FMA|SETP|MNMX)$")),
         ("special", re.compile(r"(MUFU|F2F|F2I|I2F|I2I|FRND|POPC|FLO|BREV)$")),
         ("fma", re.compile(r"(FADD|FMUL|FFMA|IMAD|HADD2|HMUL2|HFMA2)$")),
         ("alu", re.compile(r"(I\w+|V\w+|F(MNMX|SETP|SEL|SET|2FP|CHK)\w*|LOP3|SHF|SEL|PRMT|LEA|"
                            r"MOV|SGXT|BMSK|PLOP3|HMNMX2|HSETP2|R2P|P2R)$")))


def split(text):
    """Yields (kernel, lines) of nvdisasm's output."""
    kernel, lines = None, []
    for line in text.splitlines():
        section = SECTION.match(line)
        if section:
            if kernel:
                yield kernel, lines
            kernel, lines = section.group(1), []
        elif OTHER.match(line):
            if kernel:
                yield kernel, lines
            kernel = None
        elif kernel:
            lines.append(line)
    if kernel:
        yield kernel, lines


def width(parts):
    """Bytes that a load or store moves."""
    for part, size in (("256", 32), ("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("16", 2),
                       ("U8", 1), ("S8", 1)):
        if part in parts:
            return size
    return 4


def larger_side(accesses):
    sides = {}
    for size, predicate in accesses:
        sides.setdefault(predicate or "", []).append(size)

    def worth(predicate):
        sizes = sides.get(predicate, [])
        return max(sizes, default=0), sum(sizes), "!" not in predicate

    return [size for predicate, sizes in sides.items()
            if not predicate or worth(predicate) > worth(
                predicate.replace("@!", "@") if "!" in predicate else predicate.replace("@", "@!"))
            for size in sizes]


class Block:
    """Instructions without a branch in between."""

    def __init__(self):
        self.count = 0
        self.pipes = dict.fromkeys((pipe for pipe, _ in PIPES), 0)
        self.loads, self.stores = [], []  # (width, predicate)
        self.to = []  # labels, or None for the next block

    def add(self, name, predicate):
        base, *parts = name.split(".")
        self.count += 1
        if base in LOADS:
            self.loads.append((width(parts), predicate))
        elif base in STORES:
            self.stores.append((width(parts), predicate))
        else:
            pipe = next((pipe for pipe, names in PIPES if names.match(base)), None)
            if pipe:
                self.pipes[pipe] += 1

    def settle(self):
        """Of accesses where a predicate is true and others where it is false, the larger."""
        self.loads, self.stores = larger_side(self.loads), larger_side(self.stores)

    def weight(self):
        moved = self.loads + self.stores
        return (sum(w for w in moved if w >= 16), sum(moved), -self.count)


def blocks_of(lines):
    """The kernel's blocks, the first one its entry, with numbers instead of labels in `to`."""
    blocks, place, current, ended = [Block()], {}, None, False
    current = blocks[0]
    rejoin = {}  # where a BSYNC goes to: its BSSY says so

    def fresh():
        nonlocal current, ended
        current, ended = Block(), False
        blocks.append(current)

    for line in lines:
        label = LABEL.match(line)
        if label:
            if current.count or ended:
                if not ended:
                    current.to.append(None)
                fresh()
            place[label.group(1)] = len(blocks) - 1
            continue
        found = INSTRUCTION.match(line)
        if not found:
            continue
        if ended:
            fresh()
        _, predicate, name, operands = found.groups()
        base = name.split(".")[0]
        current.add(name, predicate)
        target = TARGET.search(operands)
        if base == "BSSY":
            rejoin[operands.split(",")[0].strip()] = target.group(1)
        if base == "CALL" and target and target.group(1).startswith(".L"):
            base = "JMP"  # for sm_80, nvcc also leaves loops so; functions have names of their own
        if base in ("BRA", "JMP", "EXIT", "RET", "BRX", "BSYNC"):
            if base == "BSYNC":
                current.to.append(rejoin.get(operands.strip()))
            elif base in ("BRA", "JMP") and target:
                current.to.append(target.group(1))
                # The condition may also stand among the operands: BRA.DIV, BRA P0, `(...).
                if not predicate and not operands.strip().startswith("`") and base == "BRA":
                    current.to.append(None)
            if predicate and predicate != "@PT":
                current.to.append(None)
            ended = True
    for i, block in enumerate(blocks):
        block.settle()
        to = [i + 1 if label is None else place.get(label, -1) for label in block.to]
        block.to = [t for t in dict.fromkeys(to) if 0 <= t < len(blocks)]
    return blocks


def order_and_loops(blocks):
    """Blocks in an order in which edges go forward but for those that close a loop; the loops."""
    state, order, back = [0] * len(blocks), [], []
    stack = [(0, iter(blocks[0].to))]
    state[0] = 1
    while stack:
        at, rest = stack[-1]
        for to in rest:
            if state[to] == 1:
                back.append((at, to))
            elif state[to] == 0:
                state[to] = 1
                stack.append((to, iter(blocks[to].to)))
                break
        else:
            state[at] = 2
            order.append(at)
            stack.pop()
    order.reverse()
    before = [[] for _ in blocks]
    for i in order:
        for to in blocks[i].to:
            before[to].append(i)
    loops = {}  # by the block that each begins with
    for latch, head in back:
        body, todo = loops.setdefault(head, {head}), [latch]
        while todo:
            at = todo.pop()
            if at not in body:
                body.add(at)
                todo += before[at]
    return order, set(back), list(loops.values())


def main_way(blocks):
    """The blocks on the way, and the smallest loops around those of them that move data."""
    order, back, loops = order_and_loops(blocks)
    best = {}
    for i in reversed(order):
        after = max(((best[to][0], to) for to in blocks[i].to
                     if (i, to) not in back and to in best), default=((0, 0, 0), None))
        best[i] = (tuple(a + b for a, b in zip(blocks[i].weight(), after[0])), after[1])
    way, at = [], 0
    while at is not None:
        way.append(at)
        at = best[at][1]
    on_way = set(way)
    most = max((blocks[i].weight()[0] for i in way), default=0)
    chosen = set()
    for i in way:
        weight = blocks[i].weight()
        if blocks[i].pipes["tensor"] or weight[0] > 0 or (most == 0 and weight[1] > 0):
            around = [loop for loop in loops if i in loop]
            if around:
                chosen |= min(around, key=len) & on_way
    tensor = [i for i in chosen if blocks[i].pipes["tensor"]]
    moved = sum(blocks[i].weight()[0 if most else 1] for i in way)
    in_loops = sum(blocks[i].weight()[0 if most else 1] for i in chosen)
    if not tensor and in_loops * 2 < moved:
        chosen = on_way
    return way, sorted(chosen)


def summary(lines):
    """What a check and a table need to know of a kernel's code."""
    blocks = blocks_of(lines)
    _, chosen = main_way(blocks)
    names = [m.group(3).split(".") for m in map(INSTRUCTION.match, lines) if m]
    wide = [n[0] for n in names if n[0] in LOADS + STORES and width(n[1:]) >= 16]
    return {
        "instructions": sum(n[0] != "NOP" for n in names),
        "local": sum(n[0] in ("LDL", "STL") for n in names),
        "tensor": sum(n[0].endswith("MMA") for n in names),
        "wide_loads": sum(n in LOADS for n in wide),
        "wide_stores": sum(n in STORES for n in wide),
        "main": {
            "instructions": sum(blocks[i].count for i in chosen),
            "loads": [w for i in chosen for w in blocks[i].loads],
            "stores": [w for i in chosen for w in blocks[i].stores],
            "pipes": {p: sum(blocks[i].pipes[p] for i in chosen) for p in blocks[0].pipes},
        },
    }
