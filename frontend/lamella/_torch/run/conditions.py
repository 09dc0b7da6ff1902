"""Evaluates conditions of a program whose values do not depend on its run, such as ``torch.cuda.is_available()``."""

from __future__ import annotations

import ast
from typing import Any

from lamella._torch.run.objects import look_up
from lamella._torch.run.scopes import Function, Scope, Torch

QUESTIONS = {  # functions without arguments, which are called here to evaluate a condition
    "is_available",
    "is_built",
    "is_compiling",
    "is_initialized",
    "is_scripting",
    "is_tracing",
}
DEEPEST = 20  # conditions and functions within each other
ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def truth(test: ast.AST | None, scope: Scope, depth: int = 0) -> bool | None:
    """Returns the truth of an expression; None if it depends on the run of the program."""
    if depth > DEEPEST:
        return None
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = truth(test.operand, scope, depth + 1)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)
        parts = [truth(part, scope, depth + 1) for part in test.values]
        return decides if decides in parts else None if None in parts else not decides
    if isinstance(test, ast.Name):
        owner = scope.owner(test.id)
        bound = owner.bound[test.id] if owner is not None else []
        return truth(bound[0], owner, depth + 1) if len(bound) == 1 and owner is not None else None
    if isinstance(test, ast.Call) and not test.args and not test.keywords:
        return answer(scope.value(test.func), depth)
    return None


def answer(function: Any, depth: int) -> bool | None:
    """Returns the truth of what a function without arguments returns; None if it depends on the run of the program."""
    if isinstance(function, Function):
        made = result(function.node.body, function.file.scopes[function.node], depth + 1)
        return made if made != FALLS else False  # it ends without a `return`
    if not isinstance(function, Torch) or function.path.rpartition(".")[2] not in QUESTIONS:
        return None
    found, lost = look_up(function.path)
    return bool(found()) if lost is None and callable(found) else None


FALLS = "falls through"


def result(statements: list[ast.stmt], scope: Scope, depth: int) -> Any:
    """Returns the truth of what statements return, FALLS if they return nothing, or None if that depends on the run."""
    for statement in statements:
        if isinstance(statement, ast.Return):
            return False if statement.value is None else truth(statement.value, scope, depth)
        if isinstance(statement, ast.If):
            held = truth(statement.test, scope, depth)
            if held is None:
                return None
            made = result(statement.body if held else statement.orelse, scope, depth)
            if made != FALLS:
                return made
        elif not isinstance(statement, (ast.Expr, ast.Import, ast.ImportFrom, ast.Global, ast.Pass, ast.Assign)):
            return None
    return FALLS


def leaves(statement: ast.stmt, scope: Scope) -> bool:
    """Returns whether a statement always leaves its block, so that nothing after it is run."""
    if isinstance(statement, ast.If):
        held = truth(statement.test, scope)
        bodies = [statement.body] if held is True else [statement.orelse] if held is False else []
        bodies = bodies or [statement.body, statement.orelse]
        return all(any(leaves(inner, scope) for inner in body) for body in bodies)
    return isinstance(statement, ENDS)
