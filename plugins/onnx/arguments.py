"""The arguments of `export`: trees of inputs and outputs, names, dynamic axes, and those that have no meaning here."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import lamella

from .errors import OnnxExporterError


class TrainingMode(enum.Enum):
    """The mode in which `export` runs a module.

    EVAL switches the module to eval mode for the export, PRESERVE leaves it as it is, and TRAINING switches it to
    training mode.

    >>> lamella.onnx.TrainingMode.EVAL
    <TrainingMode.EVAL: 0>
    """

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


# Arguments of torch's function, with the values that mean what is done here anyway.
TAKEN: dict[str, tuple[Any, ...]] = {
    "dynamo": (True, False, None),
    "fallback": (True, False),
    "optimize": (True, False),
    "report": (False,),
    "verify": (False,),
    "profile": (False,),
    "dump_exported_program": (False,),
    "artifacts_dir": (".",),
    "autograd_inlining": (True, False),
    "export_modules_as_functions": (False,),
    "operator_export_type": (None, 0),
}


def check_taken(given: Mapping[str, Any]) -> None:
    """Raises if an argument of torch's function asks for something that is not done here."""
    for name, value in given.items():
        if name not in TAKEN:
            raise TypeError(f"export: there is no argument '{name}'")
        if not any(value is v or value == v for v in TAKEN[name]):
            raise OnnxExporterError(
                f"export: {name}={value!r} has no meaning here; leave it out, or pass {TAKEN[name][0]!r}"
            )


def leaves(tree: Any, path: str = "") -> list[tuple[str, Any]]:
    """Returns the leaves of a tree of tuples, lists and dictionaries, each with its path, as "x_0_key"."""
    if isinstance(tree, Mapping):
        parts: Iterable[tuple[Any, Any]] = tree.items()
    elif isinstance(tree, list | tuple):
        parts = enumerate(tree)
    else:
        return [(path, tree)]
    return [leaf for key, part in parts for leaf in leaves(part, f"{path}_{key}" if path else str(key))]


def rebuilt(tree: Any, change: Any, path: str = "") -> Any:
    """Returns the tree with ``change(path, leaf)`` in the place of each leaf."""

    def inner(key: Any, part: Any) -> Any:
        return rebuilt(part, change, f"{path}_{key}" if path else str(key))

    if isinstance(tree, Mapping):
        return type(tree)({k: inner(k, v) for k, v in tree.items()})  # type: ignore[call-arg]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(inner(i, v) for i, v in enumerate(tree)))
    if isinstance(tree, list | tuple):
        return type(tree)(inner(i, v) for i, v in enumerate(tree))
    return change(path, tree)


def parameters(model: Any) -> tuple[list[str], bool]:
    """Returns the names of the parameters of ``forward`` or of a function, and whether it takes any keyword."""
    function = model.forward if isinstance(model, lamella.nn.Module) else model
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return [], True
    packed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in found if p.kind not in packed], any(p.kind is packed[1] for p in found)


def by_parameter(model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call by the names of the parameters of ``forward``; further ones by their place."""
    names, _ = parameters(model)
    names += [f"input_{i}" for i in range(len(names), len(args))]
    return {**dict(zip(names, args, strict=False)), **kwargs}


def split_args(model: Any, args: Any, kwargs: Mapping[str, Any] | None) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns positional and keyword arguments as torch reads ``args``: a tensor, or a tuple whose last entry may be a
    dictionary of keyword arguments."""
    if isinstance(args, lamella.Tensor):
        args = (args,)
    if not isinstance(args, list | tuple):
        raise TypeError(f"export: 'args' must be a tensor or a tuple of arguments, got {type(args).__name__}")
    args = tuple(args)
    if kwargs is None and args and isinstance(args[-1], dict):
        names, any_keyword = parameters(model)
        if any_keyword or set(args[-1]) <= set(names):
            args, kwargs = args[:-1], args[-1]
    return args, dict(kwargs or {})


def axes_of(
    names: list[str], ranks: Mapping[str, int], outputs: Iterable[str], dynamic_axes: Any
) -> tuple[dict[str, dict[int, str]], dict[str, dict[int, str]]]:
    """Returns the names of the dynamic axes of inputs and of outputs, by the tensor's name and the dimension."""
    found: dict[str, dict[int, str]] = {}
    for tensor, axes in (dynamic_axes or {}).items():
        if tensor not in names and tensor not in outputs:
            raise ValueError(f"export: 'dynamic_axes' names {tensor!r}; the inputs are {names}, and the outputs"
                             f" {list(outputs)}")  # fmt: skip
        if not isinstance(axes, Mapping):
            axes = {d: f"{tensor}_dynamic_axes_{i + 1}" for i, d in enumerate(axes)}
        rank = ranks.get(tensor)
        for d, axis in axes.items():
            if not isinstance(d, int) or not isinstance(axis, str) or not axis:
                raise ValueError(f"export: 'dynamic_axes' of {tensor!r} maps dimensions to names, got {d!r}: {axis!r}")
            if rank is not None and not -rank <= d < rank:
                raise ValueError(f"export: 'dynamic_axes' of {tensor!r} names dimension {d} of {rank}")
            found.setdefault(tensor, {})[d % rank if rank else d] = axis
    return {n: a for n, a in found.items() if n in names}, {n: a for n, a in found.items() if n not in names}


def axes_by_tree(tree: Mapping[str, Any], dynamic_shapes: Any) -> dict[str, dict[int, str]]:
    """Returns the names of dynamic axes by the paths of the inputs, from ``dynamic_shapes``, which has a dictionary
    from dimensions to names, or None, for each tensor."""
    if isinstance(dynamic_shapes, list | tuple):
        if len(dynamic_shapes) != len(tree):
            raise ValueError(f"export: 'dynamic_shapes' has {len(dynamic_shapes)} entries for {len(tree)} arguments")
        dynamic_shapes = dict(zip(tree, dynamic_shapes, strict=True))
    if unknown := set(dynamic_shapes) - set(tree):
        raise ValueError(f"export: 'dynamic_shapes' names {sorted(unknown)}; the arguments are {list(tree)}")
    found: dict[str, dict[int, str]] = {}

    def go(path: str, part: Any, shapes: Any) -> None:
        if isinstance(part, lamella.Tensor):
            pairs = shapes.items() if isinstance(shapes, Mapping) else enumerate(shapes or ())
            for d, axis in pairs:
                axis = getattr(axis, "__name__", axis)  # a Dim of torch has its name there
                if isinstance(axis, str):
                    found.setdefault(path, {})[d % part.ndim] = axis
                elif axis is not None and axis != part.shape[d]:
                    raise ValueError(f"export: 'dynamic_shapes' names axes by texts, got {axis!r} for {path!r}")
        elif shapes is not None:
            for key, inner in part.items() if isinstance(part, Mapping) else enumerate(part):
                there = shapes.get(key) if isinstance(shapes, Mapping) else shapes[key]
                go(f"{path}_{key}", inner, there)

    for name, part in tree.items():
        go(name, part, dynamic_shapes.get(name))
    return found
