"""Parses lines to samples: the syntax that the package's first page describes, read with ast."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from lamella.operators.samples.spec import SHORT, Spec, seeded, tensor

CLASSES = {
    "floats": ("f32", "f64", "f16", "bf16"),
    "ints": ("i64", "i32", "i16", "i8", "u8"),
    "wide": ("u16", "u32", "u64"),
    "complexes": ("c64", "c128"),
    **{name: (name,) for name in SHORT},
}
FORMATS = ("contiguous_format", "channels_last", "preserve_format")
NUMBERS = {"inf": float("inf"), "nan": float("nan")}
TAG = re.compile(r"^(\w+):\s+(?=[\w.]+\()")
RAISES = re.compile(r"^(.*)\sraises (\w+)((?: '[^']*')*)$")


class Named(NamedTuple):
    """A dtype or memory format by its name in lamella, torch or numpy."""

    name: str


@dataclass(frozen=True)
class Sample:
    """One call: ``args`` and ``kwargs`` hold literals, Named and Spec."""

    operator: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    text: str
    where: str
    tag: str = ""
    raises: str = ""
    quotes: tuple[str, ...] = ()
    places: tuple[Sample, ...] = ()  # of the single operator, for the places of an operator over lists

    def __str__(self) -> str:
        return f"{self.text}  ({self.where})"

    def specs(self) -> list[Spec]:
        """Returns every tensor of the call, in order."""
        found: list[Spec] = []
        self.map(lambda leaf: found.append(leaf) if isinstance(leaf, Spec) else None)
        return found

    def map(self, change: Callable[[Any], Any]) -> tuple[list[Any], dict[str, Any]]:
        """Returns the arguments with every leaf replaced by ``change(leaf)``."""

        def go(value: Any) -> Any:
            if isinstance(value, (list, tuple)) and not isinstance(value, Named):
                return type(value)(go(v) for v in value)
            return change(value)

        return [go(v) for v in self.args], {k: go(v) for k, v in self.kwargs.items()}

    def relaid(self, change: Callable[[Spec], Spec]) -> Sample:
        """Returns the same call with its tensors changed."""
        args, kwargs = self.map(lambda leaf: change(leaf) if isinstance(leaf, Spec) else leaf)
        return replace(self, args=tuple(args), kwargs=kwargs, places=tuple(p.relaid(change) for p in self.places))

    def build(self, device: str | None = None) -> tuple[list[Any], dict[str, Any]]:
        """Returns the arguments that lamella takes, with fresh tensors on a device."""
        import lamella

        def made(leaf: Any) -> Any:
            if isinstance(leaf, Spec):
                return tensor(leaf, device)
            return getattr(lamella, leaf.name) if isinstance(leaf, Named) else leaf

        return self.map(made)


def read(path: Path) -> list[Sample]:
    """Returns the samples of one file, templates and groups multiplied out."""
    groups: dict[str, list[str]] = {}
    found: list[Sample] = []
    for number, line in lines(path.read_text()):
        try:
            group = re.fullmatch(r"(\w+) = (.*)", line)
            if group:
                groups[group[1]] = [n for word in group[2].split(", ") for n in groups.get(word, [word])]
            else:
                found += expanded(line, groups, f"{path.name}:{number}")
        except (ValueError, SyntaxError, KeyError, AttributeError) as error:
            raise ValueError(f"{path.name}:{number}: {line}: {error}") from error
    return found


def lines(text: str) -> Iterator[tuple[int, str]]:
    """Returns numbered lines without comments; a line that begins with a space belongs to the line before."""
    joined: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        line = re.sub(r"(^|\s)#.*", "", line).rstrip()
        if line.startswith(" ") and joined:
            joined[-1] = (joined[-1][0], joined[-1][1] + " " + line.strip())
        elif line:
            joined.append((number, line))
    return iter(joined)


def expanded(line: str, groups: dict[str, list[str]], where: str) -> Iterator[Sample]:
    tag = TAG.match(line)
    body = line[tag.end() :] if tag else line
    bad = RAISES.match(body)
    kind, quotes = (bad[2], tuple(re.findall(r"'([^']*)'", bad[3]))) if bad else ("", ())
    source = bad[1] if bad else body
    for bound, call in repeated(source):
        name = ast.unparse(call.func)
        for operator in groups.get(name, [name]):
            yield sample(operator, call, bound, where, tag[1] if tag else "", kind, quotes)


def repeated(source: str) -> Iterator[tuple[dict[str, str], ast.Call]]:
    """Yields the call of a line, once for each dtype that its ``for`` clauses name."""
    node = ast.parse(f"({source})", mode="eval").body
    clauses = node.generators if isinstance(node, ast.GeneratorExp) else []
    call = node.elt if isinstance(node, ast.GeneratorExp) else node
    if not isinstance(call, ast.Call):
        raise ValueError("expected one call, as in add.Tensor(f32[3], f32[3])")
    bindings: list[dict[str, str]] = [{}]
    for clause in clauses:
        names = [n for word in ast.unparse(clause.iter).split(" | ") for n in CLASSES[word]]
        bindings = [b | {ast.unparse(clause.target): n} for b in bindings for n in names]
    for b in bindings:
        yield b, call


def sample(
    operator: str, call: ast.Call, bound: dict[str, str], where: str, tag: str, kind: str, quotes: tuple[str, ...]
) -> Sample:
    class Bind(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.Name:
            return ast.Name(bound.get(node.id, node.id))

    arguments = [ast.unparse(Bind().visit(ast.parse(ast.unparse(a), mode="eval"))) for a in call.args]
    named = {str(k.arg): ast.unparse(Bind().visit(ast.parse(ast.unparse(k.value), mode="eval"))) for k in call.keywords}
    text = f"{operator}({', '.join([*arguments, *(f'{k}={v}' for k, v in named.items())])})"
    made = Sample(
        operator,
        tuple(value(ast.parse(a, mode="eval").body) for a in arguments),
        {k: value(ast.parse(v, mode="eval").body) for k, v in named.items()},
        text,
        where,
        tag,
        kind,
        quotes,
    )
    count = iter(range(1000))
    return made.relaid(lambda spec: replace(spec, seed=seeded(f"{text}{next(count)}")))


def value(node: ast.expr) -> Any:
    """Returns the value of an argument's expression; nothing of it is executed."""
    if isinstance(node, ast.List):
        return [value(n) for n in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(value(n) for n in node.elts)
    if isinstance(node, ast.Name):
        if node.id in NUMBERS:
            return NUMBERS[node.id]
        return Named(SHORT.get(node.id) or FORMATS[FORMATS.index(node.id)])
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Name):
        return -NUMBERS[node.operand.id]
    if isinstance(node, ast.Subscript):
        sizes = value(node.slice)
        return Spec(SHORT[ast.unparse(node.value)], sizes if isinstance(sizes, tuple) else (sizes,))
    if isinstance(node, ast.Attribute):
        return value(node.value).with_word(node.attr, None)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return value(node.func.value).with_word(node.func.attr, tuple(value(a) for a in node.args))
    return ast.literal_eval(node)
