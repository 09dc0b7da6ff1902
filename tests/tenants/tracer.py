"""A tracer as a layer: records the operators that a program calls as nodes with named values, and replays them.

The layer is inside autograd, so that it sees the operators whose results derivatives use. A tensor has the name of its
value by identity. A derivative gets a saved result as another tensor over the same memory, which is known by that.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import lamella
from lamella.library import Description, Library, describe

from . import over, run


@dataclass(frozen=True)
class Value:
    """A tensor of the program, in a node."""

    name: str

    def __repr__(self):
        return self.name


class Node(NamedTuple):
    """One call: the operator, its arguments by name with values in the place of tensors, and its results."""

    about: Description
    given: dict[str, Any]
    results: Any

    def __repr__(self):
        about = self.about
        shown = []
        for a in about.arguments:
            given = self.given[a.name]
            if not (a.has_default and given == a.default):
                shown.append(f"{a.name}={given!r}" if a.keyword_only else repr(given))
        overload = f".{about.overload}" if about.overload else ""
        return f"{self.results!r} = {about.name.removeprefix('aten::')}{overload}({', '.join(shown)})"


class Tracer:
    """Records what a program calls in ``with tracer.on():``; ``str(tracer)`` is a line for each call.

    Args:
        inputs: names of tensors, such as parameters. Another tensor that no recorded operator made is a constant, with
            the values that it had when it was first seen.

    >>> from contextlib import closing
    >>> x = lamella.tensor([1.0, 2.0])
    >>> with closing(Tracer(x=x)) as tracer:
    ...     with tracer.on():
    ...         y = (x + 1).exp_().sum()
    ...     print(tracer)
    ...     tracer.replay(x=lamella.tensor([-1.0, -1.0]))[tracer.name(y)]
    %0 = add.Scalar(x, 1)
    %0 = exp_(%0)
    %1 = sum(%0)
    tensor(2.)
    """

    def __init__(self, **inputs):
        self.nodes = []
        self.inputs = dict(inputs)
        self.constants = {}
        self._named = {}  # by id: a tensor, which is kept alive, so that the id stays its own, and its name
        self._count = 0
        for name, t in inputs.items():
            self._named[id(t)] = t, name
        self.library = Library("tenants_tracer", "FRAGMENT")
        self.layer = self.library.register_layer("tenants_tracer", self._see, at="backend", never_on_tensors=True)

    def on(self):
        return self.layer.on()

    def close(self):
        self.library.close()

    def __str__(self):
        return "\n".join(map(repr, self.nodes))

    def name(self, tensor):
        """Returns the name of a tensor that was an input, an argument or a result of a recorded operator.

        Raises:
            KeyError: the tensor was none of these
        """
        known = self._known(tensor)
        if known is None:
            raise KeyError(f"tracer: no recorded operator made this tensor of shape {tuple(tensor.shape)}")
        return known

    def _known(self, tensor):
        if id(tensor) in self._named:
            return self._named[id(tensor)][1]
        if tensor.is_opaque:
            return None
        same = (
            n for t, n in self._named.values() if not t.is_opaque and t.dtype is tensor.dtype and t.is_set_to(tensor)
        )
        return next(same, None)

    def _argument(self, value):
        if not isinstance(value, lamella.Tensor):
            return value
        known = self._known(value)
        if known is None:
            known = f"c{len(self.constants)}"
            with lamella.no_grad(), self.layer.off():
                self.constants[known] = value.detach().clone()
        self._named.setdefault(id(value), (value, known))
        return Value(known)

    def _result(self, value):
        if not isinstance(value, lamella.Tensor):
            return value
        if id(value) not in self._named:
            self._named[id(value)] = value, f"%{self._count}"
            self._count += 1
        return Value(self._named[id(value)][1])

    def _see(self, call, *args, **kwargs):
        about = describe(call)
        given = {name: over(self._argument, value) for name, value in about.bind(args, kwargs).items()}
        result = call(*args, **kwargs)
        self.nodes.append(Node(about, given, over(self._result, result)))
        return result

    def replay(self, **inputs):
        """Runs the recorded calls on other inputs, or on those of the program; returns all values by their names.

        Calls that write to an input write to the one that is given.
        """
        values = {name: t.clone() for name, t in self.constants.items()} | self.inputs | inputs
        look_up = lambda v: values[v.name] if isinstance(v, Value) else v  # noqa: E731

        def keep(named, made):
            if isinstance(named, Value):
                values[named.name] = made
            elif isinstance(named, list | tuple):
                for n, m in zip(named, made, strict=True):
                    keep(n, m)

        with lamella.no_grad():
            for node in self.nodes:
                keep(node.results, run(node.about, {n: over(look_up, v) for n, v in node.given.items()}))
        return values
