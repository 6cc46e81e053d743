"""Which cases a row's specification stands for.

    "any DOMAIN"          one input, every shape; all dtypes; special values
    "pair DOMAIN DOMAIN"  two inputs that broadcast; all dtypes; special values
    "reduce DOMAIN"       one input of any rank that shrinks
    "rows DOMAIN"         one input of any rank, along whose dimensions the op works
    "2,3 3:index4 -"      the inputs' shapes, with domains; `|` between alternatives, the first in all dtypes

Words before it: `sums` (results are sums: errors count relative to the sum of the magnitudes), `native` (the
reference is the run in the case's own dtype, where float64 would give something else). In shapes, `-` is a
tensor without dimensions, `!` behind a domain asks for no gradient.
"""

from recipes import DTYPES, FLOATING, NAMES, Recipe

__all__ = ["DTYPES", "FLOATING", "NAMES", "Case", "expand", "weight"]

ANY = [[], [0], [1], [7], [33], [131], [2, 0, 3], [2, 3, 5]]
PAIRS = [([3, 5], [5]), ([3, 1], [1, 5]), ([], [4]), ([4], []), ([], []), ([0], [1]), ([2, 0, 3], [1, 3]),
         ([7], [7]), ([33], [1]), ([131], [131]), ([2, 1, 17], [3, 1]), ([3, 5], [1, 5]), ([3], [4]),
         ([2, 3], [3, 2])]
REDUCE = [[], [0], [1], [7], [33], [2, 3, 17], [9, 65], [65, 9], [0, 3], [3, 0], [2, 1, 3]]
LARGE = [[40000], [129, 257], [257, 3]]
ROWS = [[], [1], [7], [33], [2, 3, 17], [4, 33], [0], [3, 0], [0, 4], [1, 1], [5, 2, 3]]
# The gradient's second shapes: broadcasting both ways, several dimensions, more than a vector or two.
WIDE = {"any": [[67]], "pair": [[3, 1, 17], [5, 1]], "reduce": [[3, 5, 17]], "rows": [[3, 5, 17]]}
LARGEST_GRADIENT = 4000  # elements of the inputs: what a second gradient may take of the files
SPECIALS = 18
FIXED = ("index", "mask")  # domains that choose their dtype themselves


class Case:
    def __init__(self, tag, recipes, sums=False, native=False):
        self.tag, self.recipes, self.sums, self.native = tag, recipes, sums, native


class Expanded:
    def __init__(self, elementwise, cases):
        self.elementwise, self.cases = elementwise, cases


def recipe(shape, word, seed):
    """A recipe from a domain's word, `index4`, `positive!`."""
    domain = word.rstrip("!")
    fixed = domain.startswith(FIXED)
    dtype = "bool" if domain == "mask" else "i64" if fixed else "f32"
    return Recipe(shape, domain, seed, dtype, word.endswith("!"), fixed)


def shaped(text):
    """The recipes of one alternative, "2,3 3:index4"."""
    recipes = []
    for i, word in enumerate(text.split()):
        shape, _, domain = word.partition(":")
        dims = [] if shape == "-" else [int(n) for n in shape.split(",")]
        recipes.append(recipe(dims, domain or "real", i + 1))
    return recipes


def expand(row, works):
    """`works(recipes)`: whether PyTorch takes these inputs. Gradients are taken twice: on the smallest that it takes,
    where finite differences are cheap, and on a large one, where windows overlap and loops are not all remainder."""
    words = row.spec.split()
    flags = set()
    while words and words[0] in ("sums", "native"):
        flags.add(words.pop(0))
    family, domains = (words[0], words[1:]) if words else ("", [])
    make = lambda shapes: [recipe(s, (domains + ["real"] * 9)[i], i + 1) for i, s in enumerate(shapes)]
    specials = []
    if family == "any":
        main, others, small = make([[17]]), [make([s]) for s in ANY], make([[2, 3]])
        specials = [Recipe([SPECIALS], "special", 0)]
    elif family == "pair":
        main, others, small = make([[3, 5], [3, 5]]), [make(p) for p in PAIRS], make([[2, 3], [3]])
        specials = [Recipe([SPECIALS, 1], "special", 0), Recipe([1, SPECIALS], "special", 0)]
    elif family == "reduce":
        shapes = REDUCE + (LARGE if "sums" in flags else [])
        main, others, small = make([[3, 5]]), [make([s]) for s in shapes], make([[2, 3]])
    elif family == "rows":
        main, others, small = make([[3, 5]]), [make([s]) for s in ROWS], make([[3, 4]])
    else:
        alternatives = [shaped(text) for text in " ".join(words).split("|")]
        main, others = alternatives[0], alternatives[1:]
        by_size = sorted(alternatives, key=lambda a: sum(r.numel for r in a))
        usable = [a for a in by_size if all(r.numel for r in a) and works(a)]
        small = usable[0] if usable else main
        fitting = [a for a in usable if sum(r.numel for r in a) <= LARGEST_GRADIENT]
        large = fitting[-1] if fitting else small
    if family in WIDE:
        large = make(WIDE[family])
    run = lambda tag, recipes, dtype: Case(
        tag, [r.with_dtype(dtype) for r in recipes], "sums" in flags, "native" in flags)

    base = "f32" if works([r.with_dtype("f32") for r in main]) else "i64"
    cases = [run("dtypes", main, dtype) for dtype in DTYPES] if any(
        not r.fixed for r in main) else [run("dtypes", main, "f32")]
    cases += [run("shapes", recipes, base) for recipes in others]
    # An elementwise op of special values has no sum to compare with.
    cases += [Case("special", [r.with_dtype(dtype) for r in specials], False, "native" in flags)
              for dtype in FLOATING if specials and base == "f32"]
    if row.gradients != "none":
        cases += [run("gradient", small, dtype) for dtype in ("f64", "f32", "f16", "bf16")]
        if large is not small and works(large):
            cases += [run("gradient_large", large, dtype) for dtype in ("f64", "f32")]
    return Expanded(family in ("any", "pair"), cases)


def weight(shape, output, recipes):
    """The gradient that arrives at an output."""
    dtype = next(r.dtype for r in recipes if r.differentiable())
    return Recipe(list(shape), "real", 90 + output, dtype).tensor()
