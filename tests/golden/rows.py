"""Reads the rows of tests/op_table/*.cpp and makes their calls in PyTorch.

A row holds a call that is both C++ and, after a few replacements, Python: `conv2d(a, b, c, {1, 1})`. Taper has
LibTorch's signatures, which are those of torch.ops.aten, so a new row needs nothing here.
"""

import re

import torch


class Row:
    def __init__(self, kind, op, arguments, spec, gradients):
        self.kind, self.op = kind, op
        self.arguments = re.sub(r"\s+", " ", arguments)
        self.spec, self.gradients = spec, gradients
        self.key = op + self.arguments

    def call(self, tensors):
        """The results, as a list of tensors."""
        names = dict(zip("abcdefg", tensors))
        text = python_text(self.arguments)
        if self.kind == "METHOD":
            result = call_method(self.op, text, names)
        else:
            result = eval(f"{self.op if self.op != 'lambda' else '_lambda'}{text}", {}, Names(names))
        if isinstance(result, (bool, int, float)):
            return [torch.tensor(result)]
        return list(result) if isinstance(result, (tuple, list)) else [result]


def read_rows(path):
    """Every ROW(op, (arguments), "spec", gradients, ...), METHOD(...) of a file, and PROMOTES(op, (arguments))."""
    text = re.sub(r"^\s*(//|#define).*$", "", path.read_text(), flags=re.M)
    rows = []
    for match in re.finditer(r"\b(ROW|METHOD|PROMOTES)\(", text):
        parts = split_arguments(text[match.end():])
        spec = "".join(re.findall(r'"([^"]*)"', parts[2])) if len(parts) > 2 else ""
        rows.append(Row(match[1], parts[0], parts[1], spec, parts[3] if len(parts) > 3 else "none"))
    return rows


def split_arguments(text):
    """The arguments up to the closing parenthesis."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "({[":
            depth += 1
        elif c in "]})" and depth:
            depth -= 1
        elif c in ",)" and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
            if c == ")":
                return parts
    raise ValueError("unbalanced row: " + text[:80])


REPLACEMENTS = [
    (r"\{", "["), (r"\}", "]"), (r"\btrue\b", "True"), (r"\bfalse\b", "False"),
    (r"\bReduction::None\b", "0"), (r"\bstd::nullopt\b", "None"),
    (r"\bkFloat\b", "torch.float32"), (r"\bkDouble\b", "torch.float64"), (r"\bkLong\b", "torch.int64"),
    (r"\bkInt\b", "torch.int32"), (r"\bkHalf\b", "torch.float16"), (r"\bkBool\b", "torch.bool"),
    (r"\bINFINITY\b", "torch.inf"), (r"\bReduction::Mean\b", "1"), (r"\bReduction::Sum\b", "2"), (r"\bSlice\(", "slice_("),
    (r'"\.\.\."', "..."),
    (r"std::optional<\w+>\((\w+)\)", r"\1"),
]


def python_text(text):
    for pattern, replacement in REPLACEMENTS:
        text = re.sub(pattern, replacement, text)
    return text


class Names(dict):
    """Tensors by their letter; every other name is an op of torch.ops.aten."""

    def __missing__(self, name):
        if name == "torch":
            return torch
        return AtenOp(name)


class NoOverload(Exception):
    """The row does not fit any signature: a mistake in the row."""


class AtenOp:
    def __init__(self, name):
        self.name = name
        self.packet = getattr(torch.ops.aten, name, None)

    def __call__(self, *args):
        """The first overload that takes the arguments. Python makes some keyword-only that LibTorch takes by
        position, and has a few functions that are no ops; a number may stand for a list of one."""
        if self.packet is None:
            return getattr(torch.nn.functional, self.name)(*args)
        overloads = [getattr(self.packet, name) for name in self.packet.overloads()]
        for keywords, lists in ((False, False), (True, False), (False, True), (True, True)):
            for overload in overloads:
                arguments = overload._schema.arguments
                if any(a.is_out or not a.has_default_value() for a in arguments[len(args):]):
                    continue
                pairs = list(zip(arguments, args))
                if len(args) > len(arguments) or any(a.kwarg_only for a, _ in pairs) and not keywords:
                    continue
                if not all(fits(str(a.real_type), value, lists) for a, value in pairs):
                    continue
                pairs = [(a, [v] if "List" in str(a.type) and isinstance(v, int) else v) for a, v in pairs]
                return overload(*[v for a, v in pairs if not a.kwarg_only],
                                **{a.name: v for a, v in pairs if a.kwarg_only})
        raise NoOverload(f"no overload of {self.packet} takes {args}")


def fits(kind, value, lists):
    """Whether a schema's type takes the value."""
    if kind.startswith("Optional["):
        return value is None or fits(kind[9:-1], value, lists)
    if isinstance(value, torch.Tensor):
        return kind == "Tensor"
    if isinstance(value, bool):
        return kind in ("bool", "number")
    if isinstance(value, int):
        return kind in ("int", "SymInt", "number", "float") or lists and kind.startswith("List[")
    if isinstance(value, float):
        return kind in ("float", "number")
    if isinstance(value, str):
        return kind == "str"
    if isinstance(value, torch.dtype):
        return kind == "ScalarType"
    if value and isinstance(value[0], torch.Tensor):
        return kind in ("List[Tensor]", "List[Optional[Tensor]]")
    return kind in ("List[int]", "List[SymInt]")


def slice_(start=None, stop=None, step=None):
    return slice(start, stop, step)


def call_method(op, text, names):
    self = names["a"]
    scope = {**names, "slice_": slice_, "torch": torch}
    if op == "index":
        indices = eval(text, {}, scope)
        return self[tuple(indices)]
    if op == "mT":
        return self.mT
    return eval(f"a.{op}{text}", {}, scope)
