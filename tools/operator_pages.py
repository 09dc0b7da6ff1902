"""Writes docs/operators, a page for each family of operators: ``python tools/operator_pages.py docs/operators``.

`make stubs` runs this program, and a test compares. What an operator is comes from the registry, and whether its
results have gradients from its sample calls, which the program runs. The registry knows who serves an operator on
``cuda`` only while that device is there: without a GPU the program builds the driver that the tests use in its place.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STANDIN = ROOT / "tests" / "backends" / "cuda" / "standin"
MARK = "<!-- Made by `make stubs` from the live registry; a test compares. -->\n"
DEVICES = ("cpu", "cuda")
WORDS = {"native": "kernel", "composite": "composite", "shape rule": "shape rule", "fallback": "host", "none": "none"}
# Characters that Markdown reads as marks: a star beside a word, an underscore at its end, signs that begin a line.
MARKS = re.compile(r"(?<! )\*|\*(?! )|(?<!\w)_|_(?!\w)|<(?=[A-Za-z/!])|(?m:^[>+#-](?= ))")
TRIED = 6  # so many sample calls of an overload are tried for one whose results have gradients
KINDS = ("float", "bfloat", "complex")  # beginnings of dtypes that can require gradients

# Maps a page to its title and its first sentence. An operator's page is that of its module, or else of its category.
PAGES = {
    "pointwise": (
        "Pointwise operators",
        "Each element of a result is a function of the elements at its place. Shapes broadcast.",
    ),
    "special": ("Special functions", "Functions of mathematical physics and statistics, element by element."),
    "reduction": ("Reductions", "A result has one element for many: sums, means, extrema, norms, and statistics."),
    "scan": ("Scans", "Each element of a result is a function of the elements up to its place."),
    "sort": ("Sorting and searching", "Orders of elements, and the elements that an order picks."),
    "matmul": ("Products", "Products of matrices and vectors, and what is made of them."),
    "linalg": ("Linear algebra", "Factorizations, solvers, spectra, norms and functions of matrices, in batches."),
    "fft": ("Fourier transforms", "Discrete Fourier transforms over any dimensions, and the helpers around them."),
    "convolution": ("Convolutions", "Convolutions and transposed convolutions in one to three dimensions."),
    "pooling": ("Pooling", "Each element of a result is the largest, or the mean, of a window."),
    "normalization": ("Normalizations", "Elements are shifted and scaled by statistics of their groups."),
    "random": ("Random numbers", "Elements are drawn by a generator, which `manual_seed` sets."),
    "creation": ("Creation", "New tensors of given sizes, dtypes and devices."),
    "view": ("Views", "Results share the memory of an argument, and no element moves."),
    "copy": ("Copies and rearrangements", "Elements are copied to other places, dtypes or devices."),
    "indexing": ("Indexing", "Elements are read at places that other tensors name."),
    "scatter": ("Scattering", "Elements are written to places that other tensors name."),
    "lists": ("Lists of tensors", "One call computes for each tensor of a list: steps of optimizers use them."),
    "host": ("Values for Python", "A value of a tensor is read into a number of Python."),
}


def own_driver() -> None:
    """Starts this program again with the stand-in for NVIDIA's driver, if there is no driver."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        with tempfile.TemporaryDirectory() as folder:
            made = ["driver.cpp", "fibers.cpp"]
            flags = ["-std=c++20", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-soname,libcuda.so.1"]
            out = ["-o", f"{folder}/libcuda.so.1", "-ldl", "-lpthread"]
            subprocess.run(["g++", *flags, *(STANDIN / m for m in made), *out], check=True)
            env = os.environ | {"LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
            raise SystemExit(subprocess.run([sys.executable, *sys.argv], env=env, check=False).returncode) from None


# ---- facts ----


class Operator:
    """A public operator with its overloads and forms: what its section of a page says."""

    def __init__(self, name: str, forms: list[dict[str, Any]]):
        self.name = name
        self.forms = forms
        # An in-place form that has kernels of its own is declared like an overload.
        self.overloads = [o for o in forms if o["form"] == "functional"]
        self.first = next(o for o in self.overloads if o["name"] == f"aten::{name}")
        self.doc = self.first["doc"]
        self.page = self.first["module"] if self.first["module"] in PAGES else self.first["category"]


def title(o: dict[str, Any]) -> str:
    """Returns name.overload, without the namespace."""
    return o["schema"].partition("(")[0].removeprefix("aten::")


def operators() -> list[Operator]:
    """Returns the public operators of the catalogue, by name. The in-place form `abs_` belongs to `abs`."""
    from lamella import _C

    found: dict[str, list[dict[str, Any]]] = {}
    public = [o for o in _C._operators() if o["owner"] == "lamella" and not o["private"]]
    names = {o["name"] for o in public if o["form"] == "functional"}
    for o in public:
        base = o["name"].removesuffix("_")
        found.setdefault((base if base in names else o["name"]).removeprefix("aten::"), []).append(o)
    return [Operator(name, found[name]) for name in sorted(found, key=lambda n: (n.strip("_"), n))]


def support() -> dict[str, dict[str, str]]:
    """Returns for each device how it serves the operators: "native", "composite", "shape rule" or "fallback"."""
    import lamella
    from lamella import _C

    found = {}
    for device in DEVICES:
        lamella.empty(0, device=device)  # loads the backend
        found[device] = {op.removeprefix("aten::"): kind for op, kind in _C._support(device)}
    return found


def leaves(value: Any) -> list[Any]:
    """Returns the tensors in arguments or results."""
    import lamella

    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [t for part in value for t in leaves(part)]
    return [value] if isinstance(value, lamella.Tensor) else []


def cloned(value: Any) -> Any:
    """Returns a tensor's clone, or that of each tensor of a list."""
    return [cloned(v) for v in value] if isinstance(value, (list, tuple)) else value.clone()


def has_gradient(o: dict[str, Any]) -> bool:
    """Returns whether some sample call of an overload is recorded, in its result or in an argument that it writes."""
    from lamella.operators import samples

    differentiable = [s for s in samples.of(title(o)) if any(t.dtype.startswith(KINDS) for t in s.specs())]
    for sample in differentiable[:TRIED]:
        args, kwargs = sample.build("cpu")
        for t in leaves([args, kwargs]):
            if t.is_floating_point() or t.is_complex():
                t.requires_grad_()
        written = [i for i, (a, said) in enumerate(zip(args, o["args"], strict=False)) if said["written"] and leaves(a)]
        for i in written:  # leaves cannot be written
            args[i] = cloned(args[i])
        try:
            result = samples.call(sample.operator)(*args, **kwargs)
        except RuntimeError:  # an operator without a derivative refuses, as others do where a sample's memory overlaps
            continue
        unrecorded = "CloneBackward0" if written else ""
        made = leaves([result, *(args[i] for i in written)])
        if any(t.requires_grad and (not t.grad_fn or t.grad_fn.name() != unrecorded) for t in made):
            return True
    return False


class Facts:
    """What is true of the operators, beside their declarations: who serves them, and whether there are gradients."""

    def __init__(self, found: list[Operator]):
        from lamella import profiler

        self.support = support()
        overloads = [o for op in found for o in op.overloads]
        with profiler.profile() as profile:
            self.gradients = {title(o): "yes" if has_gradient(o) else "no" for o in overloads}
        self.called: dict[str, set[str]] = {}  # maps an operator's name to those of operators that it has called
        for event in profile.events():
            above = event.cpu_parent
            while above is not None:
                self.called.setdefault(above.name, set()).add(event.name)
                above = above.cpu_parent

    def serving(self, o: dict[str, Any], device: str) -> str:
        """Returns how a device serves an overload."""
        kinds = self.support[device]
        kind = kinds[title(o)]
        parts = {name.removeprefix("aten::") for name in self.called.get(o["name"], ())}
        helped = kind == "composite" and any(kinds.get(part) == "fallback" for part in parts)
        return WORDS[kind] + " with parts on the host" * helped


# ---- Markdown ----


def escaped(text: str) -> str:
    """Returns text that Markdown shows as it is, except code between backticks, which stays code."""
    parts = re.split(r"(`[^`\n]*`)", text)
    return "".join(p if p.startswith("`") and len(p) > 1 else MARKS.sub(r"\\\g<0>", p) for p in parts)


def code(names: Iterable[str]) -> str:
    return ", ".join(f"`{n}`" for n in names)


def fields(lines: list[str]) -> str:
    """Returns the indented lines of a section such as `Args:` as a list; a deeper line continues the one before."""
    joined: list[str] = []
    depth = min(len(line) - len(line.lstrip()) for line in lines)
    for line in lines:
        deeper = len(line) - len(line.lstrip()) > depth
        joined[-1:] = [f"{joined[-1]} {line.strip()}"] if deeper and joined else [*joined[-1:], line.strip()]
    entries = [re.fullmatch(r"([*\w, .`]+): (.*)", entry) for entry in joined]
    if not all(entries):
        return escaped(" ".join(joined)) + "\n"
    return "".join(f"* `{e[1].replace('`', '')}`: {escaped(e[2])}\n" for e in entries if e)


def text_of(doc: str) -> str:
    """Returns an operator's documentation as Markdown: paragraphs, lists of its sections, and its example."""
    prose, _, example = doc.partition(">>> ")
    parts = []
    for block in re.split(r"\n\s*\n", prose.strip()):
        lines = block.splitlines()
        if lines and re.fullmatch(r"[A-Z]\w+:", lines[0]) and len(lines) > 1:
            parts.append(f"{lines[0]}\n\n{fields(lines[1:])}")
        else:
            parts.append(escaped(block) + "\n")
    if example:
        parts.append(f"```pycon\n>>> {example.strip()}\n```\n")
    return "\n".join(parts)


def by_overload(found: dict[str, str]) -> str:
    """Returns what holds for the overloads: "kernel", or "kernel (`max`, `max.dim`), composite (`max.other`)"."""
    kinds = list(dict.fromkeys(found.values()))
    if len(kinds) == 1:
        return kinds[0]
    return ", ".join(f"{kind} ({code(t for t, k in found.items() if k == kind)})" for kind in kinds if kind)


def places(op: Operator) -> list[str]:
    """Returns the names by which Python calls an operator."""
    import lamella

    name, module = op.name, op.first["module"]
    found = []
    if module:
        place = f"lamella.{module}.{name.removeprefix(module.replace('.', '_') + '_')}"
        found.append(place)
    if op.first["function"] and not module and hasattr(lamella, name):
        found.append(f"lamella.{name}")
    if hasattr(lamella.nn.functional, name) and not module:
        found.append(f"lamella.nn.functional.{name}")
    if op.first["method"] and hasattr(lamella.Tensor, name):
        found.append(f"Tensor.{name}")
    return found or [f"lamella.ops.aten.{name}"]


def section(op: Operator, facts: Facts) -> str:
    """Returns an operator's section: its schemas, names, facts and documentation."""
    forms = sorted({o["name"].removeprefix("aten::") for o in op.forms} - {op.name})
    outs = ["out="] * any(o["form"] == "out" for o in op.forms)
    aliases = sorted({a.removeprefix("aten::") for o in op.forms for a in o["aliases"]})
    rows = {
        "names": code(places(op)),
        "also named": code(aliases),
        "forms": code([*forms, *outs]),
        "category": by_overload({title(o): f"`{o['category']}`" for o in op.overloads}),
        "dims": by_overload({title(o): f"`{o['dims']}`" if o["dims"] else "" for o in op.overloads}),
        **{device: by_overload({title(o): facts.serving(o, device) for o in op.overloads}) for device in DEVICES},
        "gradients": by_overload({title(o): facts.gradients[title(o)] for o in op.overloads}),
    }
    lines = "".join(f"* {key}: {value}\n" for key, value in rows.items() if value)
    schemas = "".join(f"{o['schema'].removeprefix('aten::')}\n" for o in op.overloads)
    return f"## `{op.name}`\n\n```text\n{schemas}```\n\n{lines}\n{text_of(op.doc)}"


HEAD = f"""{MARK}# The operators

The pages below have a section for each public operator of the catalogue:

* its schemas, one for each overload, in the grammar of torch's schemas;
* its names in Python, further names, the in-place form, and whether it has the form with `out=`;
* its category, and how dimensions of its results follow from those of its arguments (`dims`, explained in
  Note [Dimensions] of `<lamella/c_api.h>`);
* who computes it on `cpu` and on `cuda`: a **kernel** of the device; a **composite**, which calls other operators; a
  **shape rule** alone, where no element is computed; or the **host**, by the fallback that is counted and can be
  forbidden ([primitives](../primitives.md)). "With parts on the host" says that an operator that a composite calls is
  computed so;
* whether results have gradients, by an own derivative or by those of the operators that a composite calls;
* its documentation and its example, which a test runs.

Device `meta` computes the shapes and dtypes of all. `lamella ops show NAME` prints an operator's table of layers and
kernels in the running program, with plugins that are loaded.
"""


def pages() -> dict[str, str]:
    """Returns the text of each page by file name.

    Raises:
        SystemExit: an operator has a category without a page
    """
    found = operators()
    lost = sorted({op.page for op in found} - set(PAGES))
    if lost:
        raise SystemExit(f"tools/operator_pages.py: PAGES has no page for the categories {', '.join(lost)}")
    facts, made, rows, names = Facts(found), {}, [], []
    for page, (heading, intro) in PAGES.items():
        own = [op for op in found if op.page == page]
        parts = [f"{MARK}# {heading}\n\n{intro} [All operators](README.md).\n", *(section(op, facts) for op in own)]
        made[f"{page}.md"] = "\n".join(parts)
        overloads = [o for op in own for o in op.overloads]
        cells = [f"[{heading}]({page}.md)", len(own), len(overloads)]
        for device in DEVICES:
            counts = Counter(facts.serving(o, device) for o in overloads)
            cells.append(", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
        rows.append(f"| {' | '.join(map(str, cells))} |\n")
        listed = " ".join(f"[`{op.name}`]({page}.md#{op.name})" for op in own)
        names.append(f"## {heading}\n\n{listed}\n")
    table = f"| page | operators | overloads | {' | '.join(DEVICES)} |\n|---|---|---|---|---|\n{''.join(rows)}"
    made["README.md"] = "\n".join([HEAD, table, *names])
    return made


def main() -> None:
    own_driver()
    if len(sys.argv) < 2:
        raise SystemExit("usage: python tools/operator_pages.py FOLDER")
    folder, made = Path(sys.argv[1]), pages()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
