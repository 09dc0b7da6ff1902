"""FlopCounterMode counts the floating-point operations of products, convolutions and attention.

A multiplication and its addition count as two. Operators without a formula count nothing, as in torch; pointwise ones
are among these. The operators are those below autograd, in forward and backward.

>>> from lamella.utils.flop_counter import FlopCounterMode
>>> model, x = lamella.nn.Linear(3, 4), lamella.ones(2, 3)
>>> with FlopCounterMode(display=False) as counter:
...     model(x).sum().backward()
>>> counter.get_total_flops()  # 2 * 2 * 3 * 4 for the product, and as many for the gradient of the weight
96
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

import lamella
from lamella import Tensor
from lamella.plugins.profiler.flops import FORMULAS
from lamella.utils._python_dispatch import TorchDispatchMode
from lamella.utils._pytree import tree_map
from lamella.utils.module_tracker import GLOBAL, ModuleTracker

__all__ = ["FlopCounterMode", "flop_registry", "register_flop_formula"]

Formula = Callable[..., int]
flop_registry: dict[Any, Formula] = {}  # maps an operator to a formula of its arguments and result


def _packet(name: str) -> Any:
    """Returns an operator without its overload by its full name."""
    space, _, own = name.partition("::")
    return getattr(getattr(lamella.ops, space), own.partition(".")[0])


def _shapes(values: Any) -> Any:
    return tree_map(lambda x: tuple(x.shape) if isinstance(x, Tensor) else x, values)


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Decorates a formula of an operator, or of several: it returns the floating-point operations of one call.

    Args:
        targets: operators such as ``lamella.ops.mine.twice``, or a list of them; an overload stands for all
        get_raw: with False the formula takes the call's arguments with shapes in place of tensors, and the shape of the
            result as ``out_shape``; with True the arguments themselves, and the result as ``out_val``

    Raises:
        ValueError: a target is not an operator, or has a formula

    >>> lib = lamella.library.Library("mine", "DEF")
    >>> _ = lib.define("thrice(Tensor self) -> Tensor")
    >>> _ = lib.impl("thrice", lambda x: x * 3, "cpu")
    >>> @lamella.utils.flop_counter.register_flop_formula(lamella.ops.mine.thrice)
    ... def thrice(shape, *args, out_shape=None, **kwargs):
    ...     return shape[0]
    >>> with lamella.utils.flop_counter.FlopCounterMode(display=False) as counter:
    ...     _ = lamella.ops.mine.thrice(lamella.ones(5))
    >>> counter.get_total_flops()
    5
    >>> lib.close()
    """

    def register(formula: Formula) -> Formula:
        wrapped = formula if get_raw else _of_shapes(formula)
        for target in targets if isinstance(targets, list | tuple | set) else (targets,):
            if not getattr(target, "schemas", None):
                raise ValueError(
                    "register_flop_formula: argument 'targets': expected operators such as lamella.ops.aten.mm, got "
                    f"{type(target).__name__}"
                )
            packet = _packet(str(target.schemas[0]).partition("(")[0])
            if packet in flop_registry:
                raise ValueError(f"register_flop_formula: {packet} has a formula already")
            flop_registry[packet] = wrapped
        return formula

    return register


def _of_shapes(formula: Formula) -> Formula:
    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        return formula(*_shapes(args), out_shape=_shapes(out_val), **_shapes(kwargs))

    return counted


# ---- formulas --------------------------------------------------------------------------------------------------------


def _of_tensors(formula: Formula) -> Formula:
    """Makes a formula of a call out of one of the profiler, which takes the shapes of the call's tensors.

    An optional tensor that is None has the shape ().
    """

    def counted(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        given = [x for x in (*args, *kwargs.values()) if x is None or isinstance(x, Tensor)]
        return formula(*(() if x is None else tuple(x.shape) for x in given))

    return counted


def _matmul(left: Any, right: Any, *_: Any, out_val: Any = None, **__: Any) -> int:
    return 2 * prod(out_val.shape) * left.shape[-1]


def _dot(left: Any, right: Any, *_: Any, **__: Any) -> int:
    return 2 * left.numel()


def _added(_: Any, left: Any, right: Any, *__: Any, **___: Any) -> int:
    return 2 * left.numel() * (right.shape[-1] if right.ndim == left.ndim else 1)


def _convolution(input: Any, weight: Any, *_: Any, out_val: Any = None, **__: Any) -> int:
    return 2 * prod(out_val.shape) * prod(weight.shape[1:])


def _transposed(input: Any, weight: Any, *_: Any, **__: Any) -> int:
    return 2 * prod(input.shape) * prod(weight.shape[1:])


def _convolution_backward(
    grad: Any, input: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: Any,
    output_padding: Any, groups: Any, output_mask: Any, **_: Any,
) -> int:  # fmt: skip
    """Counts two products of the forward's size: the gradients by the input and by the weight."""
    once = 2 * prod((input if transposed else grad).shape) * prod(weight.shape[1:])
    return once * (bool(output_mask[0]) + bool(output_mask[1]))


def _weight_backward(grad: Any, input: Any, weight_size: Any, *_: Any, **__: Any) -> int:
    return 2 * prod(grad.shape) * prod(weight_size[1:])


def _linear_weight_backward(grad: Any, input: Any, **_: Any) -> int:
    return 2 * grad.numel() * input.shape[-1]


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    return 2 * prod(query.shape[:-1]) * key.shape[-2] * (query.shape[-1] + value.shape[-1])


def _recurrent(gates: Any, hx: Any, *args: Any, **_: Any) -> int:
    """Counts the product of the hidden state with the weights in each step; the inputs' product is an operator of its
    own."""
    weight = next(x for x in args if isinstance(x, Tensor) and x.ndim == 2 and x.shape[0] == gates.shape[-1])
    return 2 * gates.numel() * weight.shape[1]


def _recurrent_backward(*args: Any, out_val: Any = None, **_: Any) -> int:
    """Counts two products a step, for the gradients by the hidden state and by the weight."""
    grads = out_val[0]
    weight = next(x for x in args if isinstance(x, Tensor) and x.ndim == 2 and x.shape[0] == grads.shape[-1])
    return 4 * grads.numel() * weight.shape[1]


OWN: dict[Formula, str] = {
    _matmul: "aten::matmul",
    _dot: "aten::dot aten::vdot",
    _added: "aten::addmv aten::addbmm",
    _convolution: "aten::convolution aten::conv1d aten::conv2d aten::conv3d",
    _transposed: "aten::conv_transpose1d aten::conv_transpose2d aten::conv_transpose3d",
    _convolution_backward: "aten::convolution_backward",
    _weight_backward: "aten::_convolution_backward_weight",
    _linear_weight_backward: "autograd::_linear_weight_backward",
    _attention: "aten::scaled_dot_product_attention",
    _recurrent: "aten::_lstm_layer aten::_gru_layer aten::_rnn_layer",
    _recurrent_backward: "aten::_lstm_layer_backward aten::_gru_layer_backward aten::_rnn_layer_backward",
}
# Operators whose products depend on more than shapes: they are taken apart on tensors without data, and counted there.
TAKEN_APART = "aten::einsum aten::tensordot aten::bilinear"


def _fill() -> None:
    """Puts the formulas of this file and those of the profiler into the registry, except for missing operators."""
    listed = {name: _of_tensors(formula) for name, formula in FORMULAS.items()}
    listed |= {name: formula for formula, names in OWN.items() for name in names.split()}
    for name, formula in listed.items():
        try:
            flop_registry[_packet(name)] = formula
        except AttributeError:  # autograd's own operators are absent if the plugin is
            continue


_fill()


# ---- the mode --------------------------------------------------------------------------------------------------------


class _Apart(TorchDispatchMode):
    """Adds the operations of the parts of an operator."""

    def __init__(self, registry: dict[Any, Formula]):
        self.registry, self.total = registry, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        formula = self.registry.get(_packet(str(func.schemas[0]).partition("(")[0]))
        if formula is not None:
            self.total += formula(*args, **(kwargs or {}), out_val=result)
        return result


def _taken_apart(packet: Any, args: Any, kwargs: Any, registry: dict[Any, Formula]) -> int:
    """Returns the operations of a composite: autograd's layer calls its parts, on tensors of device "meta".

    Without the plugin autograd the composite is not taken apart, and the result is 0.
    """
    if not hasattr(lamella, "autograd"):
        return 0

    def without_data(x: Any) -> Any:
        if not isinstance(x, Tensor):
            return x
        made = lamella.empty(x.shape, dtype=x.dtype, device="meta")
        return made.requires_grad_() if x.is_floating_point() or x.is_complex() else made

    counter = _Apart(registry)
    args, kwargs = tree_map(without_data, (tuple(args), dict(kwargs)))
    with lamella.enable_grad(), counter:
        packet(*args, **kwargs)
    return counter.total


SUFFIXES = ("", "K", "M", "B", "T")


def _short(number: int, power: int) -> str:
    return f"{number / 1000**power:.3f}".rstrip("0").rstrip(".") + SUFFIXES[power] if power else str(number)


class FlopCounterMode(TorchDispatchMode):
    """Counts the floating-point operations of the calls within the block, by module and operator.

    Args:
        mods: is ignored, with a warning; all modules are counted
        depth: how deep the modules are that the printed table shows
        display: prints the table at the end of the block
        custom_mapping: formulas by operator, in place of those of ``register_flop_formula``; such a formula takes
            shapes in place of tensors, and the result's as ``out_shape``, unless its attribute ``_get_raw`` is True

    >>> model = lamella.nn.Sequential(lamella.nn.Linear(2, 3), lamella.nn.Linear(3, 1))
    >>> with lamella.utils.flop_counter.FlopCounterMode() as counter, lamella.no_grad():
    ...     _ = model(lamella.ones(5, 2))
    Module            FLOP  % Total
    ----------------  ----  -------
    Global              90  100.00%
     - aten.linear      90  100.00%
     Sequential         90  100.00%
      - aten.linear     90  100.00%
      Sequential.0      60   66.67%
       - aten.linear    60   66.67%
      Sequential.1      30   33.33%
       - aten.linear    30   33.33%
    >>> counter.get_flop_counts()["Sequential.1"]
    {<operator aten::linear>: 30}
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Formula] | None = None,
    ):
        if mods is not None:
            import warnings

            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.tracker = ModuleTracker()
        custom = {
            _packet(str(op.schemas[0]).partition("(")[0]): f if getattr(f, "_get_raw", False) else _of_shapes(f)
            for op, f in (custom_mapping or {}).items()
        }
        self.registry = {**flop_registry, **custom}
        self.apart = {_packet(name) for name in TAKEN_APART.split()} - set(custom)

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self.tracker.__enter__()
        super().__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        if self.display:
            print(self.get_table(self.depth))
        self.tracker.__exit__(*error)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        packet = _packet(str(func.schemas[0]).partition("(")[0])
        if packet in self.apart:
            number = _taken_apart(packet, args, kwargs, self.registry)
        elif packet in self.registry:
            number = self.registry[packet](*args, **kwargs, out_val=result)
        else:
            return result
        for module in self.tracker.parents:
            self.flop_counts[module][packet] += number
        return result

    def get_total_flops(self) -> int:
        """Returns the operations of all calls."""
        return sum(self.flop_counts[GLOBAL].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Returns the operations by module and operator. The name "Global" stands for the whole block."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Returns the counts as a table: modules down to a depth, and below each its operators."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        rows: list[tuple[str, int]] = []

        def add(module: str, level: int) -> None:
            counts = self.flop_counts[module]
            rows.append((" " * level + module, sum(counts.values())))
            for packet, number in counts.items():
                name = str(packet.schemas[0]).partition("(")[0].partition(".")[0].replace("::", ".")
                rows.append((" " * level + f" - {name}", number))

        add(GLOBAL, 0)
        modules: Iterable[str] = sorted(m for m in self.flop_counts if m != GLOBAL and m.count(".") + 1 <= depth)
        for module in modules:
            add(module, module.count(".") + 1)
        largest = max((number for _, number in rows), default=0)
        power = min((len(str(largest)) - 1) // 3 if largest >= 10_000 else 0, len(SUFFIXES) - 1)
        cells = [(name, _short(number, power), f"{100 * number / (total or 1):.2f}%") for name, number in rows]
        cells = [("Module", "FLOP", "% Total"), *cells]
        widths = [max(len(row[i]) for row in cells) + (2 if i == 1 else 0) for i in range(3)]
        lines = [f"{a:<{widths[0]}}{b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in cells]
        return "\n".join([lines[0], "  ".join("-" * (w - (i == 1) * 2) for i, w in enumerate(widths)), *lines[1:]])
