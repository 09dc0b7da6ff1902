"""Early exits: rewrites a function's syntax tree so that return, break and continue are assignments.

Note [Exits]  A graph has no jumps. ``return e`` becomes ``$return = e``. Where one branch of an ``if`` always exits,
  the statements behind the ``if`` move into the other branch. Where a branch exits on some of its paths only, and where
  a loop is left, a flag says so, and what follows is put under ``if not $returned``. ``break`` sets ``$broke1``, which
  ends the loop, and ``continue`` sets ``$skip1``. A flag that nothing reads is not set. Names with a ``$`` are no names
  of Python, so that they cannot be those of the user.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

RETURN = "$return"


class Lowered(NamedTuple):
    """Statements without exits."""

    body: list[ast.stmt]
    kinds: set[str]
    """The flags that the statements may set."""
    always: bool
    """Whether the end is never reached: each path exits, or raises an error."""


def lower(body: list[ast.stmt]) -> list[ast.stmt]:
    """Returns a function's statements without return, break and continue. Functions without a value return None."""
    lowering = _Lowering()
    found = lowering.block(body, 0)
    if not found.always:
        nothing = ast.Return(value=None)
        nothing.implicit = True  # type: ignore[attr-defined]
        if body:
            ast.copy_location(nothing, body[-1])
        found = lowering.block([*body, nothing], 0)
    out = _kept(found.body, lowering.tested)
    if "$returned" in lowering.tested:
        out.insert(0, _flag("$returned", False, body[0]))
    return out


def assigned(body: list[ast.stmt]) -> list[str]:
    """Returns the names that statements assign, in the order of the first assignments."""
    found: dict[str, None] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                found[node.id] = None
    return list(found)


def _flag(name: str, value: bool, at: ast.AST) -> ast.Assign:
    made = ast.Assign(targets=[ast.Name(name, ast.Store())], value=ast.Constant(value))
    ast.copy_location(made, at)
    return ast.fix_missing_locations(made)


class _Lowering:
    def __init__(self) -> None:
        self.tested: set[str] = set()
        self.loops = 0

    def block(self, body: list[ast.stmt], loop: int) -> Lowered:
        out: list[ast.stmt] = []
        kinds: set[str] = set()
        for i, s in enumerate(body):
            rest = body[i + 1 :] if isinstance(s, (ast.If, ast.For, ast.While, ast.With)) else []
            if isinstance(s, ast.Return):
                value = s.value or ast.copy_location(ast.Constant(None), s)
                made = ast.Assign(targets=[ast.Name(RETURN, ast.Store())], value=value)
                ast.copy_location(made, s)
                ast.copy_location(made.targets[0], s)
                made.implicit = hasattr(s, "implicit")  # type: ignore[attr-defined]
                return Lowered([*out, made, _flag("$returned", True, s)], kinds | {"$returned"}, True)
            if isinstance(s, (ast.Break, ast.Continue)) and loop:
                name = f"$broke{loop}" if isinstance(s, ast.Break) else f"$skip{loop}"
                return Lowered([*out, _flag(name, True, s)], kinds | {name}, True)
            if isinstance(s, ast.Raise):
                return Lowered([*out, s], kinds, True)
            if isinstance(s, ast.If):
                done = self.on_if(s, rest, loop, out, kinds)
                if done is not None:
                    return done
            elif isinstance(s, (ast.For, ast.While)):
                done = self.on_loop(s, rest, loop, out, kinds)
                if done is not None:
                    return done
            elif isinstance(s, ast.With):
                inner = self.block(s.body, loop)
                out.append(ast.copy_location(ast.With(items=s.items, body=inner.body), s))
                if inner.always:
                    return Lowered(out, kinds | inner.kinds, True)
                if inner.kinds:
                    return self.guarded(inner.kinds, rest, loop, out, kinds)
            else:
                out.append(s)
        return Lowered(out, kinds, False)

    def on_if(self, s: ast.If, rest: list[ast.stmt], loop: int, out: list[ast.stmt], kinds: set[str]) -> Lowered | None:
        """Adds an ``if``; returns the block if it ends here, since `rest` went into a branch or cannot be reached."""
        then, other = self.block(s.body, loop), self.block(s.orelse, loop)
        exits = then.kinds | other.kinds
        maybe = not then.always and not other.always
        moved = exits and rest and not (then.always and other.always)
        if moved and then.always:
            other = self.block([*s.orelse, *rest], loop)
        elif moved and other.always:
            then = self.block([*s.body, *rest], loop)
        made = ast.copy_location(ast.If(test=s.test, body=then.body, orelse=other.body), s)
        out.append(made)
        both = then.always and other.always
        if not exits:
            return Lowered(out, kinds, True) if both else None
        if moved and maybe:
            return self.guarded(exits, rest, loop, out, kinds)
        return Lowered(out, kinds | then.kinds | other.kinds, both)

    def guarded(
        self, flags: set[str], rest: list[ast.stmt], loop: int, out: list[ast.stmt], kinds: set[str]
    ) -> Lowered:
        """Adds statements that run unless one of the flags is set."""
        if not rest:
            return Lowered(out, kinds | flags, False)
        inner = self.block(rest, loop)
        if inner.body:
            out.append(self.unless(flags, inner.body, rest[0]))
        return Lowered(out, kinds | flags | inner.kinds, inner.always)

    def unless(self, flags: set[str], body: list[ast.stmt], at: ast.AST) -> ast.If:
        self.tested |= flags
        names: list[ast.expr] = [ast.Name(n, ast.Load()) for n in sorted(flags)]
        test = names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)
        made = ast.If(test=ast.UnaryOp(ast.Not(), test), body=body, orelse=[])
        ast.copy_location(made, at)
        return ast.fix_missing_locations(made)

    def on_loop(
        self, s: ast.For | ast.While, rest: list[ast.stmt], loop: int, out: list[ast.stmt], kinds: set[str]
    ) -> Lowered | None:
        self.loops += 1
        own = self.loops
        broke, skip = f"$broke{own}", f"$skip{own}"
        inner = self.block(s.body, own)
        stops = sorted(inner.kinds - {skip})
        self.tested |= set(stops)
        body = inner.body
        if skip in self.tested:
            body = [_flag(skip, False, s), *body]
        made: ast.For | ast.While
        if isinstance(s, ast.For):
            made = ast.For(target=s.target, iter=s.iter, body=body, orelse=s.orelse)
        else:
            made = ast.While(test=s.test, body=body, orelse=s.orelse)
        ast.copy_location(made, s)
        made.stops = stops  # type: ignore[union-attr]
        if broke in stops:
            out.append(_flag(broke, False, s))
        out.append(made)
        if "$returned" not in inner.kinds:
            return None
        endless = isinstance(s, ast.While) and isinstance(s.test, ast.Constant) and bool(s.test.value)
        if endless and broke not in stops:
            return Lowered(out, kinds | {"$returned"}, True)
        return self.guarded({"$returned"}, rest, loop, out, kinds)


def _kept(body: list[ast.stmt], tested: set[str]) -> list[ast.stmt]:
    """Returns statements without the assignments of flags that nothing reads."""
    out = []
    for s in body:
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            name = s.targets[0].id
            if name.startswith("$") and name != RETURN and name not in tested:
                continue
        for part in ("body", "orelse"):
            if isinstance(s, (ast.If, ast.For, ast.While, ast.With)) and getattr(s, part, None):
                setattr(s, part, _kept(getattr(s, part), tested))
        out.append(s)
    return out
